"""A child's first stop can come before its parent's event.

Guard: recorder/loop.c dispatch keeps the unknown thread as NEWBORN until its parent tells of it: where it is resumed at
once instead, children run unwatched or stay stopped, and the run hangs.
"""

import os

from cases import WorldCase, main, program


class Newborn(WorldCase):
    def test_eight_threads_that_fork(self):
        rounds = 1000 if os.environ.get("VMVIS_LONG") else 40
        for source, options in self.each_source():
            recording = self.compare([program("case_02_newborn"), rounds], *options, timeout=600, clean=False)
            self.assert_clean(recording)
            self.assertEqual(recording.info["processes"], 1 + 8 * rounds)
            forks = recording.events("fork")
            self.assertEqual(len({e["child"] for e in forks}), 8 * rounds)
            for fork in forks[::rounds]:
                child = [e for e in recording.events(pid=fork["child"]) if e["pid"] == fork["child"]]
                self.assertGreater(min(e["seq"] for e in child), fork["seq"], "nothing of a child before its fork")
                self.assertEqual([e["len"] for e in child if e["type"] == "mmap"], [65536])
                self.assertEqual(child[-1]["type"], "exit")


if __name__ == "__main__":
    main()
