"""Faults, unmapping, moving and forking of the same pages at the same time; nobody reads events that block a thread.

Guard: recorder/fault_resolve.c ends every path in a wake, also after EEXIST, ENOENT and EAGAIN: without the wake threads
sleep in the fault for ever. Events of userfaultfd that block their cause are not asked for (recorder/track.c).
"""

import os

from cases import BUSY, WorldCase, main, program

MS = 8000 if os.environ.get("VMVIS_LONG") else 600


class Races(WorldCase):
    def test_all_sources(self):
        for source, options in self.each_source():
            threads, busy = (50, []) if MS > 1000 else (12, BUSY)
            recording = self.compare([program("case_47_races"), MS, threads], *options, *busy,
                                     timeout=MS // 1000 * 20 + 60)
            self.assertLess(recording.result.seconds, MS / 1000 * 10 + 20)

    def test_first_touch_is_one_event(self):
        """Two threads that fault on one page: the page was touched first once."""
        self.need_faults("uffd")
        recording = self.record([program("case_44_reads"), 20], "--faults", "uffd", timeout=60)
        unmapped, seen = 0, {}
        for event in recording.events("mmap", "munmap", "fault"):
            if event["type"] == "fault" and event["kind"] == "first-touch":
                page = int(event["addr"], 16) // 4096
                self.assertNotIn(page, seen, event)
                seen[page] = event
            elif event["type"] == "munmap":
                start = int(event["addr"], 16) // 4096
                for page in range(start, start + event["len"] // 4096):
                    seen.pop(page, None)
                unmapped += 1
        self.assertGreater(unmapped, 300)


if __name__ == "__main__":
    main()
