"""A flood of signals from a runtime's preemption or a profiler.

Guard: recorder/loop.c on_signal hands every signal on: where one is swallowed, the program waits for it for ever.
"""

from cases import WorldCase, main, program


class Flood(WorldCase):
    def test_all_arrive(self):
        recording = self.compare([program("case_23_flood")], timeout=60)
        self.assertLess(recording.result.seconds, 10 * recording.alone.seconds + 3)
        urgent = [e for e in recording.events("signal") if e["number"] == 23]
        self.assertGreaterEqual(len(urgent), 1)
        self.assertFalse(any(e["fatal"] for e in urgent))
        self.assertFalse([f for f in recording.ask("frames") if f["why"] == "signal"])


if __name__ == "__main__":
    main()
