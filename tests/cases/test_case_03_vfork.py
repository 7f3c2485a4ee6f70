"""A parent in vfork cannot be stopped until its child lets go.

Guard: recorder/hold.c wants_interrupt leaves alone who waits in vfork (restarts_invisibly), or is about to (vfork_wait):
without it each frame while the child spins waits its whole patience of 50 ms.
"""

import os
import signal
import sys
import time

from cases import BUSY, WorldCase, main, program
from vmvis import RECORD, run


class Vfork(WorldCase):
    def test_all_sources(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_03_spawn")], *options, *BUSY, timeout=60)
            self.assertLess(recording.result.seconds, recording.alone.seconds * 5 + 3)
            fork = [e for e in recording.events("fork") if e["vfork"]][-1]
            made = [e for e in recording.events("mmap", pid=fork["child"]) if e["len"] == 12345]
            self.assertEqual([(e["pid"], e["space"]) for e in made], [(fork["child"], fork["space"])],
                             "a child of vfork maps in its parent's space")
            spinning = recording.ask("frames", "--from", f"{made[0]['t']}ns", "--to", f"{made[0]['t'] + 350_000_000}ns")
            self.assertGreater(len(spinning), 2)
            held = sorted(f["pause_ns"] for f in spinning)
            self.assertLess(held[len(held) // 2], 30_000_000)

    def test_interrupted_while_the_parent_waits(self):
        def ended(argv):
            def interrupt(pid):
                if not sent and time.monotonic() > start + 0.5:
                    os.killpg(pid, signal.SIGINT)
                    sent.append(True)
            sent, start = [], time.monotonic()
            return run(argv, timeout=20, watch=interrupt).status
        spawn = [sys.executable, "-S", "-c",
                 "import subprocess; subprocess.run(['/bin/sh', '-c', 'sleep 30; exit 1'])"]
        self.assertEqual(ended([RECORD, "-q", "-o", self.fresh(), "--", *spawn]), ended(spawn))


if __name__ == "__main__":
    main()
