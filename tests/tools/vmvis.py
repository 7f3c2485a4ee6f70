"""Runs the built programs for the tests: with and without the recorder, with a limit on time and nothing left behind.

A sample prints what really happened as one JSON object a line (samples/truth.h); a Recording holds that truth beside
the trace. Times in the truth are CLOCK_MONOTONIC, times in a trace are ns since the recording began:
Recording.time() converts.
"""

import functools
import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import kernel

SOURCE = Path(os.environ.get("VMVIS_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("VMVIS_BUILD", SOURCE / "build"))
RECORD = BUILD / "bin" / "vmvis-record"
INSPECT = BUILD / "bin" / "vmvis-inspect"
REPLAY = BUILD / "bin" / "vmvis-replay"
MS = 1_000_000  # ns
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # some tests crash on purpose
POLL_SECONDS = 0.004


def sample(name):
    return str(BUILD / "samples" / name)


class Result:
    """What a finished program did. status is as subprocess has it: -N when signal N killed it."""

    def __init__(self, argv, pid, status, out, err, seconds):
        self.argv, self.pid, self.status, self.seconds = argv, pid, status, seconds
        self.out = out.decode(errors="replace")
        self.err = err.decode(errors="replace")
        self.raw_out = out

    def __str__(self):
        command = " ".join(str(a) for a in self.argv)
        return f"{command}\n  status {self.status}, {self.seconds:.1f} s\n  stdout: {self.out[-600:]!r}\n  stderr: {self.err[-600:]!r}"


class Overtime(AssertionError):
    pass


def _wait(process, deadline, watch):
    """Waits for the end without reaping, so that the process group keeps its number until it was ended too."""
    poll = select.poll()
    descriptor = os.pidfd_open(process.pid)
    poll.register(descriptor, select.POLLIN)
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if poll.poll(1000 * (min(left, POLL_SECONDS) if watch else left)):
                return True
            if watch:
                watch(process.pid)
    finally:
        os.close(descriptor)


def run(argv, timeout=30, stdin=b"", env=None, cwd=None, watch=None):
    """Runs argv in a session of its own. watch(pid) is called every few ms meanwhile. Whatever is left of the
    session's process group at the end is killed."""
    argv = [str(a) for a in argv]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(stdin)
        source.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(argv, stdin=source, stdout=out, stderr=err, cwd=cwd, start_new_session=True,
                                   env=None if env is None else {**os.environ, **env})
        in_time = False
        try:
            in_time = _wait(process, start + timeout, watch)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        result = Result(argv, process.pid, process.returncode, out.read(), err.read(), seconds)
    if not in_time:
        raise Overtime(f"not done after {timeout} s: {result}")
    return result


def parse_lines(text, where):
    """JSON objects, one a line."""
    objects = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            objects.append(json.loads(line))
        except ValueError as error:
            raise AssertionError(f"{where}, line {number} is not JSON ({error}): {line[:200]!r}") from None
    return objects


def number(value):
    """An int from what JSON holds: an int, or an address as "0x…"."""
    return int(value, 16) if isinstance(value, str) else value


class Trace:
    """A trace file, asked through vmvis-inspect."""

    def __init__(self, path):
        self.path = Path(path)

    def run(self, command, *options, timeout=30, stdin=b""):
        return run([INSPECT, command, self.path, *options], timeout=timeout, stdin=stdin)

    def ask(self, command, *options, places=()):
        """The objects that a command prints; it must succeed. `places` are read from standard input."""
        if places := list(places):
            options = (*options, "-")
        result = self.run(command, "--json", *options, stdin="\n".join(map(str, places)).encode())
        if result.status != 0:
            raise AssertionError(f"vmvis-inspect failed: {result}")
        return parse_lines(result.out, f"vmvis-inspect {command}")

    def one(self, command, *options):
        objects = self.ask(command, *options)
        if len(objects) != 1:
            raise AssertionError(f"vmvis-inspect {command} {options}: {len(objects)} objects instead of one")
        return objects[0]

    @functools.cached_property
    def info(self):
        return self.one("info")

    def events(self, *types, pid=None):
        options = [] if pid is None else ["--pid", pid]
        found = self.ask("events", *options)
        return [e for e in found if not types or e["type"] in types]

    def time(self, monotonic_ns):
        """Trace time of a CLOCK_MONOTONIC time."""
        return monotonic_ns - self.info["start_monotonic_ns"]

    def at(self, monotonic_ns):
        """The same as an argument of --at."""
        return f"{self.time(monotonic_ns)}ns"

    def read(self, address, length, *options):
        return self.one("read", f"{address},{length}", *options)


class Recording(Trace):
    """A trace with the result of the recorder and what the program said."""

    def __init__(self, path, result):
        super().__init__(path)
        self.result = result

    @functools.cached_property
    def lines(self):
        return parse_lines(self.result.out, "the sample's output")

    def truth(self, *whats):
        return [line for line in self.lines if line["what"] in whats]


class Case(unittest.TestCase):
    """A test with a folder of its own that is gone afterwards."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="vmvis-test-")
        cls.folder = Path(cls._folder.name)
        cls._count = 0

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    @classmethod
    def fresh(cls, name="t.vmv"):
        """A path that nobody has used."""
        cls._count += 1
        folder = cls.folder / str(cls._count)
        folder.mkdir()
        return folder / name

    @classmethod
    def record_to(cls, path, program, *options, status=0, timeout=30, **how):
        """Records program (a list) into path and checks the exit status (None: any)."""
        result = run([RECORD, "-o", path, *options, "--", *program], timeout=timeout, **how)
        if status is not None and result.status != status:
            raise AssertionError(f"status {status} expected: {result}")
        if not path.exists():
            raise AssertionError(f"no trace was written: {result}")
        return Recording(path, result)

    @classmethod
    def record(cls, program, *options, **how):
        return cls.record_to(cls.fresh(), program, *options, **how)

    def need_faults(self, mode):
        """Skips where this kernel lacks what --faults=MODE needs."""
        reason = kernel.missing_for(mode)
        if reason:
            self.skipTest(f"--faults={mode}: {reason}")

    def assert_clean(self, trace):
        verdict = trace.one("verify")
        self.assertTrue(verdict["ok"], f"verify of {trace.path.name}: {verdict['errors'][:5]}")
        self.assertTrue(verdict["complete"], "the trace is not complete")

    def assert_one_line(self, text, *words):
        """One line on standard error that holds all the words."""
        lines = text.splitlines()
        self.assertEqual(len(lines), 1, f"one line expected: {text!r}")
        for word in words:
            self.assertIn(str(word), lines[0])


def main():
    for program in (RECORD, INSPECT):
        if not program.exists():
            raise SystemExit(f"{program} is missing: build first, and set VMVIS_BUILD to the build folder")
    unittest.main(verbosity=2)
