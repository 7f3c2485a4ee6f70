"""fork: the child has neither registration nor protection, and writes the same pages as its parent.

Guard: recorder/tree.c tree_first_stop watches the pages of a child anew: without it its writes are not seen.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import parse_lines


class Fork(WorldCase):
    def test_each_has_its_own(self):
        for source, options in self.each_source():
            recording = self.record([program("case_48_fork")], *options, *BUSY, timeout=60)
            self.assert_clean(recording)
            said = parse_lines(recording.result.out, "case_48_fork")
            self.assertEqual(sorted(s["what"] for s in said), ["child", "grandchild", "parent"])
            for truth in said:
                exits = [e for e in recording.events("exit", pid=truth["pid"]) if e["pid"] == truth["pid"]]
                self.assertEqual(len(exits), 1)
                got = recording.read(truth["addr"], 4, "--pid", truth["pid"], "--at", f"{exits[0]['t'] - 1}ns")
                self.assertEqual(got["hex"], f"{truth['value']:02x}" * 4, (source, truth))
                old = recording.read(hex(int(truth["addr"], 16) + 3 * 4096), 1, "--pid", truth["pid"], "--at",
                                     f"{exits[0]['t'] - 1}ns")
                self.assertEqual(old["hex"], "01", (source, truth))


if __name__ == "__main__":
    main()
