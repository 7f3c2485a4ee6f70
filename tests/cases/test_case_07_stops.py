"""Group-stops: SIGSTOP, SIGTSTP and their like to processes of several threads, and SIGCONT.

Guard: recorder/loop.c on_group_stop, which lets the threads listen: with PTRACE_CONT instead they ran on.
"""

import os

from cases import BUSY, WorldCase, main, program

ROUNDS = 500 if os.environ.get("VMVIS_LONG") else 50


class Stops(WorldCase):
    def test_all_ways(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_07_stops"), ROUNDS], *options, *BUSY, timeout=60)
                self.assertNotIn("RAN", recording.alone.out)
                self.assertNotIn("ACTED", recording.alone.out)
                self.assertEqual(recording.alone.out.count("all stood"), 4)

    def test_states_of_threads(self):
        recording = self.compare([program("case_07_stops"), ROUNDS], *BUSY)
        states = {thread["state"] for frame in range(0, recording.info["frames"], 5)
                  for thread in recording.ask("threads", "--at", f"frame:{frame}")}
        self.assertLessEqual(states, {"running", "sleeping", "stopped", "gone"})


if __name__ == "__main__":
    main()
