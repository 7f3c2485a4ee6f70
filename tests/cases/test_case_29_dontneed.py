"""MADV_DONTNEED and MADV_FREE, as allocators use them.

Guard: format/space_calls.c makes the pages of MADV_DONTNEED absent: without it old contents are shown as present.
"""

import os

from cases import WorldCase, main, program
from vmvis import number, parse_lines

ROUNDS = 100000 if os.environ.get("VMVIS_LONG") else 1500


class DontNeed(WorldCase):
    def test_old_contents_are_gone(self):
        for source, options in self.each_source():
            recording = self.record([program("case_29_dontneed"), ROUNDS], *options, "-i", "10", "--budget", "none",
                                    timeout=200)
            rounds, end = parse_lines(recording.result.out, "case_29_dontneed")
            self.assertEqual((rounds["zero"], rounds["kept"]), (ROUNDS, ROUNDS))
            self.assert_clean(recording)
            advice = [e for e in recording.events("madvise") if e["ret"] == 0 or e["ret"] is None]
            self.assertEqual(len(advice), ROUNDS + 2)
            pages = recording.ask("pages", f"{end['gone']},16384", "--at", "end")
            self.assertEqual({p["state"] for p in pages}, {"absent"})
            first = recording.read(end["again"], 1, "--at", "end")
            self.assertEqual(first["hex"], "62", first)


if __name__ == "__main__":
    main()
