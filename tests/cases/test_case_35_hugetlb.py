"""Memory from the pool of huge pages, and its end.

Guard: recorder/track.c aligns what it does with hugetlb memory to its page size: with 4096 the ioctls fail, and the
program's SIGBUS comes earlier or later.
"""

import os
import unittest

from cases import BUSY, WorldCase, main, program

POOL = "/proc/sys/vm/nr_hugepages"


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists(POOL), "only root may make a pool of huge pages")
class HugeTlb(WorldCase):
    def setUp(self):
        with open(POOL) as pool:
            before = pool.read()
        self.addCleanup(self.set_pool, before)
        self.set_pool("4")
        with open(POOL) as pool:
            if int(pool.read()) < 4:
                self.skipTest("no memory for four huge pages")

    @staticmethod
    def set_pool(text):
        with open(POOL, "w") as pool:
            pool.write(text)

    def test_all_sources(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_35_hugetlb"), 4], *options, *BUSY, timeout=60)
            self.assertIn("touched 4 signal 7 same 1", recording.alone.out)


if __name__ == "__main__":
    main()
