"""--watch: each write to a few bytes, with its value before and after, its thread and place, and no write missing."""

import os
import re
import subprocess
import unittest

from cases import program
from vmvis import RECORD, Case, Recording, main, number, run


def lacks_breakpoints():
    result = run([RECORD, "-q", "-o", "/dev/null", "--watch", "counter", "--", program("case_watch")])
    return result.err if result.status == 125 else None


class Watch(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        reason = lacks_breakpoints()
        if reason:
            raise unittest.SkipTest(reason)

    def watched(self, *options, **how):
        recording = self.record([program("case_watch")], "-q", *options, **how)
        self.assert_clean(recording)
        self.assertEqual(recording.info["gaps"], [])
        truth = dict(re.findall(r"(\w+)=(\w+)", recording.result.out))
        return recording, truth

    def values(self, events, name="after"):
        return [int.from_bytes(bytes.fromhex(event[name]), "little") for event in events]

    def need_values(self):
        if os.getuid() != 0:
            self.skipTest("values need BPF, which needs root")

    def test_every_write(self):
        self.need_values()
        recording, truth = self.watched("--watch", "counter")
        pid = recording.info["pid"]
        writes = [e for e in recording.events("watch", pid=pid)]
        adds = int(truth["adds"])
        self.assertEqual(len(writes), 5 + 2 * adds + 1)
        self.assertEqual({(e["addr"], e["len"]) for e in writes}, {(truth["counter"], 8)})
        self.assertEqual(self.values(writes)[:5], [0, 100, 200, 300, 400])
        self.assertEqual(self.values(writes)[-1], 5)
        final = 400 + 2 * adds
        added = self.values(writes)[5:-1]
        self.assertEqual(max(added), final)
        self.assertEqual(len({e["tid"] for e in writes}), 3)
        alone = [e for e in writes if e["tid"] == pid]
        self.assertEqual(self.values(alone), [0, 100, 200, 300, 400, 5])
        self.assertEqual(self.values(alone[1:], "before"), [0, 100, 200, 300, final])
        child = int(truth["child"])
        self.assertEqual([(self.values([e]), self.values([e], "before")) for e in recording.events("watch", pid=child)],
                         [([77], [final])])

    def test_places(self):
        """The instruction before the place is the one that wrote: in store()."""
        recording, truth = self.watched("--watch", "counter")
        base = min(number(m["start"]) for m in recording.ask("maps", "--at", "end") if "case_watch" in (m["name"] or ""))
        table = subprocess.run(["nm", "-S", program("case_watch")], capture_output=True, text=True, check=True).stdout
        start, size = re.search(r"^(\w+) (\w+) t store", table, re.M).groups()
        for event in recording.events("watch", pid=recording.info["pid"])[:5]:
            self.assertTrue(0 < number(event["pc"]) - base - int(start, 16) <= int(size, 16), event)
            self.assertEqual(number(event["stack"][0]["pc"]), number(event["pc"]))

    def test_sizes_and_parts(self):
        recording, truth = self.watched("--watch", "small", "--watch", "bytes+5,1", "--watch", "sym:record+24,8")
        found = {}
        for event in recording.events("watch", pid=recording.info["pid"]):
            found.setdefault(event["addr"], []).append(event)
        self.assertEqual(set(found), {truth["small"], hex(number(truth["bytes"]) + 5), truth["field"]})
        self.assertEqual({event["len"] for event in found[truth["small"]]}, {4})
        if os.getuid() == 0:
            self.assertEqual(self.values(found[truth["small"]])[0], 9)
            self.assertEqual(self.values(found[truth["small"]])[-1], 0)  # the kernel's
            self.assertEqual(self.values(found[truth["field"]]), [0x1234])
            self.assertEqual(self.values(found[hex(number(truth["bytes"]) + 5)]), [0x55])

    def test_by_address(self):
        recording, truth = self.watched("--watch", "small")
        fixed = subprocess.run(["setarch", "-R", RECORD, "-q", "-o", "/dev/null", "--", program("case_watch")],
                               capture_output=True, text=True)
        address = re.search(r"small=(\w+)", fixed.stdout)[1]
        path = self.fresh()
        result = run(["setarch", "-R", RECORD, "-q", "-o", path, "--watch", f"{address},4", "--", program("case_watch")])
        self.assertGreater(len(Recording(path, result).events("watch")), 1)

    def test_library(self):
        """A variable of a library, which is mapped after the program began."""
        recording = self.record(["python3", "-c", "import os; os.environ['A_NAME'] = '1'; os.environ['B_NAME'] = '2'"],
                                "-q", "--watch", "__environ,8")
        self.assertGreater(len(recording.events("watch")), 0)

    def test_wrong(self):
        for text, words in (("counter,9", "8 bytes"), ("", "no name"), ("counter+x", "number"), ("0xzz", "no such")):
            result = run([RECORD, "-o", self.fresh(), "--watch", text, "--", "true"])
            self.assertEqual(result.status, 125)
            self.assert_one_line(result.err, "--watch", words)
        result = run([RECORD, "-o", self.fresh(), *["--watch", "counter"] * 5, "--", "true"])
        self.assert_one_line(result.err, "four")
        path = self.fresh()
        result = run([RECORD, "-o", path, "--watch", "no_such_name", "--", "true"])
        self.assertEqual(result.status, 0)
        self.assertIn("no_such_name", result.err.splitlines()[-1])

    def test_settings_are_told(self):
        recording, _ = self.watched("--watch", "counter", "--watch", "small")
        self.assertEqual(recording.info["settings"]["watch"], "counter small")


if __name__ == "__main__":
    main()
