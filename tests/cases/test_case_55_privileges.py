"""Set-user-ID programs, and those with file capabilities: named where they do not gain their privileges, and none gained
through the recorder.

Guard: recorder/tree.c note_lost_privileges: without it nothing told why the program was refused what it does alone.
recorder/filter.c has_admin: with no_new_privs set always, root's recordings lost the privileges too.
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from cases import WorldCase, main
from vmvis import BUILD, RECORD, Recording, run

NOBODY = 65534
SOURCE = """
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d %d %d\\n", (int)geteuid(), (int)getegid(), access("/etc/shadow", R_OK)); return 0; }
"""


@unittest.skipUnless(os.getuid() == 0, "only root can make set-user-ID programs")
class Privileges(WorldCase):
    def setUp(self):
        if any(not os.stat(folder).st_mode & 1 for folder in BUILD.resolve().parents):
            self.skipTest("the build folder cannot be entered by others")
        self.room = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.room)
        os.chown(self.room, NOBODY, NOBODY)
        self.room.chmod(0o755)
        self.path = self.room / "privileged"
        subprocess.run(["gcc", "-x", "c", "-", "-o", self.path], input=SOURCE, text=True, check=True)

    def make_setuid(self):
        os.chown(self.path, 0, 0)
        self.path.chmod(0o4755)
        alone = run(self.as_nobody(self.path))
        if not alone.out.startswith("0 "):
            self.skipTest("set-user-ID programs do not work here (nosuid)")

    @staticmethod
    def as_nobody(*argv):
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv]

    def test_plain_user(self):
        self.make_setuid()
        trace = self.room / "t.vmv"
        result = run(self.as_nobody(RECORD, "-o", trace, "--", self.path), cwd=self.room)
        self.assertEqual(result.status, 0)
        self.assertTrue(result.out.startswith(f"{NOBODY} "), result)
        hint = result.err.splitlines()[-1]
        self.assertIn(str(self.path), hint)
        self.assertIn("--user", hint)
        notes = [event["text"] for event in Recording(trace, result).events("note")]
        self.assertTrue(any("without the privileges" in text for text in notes), notes)

    def test_root_for_a_user(self):
        self.make_setuid()
        path = self.fresh()
        result = run([RECORD, "-q", "-o", path, "--user", "nobody", "--", self.path])
        self.assertTrue(result.out.startswith("0 "), result)
        self.assert_clean(Recording(path, result))

    def test_file_capabilities(self):
        if not shutil.which("setcap"):
            self.skipTest("setcap is not installed")
        subprocess.run(["setcap", "cap_net_raw+ep", self.path], check=True)
        result = run(self.as_nobody(RECORD, "-o", self.room / "t.vmv", "--", self.path), cwd=self.room)
        self.assertEqual(result.status, 0)
        self.assertIn("--user", result.err.splitlines()[-1])

    def test_nothing_is_passed_on(self):
        """The program has the descriptors it has alone."""
        shell = ["sh", "-c", "ls -l /proc/self/fd | sed 's/.*-> //; s/[0-9][0-9]*//g' | sort; "
                             "grep -E 'NoNewPrivs|CapEff' /proc/self/status"]
        recording = self.compare(shell)
        self.assertIn("NoNewPrivs", recording.alone.out)


if __name__ == "__main__":
    main()
