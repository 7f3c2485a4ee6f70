"""CPython's own tests under the recorder: the same result as without. Runs with VMVIS_LONG=1 only."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from vmvis import RECORD, Case, Recording, main, run

TESTS = ["test_mmap", "test_signal", "test_subprocess", "test_threading", "test_fork1", "test_multiprocessing_fork",
         "test_faulthandler", "test_posix", "test_io"]
PYTHONS = ["/usr/bin/python3", sys.executable]


def find_python():
    for python in PYTHONS:
        probe = subprocess.run([python, "-c", "import test.test_mmap, test.test_signal"], capture_output=True)
        if probe.returncode == 0:
            return python
    return None


def outcomes(text):
    """Test -> its outcome, from the lines of unittest -v that are whole; a line of the test's documentation may follow
    its name, and some tests print in between."""
    name, ends = r"^(test\w+ \([\w.]+\))", "(ok|FAIL|ERROR|skipped|expected failure)"
    return dict(re.findall(rf"{name}(?:\n(?!test).*?|.*?)\.\.\. {ends}", text, re.M))


@unittest.skipUnless(os.environ.get("VMVIS_LONG"), "VMVIS_LONG is not set")
class CPython(Case):
    def one(self, name):
        python = find_python()
        if not python:
            self.skipTest("no python3 here has its test suite: install libpython3-testsuite")
        command = [python, "-m", "test", "-v", "--timeout", "600", name]
        with tempfile.TemporaryDirectory() as folder:
            alone = run(command, timeout=1200, cwd=folder)
        path = self.fresh()
        with tempfile.TemporaryDirectory() as folder:
            recorded = run([RECORD, "-q", "-o", path, "--max-size", "2G", "--", *command], timeout=2400, cwd=folder)
        before, after = self.verdicts(alone), self.verdicts(recorded)
        self.assertGreater(len(before), 2, alone)
        changed = {test: (outcome, after.get(test)) for test, outcome in before.items() if after.get(test) != outcome}
        self.assertEqual(changed, {}, recorded.out[-3000:] + recorded.err[-1000:])
        self.assertEqual(recorded.status, alone.status, recorded.out[-3000:] + recorded.err[-1000:])
        self.assert_clean(Recording(path, recorded))
        path.unlink()

    @staticmethod
    def verdicts(result):
        return outcomes(result.out + result.err)


def add(name):
    def method(self):
        self.one(name)
    setattr(CPython, name, method)


for each in TESTS:
    add(each)

if __name__ == "__main__":
    main()
