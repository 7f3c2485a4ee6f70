"""Calls injected at exec and after fork, under a rain of signals; static programs without libc; vsyscall.

Guard: recorder/inject.c PTRACE_SETSIGMASK: without blocking signals meanwhile, those that a new child was sent lost their
values, and came in another order. recorder/frame.c watch_due: without it the trace of a program that was attached to
while it stood at a signal had no pages.
"""

import platform
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from cases import BUSY, WorldCase, main, program
from vmvis import RECORD, Recording

STATIC = r"""
static long call(long n, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
void _start(void) {
    long good = 0;
    for (long i = 0; i < 1000; i++) {
        char *map = (char *)call(9, 0, 8192, 3, 0x22, -1, 0);
        map[0] = 1;
        good += call(11, (long)map, 8192, 0, 0, 0, 0) == 0;
    }
    call(1, 1, (long)(good == 1000 ? "all good\n" : "not good\n"), 9, 0, 0, 0);
    call(231, 6, 0, 0, 0, 0, 0);
}
"""


class Injection(WorldCase):
    def test_signals_and_exec(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_13_injection"), 20], *options, *BUSY, timeout=60)
                self.assertEqual(recording.alone.out, "done, SIGALRM blocked, SIGUSR1 free\n")
                self.assertEqual(len(recording.events("exec")), 21)

    def test_static_program(self):
        if platform.machine() != "x86_64":
            self.skipTest("written for x86-64")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "static")
            for pie in (["-static", "-no-pie"], ["-static-pie", "-fPIE"]):
                built = subprocess.run(["gcc", *pie, "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-O1",
                                        "-x", "c", "-", "-o", path], input=STATIC, text=True, capture_output=True)
                self.assertEqual(built.returncode, 0, built.stderr)
                for source, options in self.each_source():
                    with self.subTest(source=source, pie=pie):
                        recording = self.compare([path], *options, *BUSY)
                        self.assertEqual((recording.result.out, recording.result.status), ("all good\n", 6))
                        self.assertEqual(len(recording.events("munmap")), 1000)

    def test_attached_under_signals(self):
        """It stands at a signal most of the time."""
        for _ in range(6):
            path = self.fresh()
            target = subprocess.Popen([program("case_14_attached"), "signals"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
            try:
                self.assertEqual(target.stdout.readline(), b"ready\n")
                recorder = subprocess.Popen([RECORD, "-q", "-o", path, *BUSY, "-p", str(target.pid)])
                try:
                    time.sleep(0.25)
                    recorder.send_signal(signal.SIGINT)
                    self.assertEqual(recorder.wait(20), 0)
                finally:
                    recorder.kill()
                    recorder.wait()
                self.assertEqual((target.communicate(timeout=20)[0], target.returncode), (b"all good\n", 4))
            finally:
                target.kill()
                target.communicate()
            recording = Recording(path, None)
            self.assert_clean(recording)
            self.assertGreater(recording.info["pages_captured"], 20)


if __name__ == "__main__":
    main()
