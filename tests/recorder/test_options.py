"""What options of the recorder promise: sizes, what is withheld, whom the program runs as, children, huge pages."""

import os
import pwd
import sys
import unittest

from cases import program
from vmvis import RECORD, Case, main, number, run, sample
from zstd_frames import holds

SECRET = "hunter2-is-nobodys-business"
EAGER = ("--budget", "none", "-i", "10")


class Withheld(Case):
    def withheld(self, *options):
        recording = self.record([program("case_withheld")], *EAGER, *options, env={"VMVIS_TEST_SECRET": SECRET})
        return recording, recording.truth("withheld")[0]

    def test_a_secret_is_found_where_nothing_is_withheld(self):
        """The witness works."""
        recording, _ = self.withheld()
        self.assertTrue(holds(recording.path, SECRET.encode()))

    def test_no_env(self):
        for faults in ("records", "uffd", "frames"):
            with self.subTest(faults=faults):
                self.need_faults(faults)
                recording, truth = self.withheld("--no-env", "--faults", faults)
                self.assertFalse(holds(recording.path, SECRET.encode()))
                env = number(truth["env"])
                self.assertEqual(set(recording.read(hex(env), 16, "--at", "end")["hex"]), {"?"})

    def test_exclude_region_and_range(self):
        heap = b"kept-where-it-is"
        recording, truth = self.withheld()
        self.assertIn(heap.hex(), recording.read(truth["heap"], 32, "--at", "end")["hex"])
        recording, truth = self.withheld("--exclude", "[heap]", "--exclude", "case_withheld")
        self.assertEqual(set(recording.read(truth["heap"], 32, "--at", "end")["hex"]), {"?"})
        recording, truth = self.withheld("--exclude", "[stack]", "--no-env")
        self.assertFalse(holds(recording.path, SECRET.encode()))
        self.assertIn(heap.hex(), recording.read(truth["heap"], 32, "--at", "end")["hex"])
        self.assert_clean(recording)

    def test_bad_exclude(self):
        result = run([RECORD, "--exclude", "0x10-0x5", "true"])
        self.assertEqual(result.status, 125)
        self.assert_one_line(result.err, "--exclude")


class Size(Case):
    def test_max_size(self):
        limit = 4 << 20
        path = self.fresh()
        fill = [sample("random_fill"), "--mb", "64", "--passes", "2", "--seconds", "1"]
        recording = self.record_to(path, fill, "--budget", "none", "--max-size", "4M")
        self.assertLessEqual(path.stat().st_size, limit)
        self.assert_clean(recording)
        self.assertTrue(any("--max-size" in e["step"] for e in recording.events("governor")))
        self.assertEqual(recording.info["exit"], {"code": 0})

    def test_max_size_stops_the_recording(self):
        """Events alone fill it."""
        path = self.fresh()
        script = "import mmap\nfor i in range(60000):\n m = mmap.mmap(-1, 4096 * (1 + i % 50)); m[0] = 1; m.close()\nprint('done')"
        recording = self.record_to(path, [sys.executable, "-S", "-c", script], "--budget", "none", "--max-size", "4M",
                                   timeout=120)
        self.assertEqual(recording.result.out, "done\n")
        self.assertLessEqual(path.stat().st_size, 4 << 20)
        self.assert_clean(recording)


class Children(Case):
    def test_no_follow(self):
        script = ("import os, subprocess\n"
                  "pid = os.fork()\n"
                  "if pid == 0:\n b = bytearray(8 << 20); os._exit(7)\n"
                  "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
                  "print(subprocess.run(['/bin/sh', '-c', 'exit 5']).returncode)\n")
        recording = self.record([sys.executable, "-S", "-c", script], "--no-follow", timeout=60)
        self.assertEqual(recording.result.out, "7\n5\n")
        self.assert_clean(recording)
        self.assertEqual(recording.info["processes"], 1)
        pid = recording.info["pid"]
        self.assertEqual({e["pid"] for e in recording.events("mmap", "fault", "exit")}, {pid})
        self.assertTrue(any("--no-follow" in e["text"] for e in recording.events("note")))


@unittest.skipUnless(os.geteuid() == 0, "only root may become another user")
class User(Case):
    def test_user(self):
        nobody = pwd.getpwnam("nobody")
        script = "import os; print(os.getresuid(), os.getresgid(), os.getgroups(), os.environ['HOME'], os.environ['USER'])"
        self.folder.chmod(0o755)
        recording = self.record(["/usr/bin/python3", "-c", script], "--user", "nobody", timeout=60)
        uid, gid = nobody.pw_uid, nobody.pw_gid
        self.assertEqual(recording.result.out,
                         f"{(uid,) * 3} {(gid,) * 3} {[gid]} {nobody.pw_dir} nobody\n")
        status = recording.path.stat()
        self.assertEqual((status.st_uid, status.st_mode & 0o777), (uid, 0o600))
        self.assert_clean(recording)

    def test_set_user_id_programs_still_gain(self):
        """The filter was installed with the recorder's rights, without no_new_privs."""
        recording = self.record(["grep", "NoNewPrivs", "/proc/self/status"], "--user", "nobody")
        self.assertEqual(recording.result.out.split(), ["NoNewPrivs:", "0"])

    def test_no_such_user(self):
        result = run([RECORD, "--user", "nobody-of-that-name", "true"])
        self.assertEqual(result.status, 125)
        self.assert_one_line(result.err, "nobody-of-that-name", "no such user")


class HugePages(Case):
    SCRIPT = """
import ctypes, mmap, time
size = 16 << 20
m = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m.madvise(mmap.MADV_HUGEPAGE)
for at in range(0, size, 4096): m[at] = 1
address = ctypes.addressof(ctypes.c_char.from_buffer(m))
end = time.monotonic() + 0.3
while time.monotonic() < end:
    m[(int(time.monotonic() * 1000) % 4096) * 4096] = 2
huge = 0
for line in open('/proc/self/smaps'):
    if line.startswith('AnonHugePages:'): huge += int(line.split()[1])
print(huge)
"""

    def huge_kb(self, *options):
        return int(self.record([sys.executable, "-S", "-c", self.SCRIPT], *options, timeout=60).result.out)

    def test_they_stay_unless_asked(self):
        alone = int(run([sys.executable, "-S", "-c", self.SCRIPT]).out)
        if alone < 8192:
            self.skipTest("this kernel gave no huge pages")
        self.assertGreaterEqual(self.huge_kb(*EAGER), 8192)
        self.need_faults("records")
        self.assertLess(self.huge_kb("--split-huge", *EAGER), alone)


if __name__ == "__main__":
    main()
