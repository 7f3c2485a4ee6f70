"""The samples alone, without a recorder: they end as they should, and what they say is well-formed and true."""

import unittest

import procmaps
from samples import SAMPLES, command, status
from vmvis import MS, SOURCE, number, parse_lines, run, sample


def output(name, *more):
    result = run(command(name, *more))
    if result.status != status(name):
        raise AssertionError(f"status {status(name)} expected: {result}")
    return parse_lines(result.out, name)


class Alone(unittest.TestCase):
    def test_every_sample_is_known_here(self):
        self.assertEqual(sorted(SAMPLES), sorted(path.stem for path in (SOURCE / "samples").glob("*.c")))

    def test_five_moments_each(self):
        for name in SAMPLES:
            with self.subTest(sample=name):
                lines = output(name, "--checkpoints", "5")
                first = lines[0]["pid"]
                moments = [line for line in lines if line["what"] == "maps"]
                self.assertEqual(len([m for m in moments if m["pid"] == first]), 5)
                for moment in moments:
                    self.assertLess(moment["after"] - moment["before"], 60 * MS)
                    self.assertIn("[stack]", [m.name for m in procmaps.parse(moment["text"])])

    def test_times_rise_within_a_thread(self):
        for name in ("mmap_churn", "heap_growth", "mremap_move"):
            latest = {}
            for line in output(name):
                if "before" not in line or "tid" not in line:
                    continue
                self.assertLessEqual(line["before"], line["after"])
                self.assertGreaterEqual(line["before"], latest.get(line["tid"], 0))
                latest[line["tid"]] = line["after"]

    def test_a_page_is_touched_first_only_once(self):
        lines = output("heap_growth")
        touched = [number(line["addr"]) for line in lines if line["what"] == "first_touch"]
        self.assertGreater(len(touched), 1000)
        self.assertEqual(len(touched), len({address // 4096 for address in touched}))
        self.assertEqual(len({line["tid"] for line in lines if line["what"] == "first_touch"}), 2)

    def test_results_do_not_vary(self):
        sums = [[line["sum"] for line in output("threads") if line["what"] == "result"] for _ in range(2)]
        self.assertEqual(sums[0], sums[1])

    def test_marks_are_harmless(self):
        result = run([sample("variable"), "--changes", "1"])
        self.assertEqual((result.status, result.err), (0, ""), result)

    def test_wrong_options_are_refused(self):
        for arguments in (["--nonsense"], ["--pages"], ["--pages", "x"]):
            result = run([sample("heap_growth"), *arguments])
            self.assertEqual(result.status, 2, result)
            self.assertEqual(len(result.err.splitlines()), 1, result)


if __name__ == "__main__":
    unittest.main(verbosity=2)
