"""mremap in all its forms.

Guard: recorder/memcall.c follow_tracking registers what was moved, at once; where it does not, memcall_follow_maps does
when the maps are read again. Without either writes to moved memory are not seen.
"""

import json
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

    def test_moved_memory_is_watched(self):
        for source, options in self.each_source():
            recording = self.record([program("case_28_mremap"), 1, "truth"], *options, *BUSY, timeout=60)
            truth = [json.loads(line) for line in recording.result.out.splitlines() if line.startswith("{")][0]
            pages = recording.ask("pages", f"{truth['addr']},{16 * 4096}", "--at", "end")
            self.assertGreaterEqual(pages[0]["written_at"], recording.time(truth["t"]))
            self.assertEqual(pages[0]["len"], 4096, "one page was written then")


if __name__ == "__main__":
    main()
