"""Already traced, nested, in a PID namespace: works or is refused with the cause.

Guard: recorder/record.c run_launched: with the error of PTRACE_SEIZE not looked at, another cause was named; with its
tracer not asked for, a container was blamed for what strace did.

Imitated: gVisor, WSL1 and proot, where PTRACE_SEIZE is missing, by a filter that refuses ptrace (test_case_53_refused).
"""

import os
import shutil
import subprocess

from cases import WorldCase, main, program
from vmvis import RECORD, Recording, run


class Hosts(WorldCase):
    def need(self, name):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")

    def test_under_strace(self):
        """strace -f follows the program first: the recorder cannot, and says so."""
        self.need("strace")
        path = self.fresh()
        result = run(["strace", "-f", "-o", "/dev/null", RECORD, "-q", "-o", path, "--", "echo", "hello"])
        self.assertEqual(result.status, 125, result)
        self.assertEqual(result.out, "")
        self.assert_one_line(result.err, "cannot trace", "(strace)", "without -f")
        self.assertFalse(path.exists())

    def test_under_strace_that_does_not_follow(self):
        self.need("strace")
        path = self.fresh()
        result = run(["strace", "-o", "/dev/null", RECORD, "-q", "-o", path, "--", "echo", "hello"])
        self.assertEqual((result.status, result.out), (0, "hello\n"))
        self.assert_clean(Recording(path, result))

    def test_nested(self):
        outer, inner = self.fresh("outer.vmv"), self.fresh("inner.vmv")
        result = run([RECORD, "-q", "-o", outer, "--", RECORD, "-q", "-o", inner, "--", "echo", "hello"])
        self.assertEqual(result.status, 125, result)
        self.assert_one_line(result.err, "cannot trace", "(vmvis-record)", "outside of it")
        self.assert_clean(Recording(outer, result))

    def test_nested_without_following(self):
        outer = self.fresh("outer.vmv")
        result = run([RECORD, "-q", "-o", outer, "--maps", "frames", "--", "sh", "-c", "echo hello; exit 4"])
        self.assertEqual((result.status, result.out), (4, "hello\n"))

    def test_under_gdb(self):
        self.need("gdb")
        path = self.fresh()
        result = run(["gdb", "-q", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run", "-ex", "quit", "--args",
                      RECORD, "-q", "-o", path, "--", "echo", "hello"], timeout=60)
        self.assertIn("hello", result.out)
        self.assert_clean(Recording(path, result))

    def unshare(self, *command):
        if os.getuid() != 0:
            self.skipTest("only root can make PID namespaces")
        self.need("unshare")
        return run(["unshare", "-pf", "--mount-proc", *command], timeout=60)

    def test_recorder_in_a_pid_namespace(self):
        path = self.fresh()
        result = self.unshare(RECORD, "-q", "-o", path, "-i", "5", "--", program("case_03_spawn"))
        self.assertEqual(result.status, run([program("case_03_spawn")]).status, result)
        recording = Recording(path, result)
        self.assert_clean(recording)
        self.assertLess(recording.info["pid"], 100)

    def test_program_makes_a_pid_namespace(self):
        if os.getuid() != 0:
            self.skipTest("only root can make PID namespaces")
        self.need("unshare")
        recording = self.compare(["unshare", "-pf", "--mount-proc", "sh", "-c", "echo $$; (echo child; exit 3); echo $?"])
        pids = {event["child"] for event in self.tree(recording) if event["type"] == "fork"}
        self.assertEqual(len(pids), 2)
        self.assertTrue(all(pid > 1 for pid in pids))

    def test_attach_across_namespaces(self):
        if os.getuid() != 0:
            self.skipTest("only root can make PID namespaces")
        self.need("unshare")
        outside = subprocess.Popen(["sleep", "60"])
        try:
            result = self.unshare(RECORD, "-q", "-o", self.fresh(), "-p", str(outside.pid))
            self.assertEqual(result.status, 125)
            self.assert_one_line(result.err, "no such process")
        finally:
            outside.kill()
            outside.wait()


if __name__ == "__main__":
    main()
