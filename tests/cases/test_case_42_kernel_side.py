"""The kernel reads and writes the program's memory: fresh buffers, signal frames, results, futexes; also as a plain user.

Guard: recorder/track.c, which asks for UFFD_USER_MODE_ONLY with asynchronous write-protection alone: with missing pages
served in that mode, read() gave EFAULT and signal frames on a fresh stack killed the program. recorder/transfer.c: without SYS_readv in its table one readv() in eighty
came back short, as fresh pages are slow to come under userfaultfd and a frame falls into it.
"""

import os
import tempfile
from pathlib import Path

from cases import BUSY, WorldCase, main, program
from vmvis import BUILD, RECORD, Recording, run


class KernelSide(WorldCase):
    EXPECTED = ("reads: 120 of 120\nhandlers: 80 of 80\nresults: 80 of 80\ncounted: 8000\n"
                "into a page that cannot be written: -1 14\n")

    def test_as_we_are(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_42_kernel_side")], *options, *BUSY)
                self.assertEqual(recording.alone.out, self.EXPECTED)

    def test_plain_user(self):
        if os.getuid() != 0:
            self.skipTest("the test above was this one")
        if any(not os.stat(folder).st_mode & 1 for folder in BUILD.resolve().parents):
            self.skipTest("the build folder cannot be entered by others")
        with tempfile.TemporaryDirectory() as folder:
            os.chown(folder, 65534, 65534)
            path = Path(folder, "t.vmv")
            result = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", RECORD, "-q", *BUSY,
                          "-o", path, "--", program("case_42_kernel_side")], cwd=folder)
            self.assertEqual((result.status, result.out, result.err), (0, self.EXPECTED, ""))
            self.assert_clean(Recording(path, result))


if __name__ == "__main__":
    main()
