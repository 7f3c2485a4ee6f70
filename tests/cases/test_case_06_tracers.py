"""Programs that trace: LeakSanitizer, ptrace of a child. They are refused, told why, and recorded to their end.

Guard: recorder/memcall.c note_ptrace: without it nothing told why LeakSanitizer had failed.
"""

import subprocess
import tempfile
from pathlib import Path

from cases import WorldCase, main, program
from vmvis import RECORD, Recording, run

LEAKS = "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(77); p[0] = 1; p = NULL; return 0; }\n"


class Tracers(WorldCase):
    def record_loudly(self, argv, **how):
        path = self.fresh()
        result = run([RECORD, "-o", path, "--", *argv], timeout=60, **how)
        recording = Recording(path, result)
        self.assert_clean(recording)
        return recording

    def test_ptrace(self):
        recording = self.record_loudly([program("case_06_tracers")])
        out, err = recording.result.out, recording.result.err
        self.assertEqual(recording.result.status, 0)
        self.assertIn("seize: Operation not permitted\nattach: Operation not permitted\nchild: 0x9\ntraceme: refused", out)
        self.assertEqual(sum("detect_leaks=0" in line for line in err.splitlines()), 1, err)
        notes = [event["text"] for event in self.tree(recording) if event["type"] == "note"]
        self.assertEqual(sum("asks to trace" in text for text in notes), 3)

    def test_leak_sanitizer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "leak")
            built = subprocess.run(["gcc", "-fsanitize=address", "-g", "-x", "c", "-", "-o", path], input=LEAKS, text=True,
                                   capture_output=True)
            if built.returncode:
                self.skipTest("gcc cannot build with AddressSanitizer here: " + built.stderr[-200:])
            recording = self.record_loudly([path])
            self.assertIn("LeakSanitizer", recording.result.err)
            self.assertIn("ASAN_OPTIONS=detect_leaks=0", recording.result.err.splitlines()[-1])
            followed = self.record_loudly([path], env={"ASAN_OPTIONS": "detect_leaks=0"})
            self.assertEqual(followed.result.status, 0)
            self.assertNotIn("detect_leaks", followed.result.err)


if __name__ == "__main__":
    main()
