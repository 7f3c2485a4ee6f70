"""A null-pointer write while three other threads work: the last moment of the trace holds the signal with its address,
every thread's registers, and the bytes of every stack."""

import signal

from vmvis import MS, Case, main, number, sample


class Crash(Case):
    mode = "auto"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.record([sample("null_crash")], "--faults", cls.mode, status=-signal.SIGSEGV)
        cls.threads = cls.recording.truth("thread")
        cls.crash = cls.recording.truth("crash")[0]

    def signal_event(self):
        events = [e for e in self.recording.events("signal") if e["fatal"]]
        self.assertEqual(len(events), 1, events)
        return events[0]

    def test_signal(self):
        event = self.signal_event()
        self.assertEqual((event["number"], event["tid"]), (signal.SIGSEGV, self.crash["tid"]))
        self.assertEqual(number(event["addr"]), number(self.crash["addr"]))
        self.assertGreaterEqual(event["t"], self.recording.time(self.crash["before"]))
        self.assertLess(event["t"], self.recording.time(self.crash["before"]) + 500 * MS)

    def test_exit(self):
        self.assertEqual(self.recording.info["exit"], {"signal": signal.SIGSEGV})
        exits = self.recording.events("exit")
        self.assertEqual([e["signal"] for e in exits if e["pid"] == exits[-1]["pid"]], [signal.SIGSEGV])

    def test_frame_at_the_signal(self):
        frames = [f for f in self.recording.ask("frames") if f["why"] == "signal"]
        self.assertEqual(len(frames), 1, frames)

    def moments(self):
        """The last moment, and the frame that was made at the signal."""
        frame = [f for f in self.recording.ask("frames") if f["why"] == "signal"][-1]
        return ("end", f"frame:{frame['n']}")

    def test_threads(self):
        for moment in self.moments():
            with self.subTest(at=moment):
                shown = self.recording.ask("threads", "--at", moment)
                self.assertEqual({t["tid"]: t["name"] for t in shown}, {t["tid"]: t["name"] for t in self.threads})

    def test_registers_of_every_thread(self):
        for moment in self.moments():
            with self.subTest(at=moment):
                shown = {t["tid"]: t for t in self.recording.ask("regs", "--at", moment)}
                self.assertEqual(set(shown), {t["tid"] for t in self.threads})
                for thread in self.threads:
                    self.check_registers(thread, shown[thread["tid"]])

    def check_registers(self, thread, shown):
        self.assertEqual(shown["certainty"], "exact", shown)
        self.assertEqual(number(shown["regs"][thread["register"]]), number(thread["held"]), shown)
        function = number(thread["function"])
        self.assertTrue(function <= number(shown["pc"]) < function + 256, f"{thread}: {shown}")
        canary = number(thread["canary"])
        self.assertTrue(canary - 65536 < number(shown["sp"]) <= canary, f"{thread}: {shown}")

    def test_one_thread_can_be_asked_for(self):
        thread = self.threads[1]
        shown = self.recording.one("regs", "--at", "end", "--tid", thread["tid"])
        self.check_registers(thread, shown)

    def test_stack_bytes_of_every_thread(self):
        for moment in self.moments():
            for thread in self.threads:
                with self.subTest(at=moment, thread=thread["name"]):
                    shown = self.recording.read(thread["canary"], len(thread["hex"]) // 2, "--at", moment)
                    self.assertEqual(shown["hex"], thread["hex"])
                    self.assertEqual(shown["certainty"], "exact")

    def test_clean(self):
        self.assert_clean(self.recording)


class CrashUnderFrames(Crash):
    mode = "frames"


class CrashUnderUserfaultfd(Crash):
    mode = "uffd"

    def setUp(self):
        self.need_faults("uffd")


if __name__ == "__main__":
    main()
