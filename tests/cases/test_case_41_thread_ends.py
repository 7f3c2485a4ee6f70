"""The kernel's own writes when a thread ends (clear_child_tid, robust futexes) fall on protected pages.

Guard: recorder/kernel.h: WP_ASYNC, where the kernel resolves its own writes. With synchronous write-protection
pthread_join waits for ever (measured, docs/DESIGN.md).
"""

import os

from cases import BUSY, WorldCase, main, program

COUNT = 1000 if os.environ.get("VMVIS_LONG") else 240


class ThreadEnds(WorldCase):
    def test_all_sources(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_41_exits"), COUNT], *options, *BUSY, timeout=60)
            self.assertEqual(recording.alone.out, f"joined {COUNT}, owners died 20\n")


if __name__ == "__main__":
    main()
