"""A make -j2 of a C project of a few hundred files under the recorder: the same files come out. VMVIS_LONG=1 only."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from vmvis import RECORD, Case, Recording, main, run

FILES = 300


def write_project(folder):
    for n in range(FILES):
        calls = "".join(f"int f{m}(int); " for m in range(max(0, n - 3), n))
        body = " + ".join(f"f{m}(x + {m})" for m in range(max(0, n - 3), n)) or "x"
        Path(folder, f"f{n}.c").write_text(f"#include <stdio.h>\n#include <stdlib.h>\n{calls}\n"
                                           f"int f{n}(int x) {{ return x > 3 ? {n} : {body}; }}\n")
    Path(folder, "main.c").write_text(f"#include <stdio.h>\nint f{FILES - 1}(int);\n"
                                      f'int main(void) {{ printf("%d\\n", f{FILES - 1}(1)); return 0; }}\n')
    objects = " ".join(f"f{n}.o" for n in range(FILES)) + " main.o"
    Path(folder, "Makefile").write_text(f"CFLAGS = -O1\nprogram: {objects}\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc $(CFLAGS) -c -o $@ $<\n")


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())}


@unittest.skipUnless(os.environ.get("VMVIS_LONG"), "VMVIS_LONG is not set")
class Make(Case):
    def test_make(self):
        if not shutil.which("make"):
            self.skipTest("make is not installed")
        made = []
        path = self.fresh()
        for recorder in ([], [RECORD, "-q", "-o", path, "--"]):
            with tempfile.TemporaryDirectory() as folder:
                work = Path(folder, "work")
                work.mkdir()
                write_project(work)
                result = run([*recorder, "make", "-s", "-j2"], timeout=1200, cwd=work)
                self.assertEqual((result.status, result.out), (0, ""), result)
                made.append((hashes(work), subprocess.run([work / "program"], capture_output=True).stdout))
        self.assertEqual(made[0], made[1])
        recording = Recording(path, None)
        self.assert_clean(recording)
        self.assertGreater(recording.info["processes"], 2 * FILES)


if __name__ == "__main__":
    main()
