"""Calls by other conventions: int 0x80 and x32 in a 64-bit program, a 32-bit program, exec from 64 to 32 bits and back.

Guard: recorder/filter.c FOREIGN_CALLS: without them the mappings that nothing touched were missing from the trace,
and strict mode was refused to a 32-bit program. recorder/transfer.c arch_is_foreign_call: without it getpid by int 0x80
was taken for a writev cut short, and gone on with as the program's exit.
"""

import platform
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from cases import BUSY, WorldCase, main, program
from vmvis import number, run

# A 32-bit program of its own calls alone: maps, protects, writes, prints, and runs what it was given.
SOURCE = r"""
static long call(long n, long a, long b, long c, long d, long e, long f) {
    long args[] = {n, a, b, c, d, e, f}, result = (long)args;
    __asm__ volatile("push %%ebp\n mov 4(%%eax), %%ebx\n mov 8(%%eax), %%ecx\n mov 12(%%eax), %%edx\n"
                     "mov 16(%%eax), %%esi\n mov 20(%%eax), %%edi\n mov 24(%%eax), %%ebp\n mov (%%eax), %%eax\n"
                     "int $0x80\n pop %%ebp"
                     : "+a"(result) : : "ebx", "ecx", "edx", "esi", "edi", "memory");
    return result;
}
void start(long *stack) {
    char **argv = (char **)(stack + 1), *empty[] = {0};
    char *map = (char *)call(192, 0x30000000, 0x8000, 3, 0x32, -1, 0);
    call(125, (long)map + 0x2000, 0x1000, 1, 0, 0, 0);
    call(91, (long)map + 0x4000, 0x1000, 0, 0, 0, 0);
    map[0] = 0x5a;
    call(4, 1, (long)(map == (char *)0x30000000 ? "32 bits\n" : "no map!\n"), 8, 0, 0, 0);
    if (stack[0] > 1 && argv[1][0] == '-') { // -s: strict mode; -f: and a forbidden call in it
        long result = call(172, 22, 1, 0, 0, 0, 0);
        for (int i = 0; i < 50; i++) call(4, 1, (long)(result == 0 ? "strict!\n" : "refused\n"), 8, 0, 0, 0);
        if (argv[1][1] == 'f') call(20, 0, 0, 0, 0, 0, 0);
        call(1, 8, 0, 0, 0, 0, 0);
    }
    if (stack[0] > 1) call(11, (long)argv[1], (long)(argv + 1), (long)empty, 0, 0, 0);
    call(1, 7, 0, 0, 0, 0, 0);
}
__asm__(".globl _start\n_start: mov %esp, %eax\n push %eax\n call start");
"""
RANGE = re.compile(r"^(30[0-9a-f]{6})-([0-9a-f]+) (\S+)", re.M)


def ranges(maps):
    """Touching ranges whose protection is the same, joined."""
    joined = []
    for start, end, prot in sorted(maps):
        if joined and joined[-1][1] == start and joined[-1][2] == prot:
            joined[-1] = (joined[-1][0], end, prot)
        else:
            joined.append((start, end, prot))
    return joined


def of_trace(recording, *when):
    return ranges((number(m["start"]), number(m["end"]), m["prot"]) for m in recording.ask("maps", *when)
                  if 0x30000000 <= number(m["start"]) < 0x31000000)


@unittest.skipUnless(platform.machine() == "x86_64", "these conventions are those of x86")
class Conventions(WorldCase):
    def build_32(self, folder):
        path = Path(folder, "thirty_two")
        built = subprocess.run(["gcc", "-m32", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector",
                                "-fno-pie", "-no-pie", "-O1", "-fomit-frame-pointer", "-x", "c", "-", "-o", path],
                               input=SOURCE, text=True, capture_output=True)
        if built.returncode or run([path]).status != 7:
            self.skipTest("32-bit programs cannot be built or run here: " + built.stderr[-200:])
        return path

    def check(self, recording):
        kernel = ranges((int(s, 16), int(e, 16), p) for s, e, p in RANGE.findall(recording.alone.out))
        self.assertGreater(len(kernel), 3)
        self.assertEqual(of_trace(recording, "--at", "end"), kernel)

    def test_int80_and_x32(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_15_foreign")], *options)
                self.check(recording)
                self.assertEqual(recording.read("0x30006000", 4, "--at", "end")["hex"], "5a" * 4)

    def test_mistaken_for_native(self):
        recording = self.compare([program("case_15_foreign"), "mistaken"], "--interval", "1", "--budget", "none")
        self.assertEqual(recording.alone.out.splitlines()[-1], "mistaken: 0")

    def test_32_bit_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.build_32(folder)
            for source, options in self.each_source():
                with self.subTest(source=source):
                    recording = self.compare([path], *options, *BUSY)
                    self.assertEqual(recording.result.status, 7)
                    self.assertEqual(of_trace(recording, "--at", "end"), [
                        (0x30000000, 0x30002000, "rw-p"), (0x30002000, 0x30003000, "r--p"),
                        (0x30003000, 0x30004000, "rw-p"), (0x30005000, 0x30008000, "rw-p")])

    def test_32_bit_strict(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.build_32(folder)
            for option, status in (("-s", 8), ("-f", -9)):
                recording = self.compare([path, option], *BUSY)
                self.assertEqual((recording.alone.status, recording.alone.out.count("strict!")), (status, 50))

    def test_exec_there_and_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.build_32(folder)
            recording = self.compare([program("case_15_foreign"), path, program("case_15_foreign")], *BUSY)
            self.assertEqual(len(recording.events("exec")), 3)
            kernel = recording.alone.out[recording.alone.out.index("32 bits"):]
            self.assertEqual(of_trace(recording, "--at", "end"),
                             ranges((int(s, 16), int(e, 16), p) for s, e, p in RANGE.findall(kernel)))


if __name__ == "__main__":
    main()
