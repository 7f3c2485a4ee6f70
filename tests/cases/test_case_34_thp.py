"""Transparent huge pages stay huge; text moved to anonymous memory still runs.

Guard: recorder/track_scan.c scan_written excludes HUGE: without it all huge pages are split at the first frame.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import run


class HugePages(WorldCase):
    def test_all_sources(self):
        if "huge 0" in run([program("case_34_thp")]).out:
            self.skipTest("this kernel gives no huge pages")
        for source, options in self.each_source():
            if source == "uffd":
                continue  # serves each first touch by pages of 4 KiB: below
            self.compare([program("case_34_thp")], *options, *BUSY, timeout=60)

    def test_uffd_computes_the_same(self):
        self.need_faults("uffd")
        recording = self.record([program("case_34_thp")], "--faults", "uffd", *BUSY, timeout=60)
        self.assertIn("same 1", recording.result.out)
        self.assertIn("moved 1 answer 41", recording.result.out)


if __name__ == "__main__":
    main()
