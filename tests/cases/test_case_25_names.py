"""Names of mappings that break parsers: blanks, newlines, deleted files, files that are called so, very long paths.

Guard: recorder/procmaps.c takes everything behind the inode as the name: where the name ends at the first blank, "a b"
is wrong. Of kernels without PROCMAP_QUERY the newline comes as \\012: tests/recorder/test_procmaps.c.
"""

import sys

from cases import WorldCase, main
from vmvis import SOURCE, number


class Names(WorldCase):
    def test_exact_names(self):
        folder = self.fresh("x").parent
        argv = [sys.executable, "-S", SOURCE / "tests/cases/case_25_names.py", folder]
        recording = self.record(argv, "-q", timeout=60)
        found = {number(m["start"]): m for m in recording.ask("maps", "--at", "end")}
        named = recording.truth("named")
        self.assertGreaterEqual(len(named), 12)
        for truth in named:
            with self.subTest(name=truth["name"][-40:]):
                at = [m for m in found.values() if number(m["start"]) <= number(truth["addr"]) < number(m["end"])]
                self.assertEqual(len(at), 1)
                wanted = {truth["name"]} if not truth["deleted"] else {truth["name"], truth["name"] + " (deleted)"}
                self.assertIn(at[0]["name"], wanted)
        self.assert_clean(recording)
        text = recording.run("maps").out
        self.assertTrue(all(len(line.split()) >= 2 for line in text.splitlines() if line.strip()), "one line a mapping")


if __name__ == "__main__":
    main()
