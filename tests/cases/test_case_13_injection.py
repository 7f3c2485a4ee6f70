"""Calls injected at exec and after fork, under a rain of signals; static programs without libc; vsyscall.

Guard: recorder/inject.c PTRACE_SETSIGMASK: without blocking signals meanwhile, handlers ran on the registers of the
injected call, and the program died.
"""

import platform
import subprocess
import tempfile
from pathlib import Path

from cases import BUSY, WorldCase, main, program

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


if __name__ == "__main__":
    main()
