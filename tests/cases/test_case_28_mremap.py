"""mremap in all its forms.

Guard: recorder/memcall.c follow_tracking registers what was moved: without it writes to moved memory are not seen, and
two halves that differ only in registration cannot be moved together.
"""

import os

from cases import BUSY, WorldCase, main, program

MOST = 1024 if os.environ.get("VMVIS_LONG") else 16


class Mremap(WorldCase):
    def test_all_forms(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_28_mremap"), MOST], *options, *BUSY, timeout=200,
                                     env={"VMVIS_COMPARE": "1"})
            self.assertIn("joined again 1", recording.alone.out)
            moved = recording.events("mremap")
            self.assertGreaterEqual(len(moved), 8)


if __name__ == "__main__":
    main()
