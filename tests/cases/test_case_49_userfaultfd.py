"""userfaultfd refused or lacking: to the recorder, to the program alone, or some of its features.

Guard: recorder/sources.c registering_works: without it the trace claimed faults held by userfaultfd where nothing could
be registered. recorder/track.c open_uffd: without the second attempt a program that had dropped its privileges was
followed by page hashes, where asynchronous write-protection works for it.

Imitated: kernels without it, and SELinux's refusal, by seccomp filters that answer with the error the kernel gives.
"""

import os
import tempfile
from pathlib import Path

from cases import BUSY, WorldCase, main, program
from vmvis import BUILD, RECORD, Recording, number, run, sample

DENY = program("case_53_deny")
CHANGES = ["--changes", "3"]
REFUSED = {  # what is refused: source used then; words of why; words with --faults=uffd, None: it works
    "userfaultfd:EPERM": ("frames", ["hashes", "userfaultfd"], ["vm.unprivileged_userfaultfd"]),
    "userfaultfd:EACCES": ("frames", ["hashes", "userfaultfd"], ["vm.unprivileged_userfaultfd"]),
    "userfaultfd:ENOSYS": ("frames", ["hashes", "userfaultfd"], ["no userfaultfd"]),
    "userfaultfd_full:EPERM": ("records", [], ["vm.unprivileged_userfaultfd"]),
    "uffdio_api:EINVAL": ("frames", ["hashes", "userfaultfd"], ["no userfaultfd"]),
    "uffdio_register:EINVAL": ("frames", ["hashes", "6.7"], ["no userfaultfd"]),
    "uffdio_register:ENOTTY": ("frames", ["hashes", "6.7"], ["no userfaultfd"]),
    "pagemap_scan:EINVAL": ("uffd", ["hashes", "PAGEMAP_SCAN"], None),
}


class Userfaultfd(WorldCase):
    def check_values(self, recording):
        """Each value that was stored is read back."""
        self.assert_clean(recording)
        address = recording.truth("variable")[0]["addr"]
        last = number(recording.truth("store")[-1]["value"])
        got = recording.read(address, 8, "--at", "end")["hex"]
        self.assertEqual(got, last.to_bytes(8, "little").hex())

    def denied(self, what, *options):
        path = self.fresh()
        result = run([DENY, what, "--", RECORD, "-q", "-o", path, *options, "--", sample("variable"), *CHANGES])
        return path, result

    def test_refused_to_both(self):
        for mode in ("records", "uffd", "frames"):
            self.need_faults(mode)
        for what, (faults, words, refusal) in REFUSED.items():
            with self.subTest(refused=what):
                path, result = self.denied(what)
                self.assertEqual(result.status, 0, result)
                recording = Recording(path, result)
                sources = recording.info["sources"]
                self.assertEqual(sources["faults"], faults)
                for word in words:
                    self.assertIn(word, sources["why"])
                self.check_values(recording)
                path, result = self.denied(what, "--faults=uffd")
                if refusal is None:
                    self.assertEqual(result.status, 0)
                    continue
                self.assertEqual((result.status, result.out), (125, ""))
                self.assert_one_line(result.err, "--faults=uffd cannot work here", *refusal)
                self.assertEqual(result.err.count("--faults"), 1)
                self.assertFalse(path.exists())

    def test_privileges_dropped(self):
        """Faults are held while the program has the privilege; afterwards written pages are known all the same."""
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.need_faults("uffd")
        argv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sample("variable"), *CHANGES]
        if run(argv).status != 0:
            self.skipTest("the build folder cannot be entered by others")
        path = self.fresh()
        recording = Recording(path, run([RECORD, "-q", "-o", path, "--faults=uffd", *BUSY, "--", *argv]))
        self.assertEqual(recording.result.status, 0)
        self.check_values(recording)
        notes = [event["text"] for event in recording.events("note")]
        if Path("/proc/sys/vm/unprivileged_userfaultfd").read_text().strip() == "0":
            self.assertTrue(any("written pages alone" in text for text in notes), notes)
        self.assertFalse(any("no userfaultfd" in text for text in notes), notes)

    def test_plain_user(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        if any(not os.stat(folder).st_mode & 1 for folder in BUILD.resolve().parents):
            self.skipTest("the build folder cannot be entered by others")
        if Path("/proc/sys/vm/unprivileged_userfaultfd").read_text().strip() != "0":
            self.skipTest("vm.unprivileged_userfaultfd is set")
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, 65534, 65534)
            path = Path(folder, "t.vmv")
            result = run([*become, RECORD, "-q", "-o", path, "--faults=uffd", "--", "echo", "x"], cwd=folder)
            self.assertEqual((result.status, result.out), (125, ""))
            self.assert_one_line(result.err, "root", "vm.unprivileged_userfaultfd")
            for options in ([], ["--faults=frames"]):
                result = run([*become, RECORD, "-q", "-o", path, *options, "--", sample("variable"), *CHANGES],
                             cwd=folder)
                self.assertEqual(result.status, 0)
                self.check_values(Recording(path, result))

    def test_no_descriptor_left(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_49_descriptors")], *options, *BUSY)
                self.assertIn("100 of 100, 0 descriptors free, 1\nchild ended with 0x600\n", recording.alone.out)
                child = recording.events("fork")[0]["child"]
                got = recording.read("0x30000038", 8, "--at", "end", "--pid", child)["hex"]
                self.assertEqual(got, "8877665544332211")
                notes = [event["text"] for event in self.tree(recording) if event["type"] == "note"]
                self.assertTrue(any("Too many open files" in text for text in notes), notes)


if __name__ == "__main__":
    main()
