"""Terabytes reserved, and the sanitizers that do so: cost follows what is present.

Guard: recorder/track_scan.c asks for PRESENT pages: without it the scan fills page tables for the whole reservation, and
memory and time are exceeded.
"""

import shutil
import subprocess

from cases import BUSY, WorldCase, main, program
from vmvis import RECORD, run

HELLO = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *a) { char *m = malloc(100000); memset(m, 1, 100000); free(m); return a; }
int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, 0);
for (int i = 0; i < 4; i++) pthread_join(t[i], 0); puts("hello"); return 0; }
"""


class Reserved(WorldCase):
    def peak_mib(self, argv, *options, **how):
        """Peak resident memory of the recorder itself."""
        seen = [0]

        def look(pid):
            try:
                with open(f"/proc/{pid}/status") as status:
                    for line in status:
                        if line.startswith("VmHWM"):
                            seen[0] = max(seen[0], int(line.split()[1]))
            except (OSError, ProcessLookupError):
                pass
        result = run([RECORD, "-q", "-o", self.fresh(), *options, "--", *argv], watch=look, timeout=60, **how)
        return result, seen[0] / 1024

    def test_reservations(self):
        argv = [program("case_33_reserved")]
        alone = run(argv)
        for source, options in self.each_source():
            result, peak = self.peak_mib(argv, *options, *BUSY)
            self.assertEqual((result.status, result.out), (alone.status, alone.out), result)
            self.assertLess(result.seconds, 20 * alone.seconds + 3)
            self.assertLess(peak, 120, source)

    def test_sanitizers(self):
        compiler = shutil.which("gcc")
        if not compiler:
            self.skipTest("no gcc")
        source = self.fresh("hello.c")
        source.write_text(HELLO)
        for kind in ("address", "thread"):
            built = source.with_suffix("." + kind)
            made = subprocess.run([compiler, f"-fsanitize={kind}", "-g", "-pthread", "-o", built, source],
                                  capture_output=True)
            if made.returncode != 0:
                continue
            quiet = {"ASAN_OPTIONS": "detect_leaks=0"}
            alone = run([built], env=quiet)
            if alone.status != 0:
                continue  # this sanitizer does not run here
            for faults, options in self.each_source():
                result, peak = self.peak_mib([built], *options, env=quiet)
                self.assertEqual((result.status, result.out, result.err), (0, alone.out, alone.err), (kind, faults))
                self.assertLess(peak, 150, (kind, faults))


if __name__ == "__main__":
    main()
