"""exit_group amid memory calls of fifty threads, and SIGKILL from outside at any moment.

Guard: recorder/loop.c tracer_resume takes ESRCH for a thread that is gone, and tree_exit_stop lets every exit stop go
on: where an exit stop is not restarted, the recording hangs.
"""

import os
import random
import signal
import time

from cases import BUSY, WorldCase, main, program
import kernel
from vmvis import RECORD, Trace, run

ROUNDS = 500 if os.environ.get("VMVIS_LONG") else 15


class ExitRaces(WorldCase):
    def test_exit_group(self):
        path = self.fresh()
        for number in range(ROUNDS):
            source = ("records", "uffd", "frames")[number % 3]
            options = ["--faults", source] if not kernel.missing_for(source) else []
            busy = BUSY if number % 2 else []
            result = run([RECORD, "-q", "-o", path, *options, *busy, "--", program("case_09_exit"), number], timeout=60)
            self.assertEqual((result.status, result.err), (42, ""), f"round {number}: {result}")
        recording = self.record_to(path, [program("case_09_exit"), 1], status=42)
        self.assert_clean(recording)
        self.assertEqual(recording.info["exit"], {"code": 42})

    def test_killed_from_outside(self):
        chance = random.Random(5)
        for number in range(ROUNDS // 3 + 1):
            path, moment, killed = self.fresh(), time.monotonic() + chance.uniform(0.02, 0.3), []

            def kill(pid):
                if killed or time.monotonic() < moment:
                    return
                with open(f"/proc/{pid}/task/{pid}/children") as children:
                    for child in children.read().split():
                        os.kill(int(child), signal.SIGKILL)
                        killed.append(child)
            script = [program("case_02_newborn"), "100000"]
            result = run([RECORD, "-q", "-o", path, *BUSY, "--", *script], timeout=30, watch=kill)
            self.assertEqual(result.status, -signal.SIGKILL, result)
            info = Trace(path).info
            self.assertEqual((info["complete"], info["exit"]), (True, {"signal": signal.SIGKILL}))


if __name__ == "__main__":
    main()
