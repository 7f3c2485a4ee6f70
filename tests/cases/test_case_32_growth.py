"""Stacks and MAP_GROWSDOWN mappings grow without a call.

Guard: recorder/frame.c follow_growth reads where a mapping begins now: without it pages below the known start are
ignored.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import number, parse_lines


class Growth(WorldCase):
    def test_starts_follow(self):
        for source, options in self.each_source():
            recording = self.record([program("case_32_growth")], *options, *BUSY, timeout=60)
            self.assertEqual(recording.result.out.splitlines()[:2], ["deep 449 leap 1", "grown 100 same 1"])
            self.assert_clean(recording)
            truth = parse_lines(recording.result.out.splitlines()[2], "case_32_growth")[0]
            maps = recording.ask("maps", "--at", "end")
            for key in ("stack", "down"):
                at = number(truth[key])
                self.assertTrue([m for m in maps if number(m["start"]) <= at < number(m["end"])], (source, key))


if __name__ == "__main__":
    main()
