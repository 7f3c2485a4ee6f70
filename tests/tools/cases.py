"""What the tests of tests/cases share: each runs a situation that breaks tools of this kind, alone and recorded.

A case is tests/cases/test_case_NN_name.py, numbered as in docs/CASES.md, with programs tests/cases/case_NN_*.c beside it
(built to build/tests/cases/). Its module docstring is what docs/CASES.md is made of (tests/tools/cases_table.py):

    \"\"\"Exec from a thread that is not the leader.

    Guard: recorder/tree.c tree_exec_leader: without it the recording hangs.
    \"\"\"

"Guard" names what makes the case right and what this very test was seen to do with it taken out. A further paragraph
"Imitated: …" or "Skipped: …" says what cannot be run as in the world, and why.
"""

import kernel
from vmvis import BUILD, Case, main, run

__all__ = ["WorldCase", "main", "program"]

SOURCES = {
    "records": ["--faults=records"],
    "uffd": ["--faults=uffd"],
    "frames": ["--faults=frames"],
}
BUSY = ["--interval", "5", "--budget", "none"]  # a frame each 5 ms, whatever it costs


def program(name):
    return str(BUILD / "tests" / "cases" / name)


class WorldCase(Case):
    def alone(self, argv, **how):
        return run(argv, **how)

    def compare(self, argv, *options, seconds=None, clean=True, timeout=60, **how):
        """Runs argv alone and recorded: output, errors of its own and status must be the same, and with seconds=(least,
        most) both runs must take that long. Returns the Recording, its `alone` the run without the recorder."""
        alone = self.alone(argv, timeout=timeout, **how)
        recording = self.record(argv, "-q", *options, status=None, timeout=timeout, **how)
        recording.alone, result = alone, recording.result
        self.assertEqual((result.status, result.out, result.err), (alone.status, alone.out, alone.err),
                         f"\nalone:    {alone}\nrecorded: {result}")
        if seconds:
            for run_ in (alone, result):
                self.assertTrue(seconds[0] <= run_.seconds <= seconds[1], f"{run_.seconds:.2f} s: {run_}")
        if clean:
            self.assert_clean(recording)
        return recording

    def each_source(self):
        """(name, options) of each fault source that works here."""
        works = [(name, options) for name, options in SOURCES.items() if not kernel.missing_for(name)]
        if not works:
            self.skipTest("no fault source works here")
        return works

    @staticmethod
    def tree(recording):
        """All events of all processes, in the order of the trace."""
        found, pids = {}, [recording.info["pid"]]
        for pid in pids:
            for event in recording.events(pid=pid):
                if event["type"] == "fork" and event["child"] not in pids:
                    pids.append(event["child"])
                found[event["seq"]] = event
        return [found[seq] for seq in sorted(found)]
