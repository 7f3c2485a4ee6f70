"""The helpers of the tests themselves: parsing and comparing mappings, running programs with a limit."""

import sys
import time
import unittest

import procmaps
import vmvis


class Maps(unittest.TestCase):
    def test_own_mappings_parse(self):
        with open("/proc/self/maps") as file:
            text = file.read()
        mappings = procmaps.parse(text)
        self.assertIn("[stack]", [m.name for m in mappings])
        self.assertNotIn("[vsyscall]", [m.name for m in mappings])
        self.assertLessEqual(len(mappings), len(text.splitlines()))

    def test_neighbours_join_only_if_they_continue_each_other(self):
        text = ("1000-2000 rw-p 00000000 00:00 0 \n2000-3000 rw-p 00000000 00:00 0 \n"
                "3000-4000 rw-p 00000000 00:00 0     [heap]\n"
                "5000-6000 r--p 00001000 fe:00 7     /a b\n6000-7000 r--p 00002000 fe:00 7     /a b\n"
                "7000-8000 r--p 00002000 fe:00 7     /a b\n")
        joined = [(m.start, m.end) for m in procmaps.parse(text)]
        self.assertEqual(joined, [(0x1000, 0x3000), (0x3000, 0x4000), (0x5000, 0x7000), (0x7000, 0x8000)])

    def test_differences_name_both_sides(self):
        left = procmaps.parse("1000-2000 rw-p 00000000 00:00 0 \n")
        right = procmaps.parse("1000-3000 rw-p 00000000 00:00 0 \n")
        self.assertEqual(procmaps.differences(left, left), [])
        self.assertEqual(len(procmaps.differences(left, right)), 2)

    def test_json_and_text_agree(self):
        line = "5000-6000 r--s 00001000 fe:01 7     /lib/x"
        parsed = procmaps.parse(line)
        shown = dict(start="0x5000", end="0x6000", prot="r--s", offset=0x1000, dev="fe:01", inode=7, name="/lib/x")
        self.assertEqual(procmaps.from_trace([shown]), parsed)

    def test_watcher_finds_quiet_moments_below_a_process(self):
        watcher = procmaps.Watcher()
        vmvis.run(["sh", "-c", "sleep 0.3; true"], watch=watcher)
        moments = watcher.finish()
        self.assertGreaterEqual(len(moments), 1)
        self.assertIn("[stack]", moments[0].text)


class Running(unittest.TestCase):
    def test_a_program_that_hangs_is_killed_with_its_children(self):
        start = time.monotonic()
        with self.assertRaises(vmvis.Overtime):
            vmvis.run(["sh", "-c", "sleep 60 & echo $!; sleep 60"], timeout=0.5)
        self.assertLess(time.monotonic() - start, 5)

    def test_nothing_stays_behind(self):
        result = vmvis.run(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"])
        time.sleep(0.05)
        try:
            with open(f"/proc/{int(result.out)}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            state = "gone"
        self.assertIn(state, ("gone", "Z"))

    def test_status_and_output(self):
        result = vmvis.run([sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.exit(3)"], stdin=b"hello")
        self.assertEqual((result.status, result.out), (3, "hello\n"))
        self.assertEqual(vmvis.run(["sh", "-c", "kill -9 $$"]).status, -9)


if __name__ == "__main__":
    unittest.main(verbosity=2)
