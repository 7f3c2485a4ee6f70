"""Threads inside read() that wait for a page, while frames stop all threads and read half-touched memory themselves.

Guard: recorder/fault_server.c serves on threads of its own: where the tracer serves faults, it waits for a thread that
waits for it. recorder/peek.c reads present pages only, so that our reads touch nothing; should one wait all the same, the
server lets it go.
"""

import os

from cases import BUSY, WorldCase, main, program

ROUNDS = 600 if os.environ.get("VMVIS_LONG") else 40


class Reads(WorldCase):
    def test_all_sources(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_44_reads"), ROUNDS], *options, *BUSY, timeout=120)
            pauses = [f["pause_ns"] for f in recording.ask("frames")]
            self.assertGreater(len(pauses), 3)
            self.assertLess(max(pauses), 1_000_000_000, source)


if __name__ == "__main__":
    main()
