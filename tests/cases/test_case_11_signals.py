"""Signals of every number, sent in every way: none swallowed, none invented, siginfo and order kept.

Guard: recorder/stop.c stop_classify, which tells the kernel's own SIGTRAP from the program's: with every SIGTRAP taken
for a stop of ours the breakpoints went unseen, and the program's own single steps. recorder/inject.c inject_syscall,
which blocks signals meanwhile: without that processes waited in vain for signals that came at their birth.
recorder/mend.c mend_wait: without it waitpid gave EINTR when its child ended while a frame held the thread.
"""

import shutil
import tempfile
import unittest
from pathlib import Path

from cases import BUSY, WorldCase, main, program


class Signals(WorldCase):
    def test_every_signal(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_11_signals")], *options, *BUSY, timeout=60)
                self.assertIn("each time", recording.alone.out)
                queued = recording.alone.out.splitlines()[0]
                self.assertTrue(queued.startswith("queued: 60"), queued)
                seen = [event for event in recording.events("signal") if event["code"] == -1]  # SI_QUEUE
                self.assertEqual(sum(event["number"] == 34 for event in seen), 1 + 20)

    def test_every_origin(self):
        """At birth and over exec, by the kernel, by timers and input, of children; steps of the program's own."""
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_11_kinds")], *options, *BUSY, timeout=60)
                self.assertIn("processes born under signals: 30 of 30", recording.alone.out)
                self.assertIn("threads born under signals: 30 of 30", recording.alone.out)
                self.assertIn("execs under signals: 20 of 20", recording.alone.out)

    def test_make(self):
        if not shutil.which("make"):
            raise unittest.SkipTest("make is not installed")
        with tempfile.TemporaryDirectory() as folder:
            rules = "".join(f"t{n}:\n\t@test {n} -ge 0 && echo {n} > t{n}\n" for n in range(40))
            Path(folder, "Makefile").write_text("all: " + " ".join(f"t{n}" for n in range(40)) + "\n" + rules)
            recording = self.record(["make", "-s", "-j8", "-C", folder], "-q", *BUSY, timeout=60)
            self.assertEqual((recording.result.out, recording.result.err), ("", ""))
            self.assertEqual({int(Path(folder, f"t{n}").read_text()) for n in range(40)}, set(range(40)))


if __name__ == "__main__":
    main()
