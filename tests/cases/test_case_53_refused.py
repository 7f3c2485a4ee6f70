"""Containers and security modules: each call that the recorder needs refused alone, and all together; a plain user;
VMVIS_HIDE for each source.

Guard: recorder/sources.c, which tries each interface before the program starts: with the probe of pidfd_getfd left out
the trace claimed fault records that it did not have. recorder/peek.c: without /proc/PID/mem where process_vm_readv is
refused marks had no text. recorder/obstacle.c: without obstacle_fatal_call a sandbox that kills killed the recorder,
which said nothing.

Imitated: a container's profile by seccomp filters that refuse calls, or kill; no container engine is used. kernel.yama.ptrace_scope by a
file of that name, and ptrace refused.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

import kernel
from cases import WorldCase, main, program
from vmvis import BUILD, RECORD, Recording, run, sample

DENY = program("case_53_deny")
LOWER = {  # what is refused: the source that may be used then, and words of the reason that is given
    "userfaultfd:EPERM": ("frames", "userfaultfd"),
    "userfaultfd:ENOSYS": ("frames", "userfaultfd"),
    "userfaultfd_full:EPERM": ("records", ""),
    "perf_event_open:EACCES": ("uffd", "perf"),
    "perf_event_open:ENOSYS": ("uffd", "perf"),
    "pagemap_scan:ENOTTY": ("uffd", "PAGEMAP_SCAN"),
    "process_vm_readv:EPERM": ("records", ""),
    "process_vm_readv:ENOSYS": ("records", ""),
    "pidfd_getfd:EPERM": ("frames", "userfaultfd"),
    "pidfd_open:ENOSYS": ("frames", "userfaultfd"),
    "kcmp:EPERM": ("records", ""),
    "sched_setscheduler:EPERM": ("records", ""),
}
TOGETHER = ["userfaultfd:EPERM", "perf_event_open:EPERM", "process_vm_readv:EPERM", "pidfd_getfd:EPERM", "kcmp:EPERM",
            "sched_setscheduler:EPERM"]


class Refused(WorldCase):
    def check(self, result, path, faults, word):
        """The variable's values are right, whatever the source is."""
        self.assertEqual(result.status, 0, result)
        recording = Recording(path, result)
        self.assert_clean(recording)
        sources = recording.info["sources"]
        self.assertEqual(sources["faults"], faults, sources)
        self.assertIn(word, sources["why"])
        if faults != "none":
            address = recording.truth("variable")[0]["addr"]
            stores = recording.truth("store")
            if stores:
                self.assertEqual(recording.read(address, 8, "--at", "end")["hex"].count("?"), 0)
        self.assertEqual([event["text"] for event in recording.events("mark")], ["half"])
        self.assertGreater(len(recording.events("mmap")), 3)
        return recording

    def denied(self, what, *options):
        path = self.fresh()
        return path, run([DENY, *what, "--", RECORD, "-q", "-o", path, *options, "--", sample("variable"),
                          "--changes", "3"])

    def test_each_alone(self):
        for mode in ("records", "uffd", "frames"):
            self.need_faults(mode)
        for what, (faults, word) in LOWER.items():
            with self.subTest(refused=what):
                path, result = self.denied([what])
                self.check(result, path, faults, word)

    def test_all_together(self):
        path, result = self.denied(TOGETHER)
        self.check(result, path, "frames", "userfaultfd")

    def refusal(self, what, *words, options=()):
        path, result = self.denied(what, *options)
        self.assertEqual(result.status, 125, result)
        self.assertEqual(result.out, "")
        self.assert_one_line(result.err, *words)
        self.assertFalse(path.exists())

    def test_refusals(self):
        self.refusal(["ptrace:EPERM"], "cannot trace", "ptrace", "SYS_PTRACE")
        self.refusal(["ptrace:ENOSYS"], "cannot trace", "ptrace")
        self.refusal(["ptrace:EPERM", *TOGETHER], "ptrace")
        self.refusal(["seccomp:EPERM"], "seccomp", "--maps frames")
        self.refusal(["userfaultfd:EPERM"], "--faults=uffd", "userfaultfd", options=["--faults=uffd"])
        self.refusal(["perf_event_open:EPERM"], "--faults=records", "perf", options=["--faults=records"])

    def test_sandbox_that_kills(self):
        for call in ("ptrace", "perf_event_open", "userfaultfd", "process_vm_readv", "pidfd_getfd", "pagemap_scan",
                     "uffdio_register", "kcmp"):
            with self.subTest(call=call):
                words = ["sandbox", "systemd"] + ([call + "(2)"] if "_" not in call else [])
                self.refusal([call + ":KILL"], *words)
        self.refusal(["ptrace:TRAP"], "sandbox", "ptrace(2)")
        path, result = self.denied(["perf_event_open:KILL"], "--faults=frames")
        self.check(result, path, "frames", "")

    def test_yama(self):
        if os.getuid() != 0 or not shutil.which("unshare"):
            self.skipTest("only root can show another /proc/sys to the recorder")
        for scope, word in (("1", "SYS_PTRACE"), ("2", "as root"), ("3", "reboot")):
            with self.subTest(scope=scope), tempfile.TemporaryDirectory() as folder:
                Path(folder, "yama").mkdir()
                Path(folder, "yama", "ptrace_scope").write_text(scope + "\n")
                shown = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel && exec "$@"', folder]
                result = run([*shown, DENY, "ptrace:EPERM", "--", RECORD, "-q", "-o", self.fresh(), "--", "echo", "x"])
                self.assertEqual((result.status, result.out), (125, ""), result)
                self.assert_one_line(result.err, "cannot trace", word)

    def test_without_a_filter(self):
        path, result = self.denied(["seccomp:EPERM"], "--maps", "frames")
        self.assertEqual(result.status, 0, result)
        self.assert_clean(Recording(path, result))

    def test_hidden(self):
        for mode in ("records", "uffd", "frames"):
            self.need_faults(mode)
        for hide, faults, word in (("perf", "uffd", "perf"), ("pagemap_scan", "uffd", "PAGEMAP_SCAN"),
                                   ("wp_async", "uffd", "write-protection"), ("uffd", "frames", "userfaultfd"),
                                   ("perf,uffd", "frames", "perf"), ("pagemap_scan,wp_async,perf,uffd", "frames", "hashes"),
                                   ("pagemap", "none", "pagemap")):
            with self.subTest(hidden=hide):
                path = self.fresh()
                result = run([RECORD, "-q", "-o", path, "--", sample("variable"), "--changes", "3"],
                             env={"VMVIS_HIDE": hide})
                self.check(result, path, faults, word)

    def test_plain_user(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        nobody = 65534
        if any(not os.stat(folder).st_mode & 1 for folder in BUILD.resolve().parents):
            self.skipTest("the build folder cannot be entered by others")
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, nobody, nobody)
            path = Path(folder, "t.vmv")
            become = ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"]
            result = run([*become, RECORD, "-q", "-o", path, "--", sample("variable"), "--changes", "3"], cwd=folder)
            self.assertEqual((result.status, result.err), (0, ""))
            recording = Recording(path, result)
            self.assert_clean(recording)
            self.assertIn(recording.info["sources"]["faults"], ("records", "frames"))
            self.assertTrue(re.search("run as root|records", recording.info["sources"]["why"]))
            refused = run([*become, RECORD, "-q", "-o", path, "-p", "1"], cwd=folder)
            self.assertEqual(refused.status, 125)
            self.assert_one_line(refused.err, "-p 1", "root")


if __name__ == "__main__":
    main()
