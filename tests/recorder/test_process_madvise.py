"""process_madvise is recorded as madvise, of the process that it is about, one event a range."""

import re

from cases import program
from vmvis import Case, main, number


class ProcessMadvise(Case):
    def test_self_and_child(self):
        recording = self.record([program("case_process_madvise")], "-q")
        self.assert_clean(recording)
        found = re.findall(r"^(\w+) (\d+) (0x\w+) (-?\d+)$", recording.result.out, re.M)
        self.assertEqual([who for who, *_ in found], ["self", "child"])
        for who, pid, addr, done in found:
            advice = [(number(e["addr"]) - number(addr), e["len"], e["advice"], e["ret"])
                      for e in recording.events("madvise", pid=recording.info["pid"]) if e["advice"] == 20]
            space = {e["space"] for e in recording.events("madvise", pid=recording.info["pid"]) if e["advice"] == 20}
            if int(done) < 0:
                self.assertEqual(advice, [])
                continue
            self.assertEqual(int(done), 24576)
            self.assertEqual(advice, [(0, 8192, 20, 0), (32768, 16384, 20, 0)] * 2)
            self.assertEqual(len(space), 2)


if __name__ == "__main__":
    main()
