"""Writes to .data and .bss, in private mappings of files.

Guard: recorder/track.c registers file mappings too (WP_ASYNC): without them writes to .data are seen only as a page that
may have changed.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import parse_lines


class Data(WorldCase):
    def test_each_round_is_seen(self):
        for source, options in self.each_source():
            recording = self.record([program("case_38_data")], *options, *BUSY, timeout=60)
            self.assert_clean(recording)
            rounds = parse_lines(recording.result.out, "case_38_data")
            for truth in rounds[:-1]:
                for key, byte in (("data", 1), ("small", 2), ("large", 3)):
                    after = recording.time(truth["t"]) + 40_000_000
                    following = recording.time(rounds[truth["round"]]["t"])
                    if after >= following:
                        continue
                    got = recording.read(truth[key], 8, "--at", f"{after}ns")
                    wanted = (truth["round"] * byte * 0x0101010101010101).to_bytes(8, "little").hex()
                    self.assertEqual(got["hex"], wanted, (source, key, truth))


if __name__ == "__main__":
    main()
