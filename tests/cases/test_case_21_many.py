"""Thousands of threads and children, and few descriptors.

Guard: recorder/track.c and recorder/procstat.c take a refused descriptor for a lack, not for an end: where EMFILE ends
the recording, the run with 64 descriptors fails.
"""

import os
import random

from cases import WorldCase, main, program
from vmvis import RECORD, run

MANY = (5000, 2000) if os.environ.get("VMVIS_LONG") else (600, 150)
ASKED = 50  # children: each costs a look at the whole trace


class Many(WorldCase):
    def test_threads_and_children(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_21_many"), *MANY], *options, timeout=240)
            self.assertEqual(recording.info["processes"], 1 + MANY[1])
            started, ended = (len(recording.events(t)) for t in ("thread-start", "thread-exit"))
            self.assertEqual((started, ended), (MANY[0] + 1, MANY[0] + 2))
            children = [e["child"] for e in recording.events("fork")]
            self.assertEqual(len(children), MANY[1])
            for i in sorted(random.Random(21).sample(range(MANY[1]), ASKED)):  # in the order of their birth
                codes = [e["code"] for e in recording.events("exit", pid=children[i])]
                self.assertEqual(codes, [i % 100])

    def test_few_descriptors(self):
        argv = [program("case_21_many"), 300, 40]
        alone = run(argv)
        for source, options in self.each_source():
            path = self.fresh()
            limited = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", RECORD, "-q", "-o", path, *options, "--", *argv]
            result = run(limited, timeout=60)
            self.assertEqual((result.status, result.out), (alone.status, alone.out), result)


if __name__ == "__main__":
    main()
