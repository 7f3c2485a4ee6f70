"""Backtraces, compared function by function with gdb's on the kernel's core of the same run.

VMVIS_LONG=1: 200 crashes for each build instead of 8.
"""

import os
import re
import shutil
import subprocess

from vmvis import RECORD, SOURCE, Case, Trace, main, number, run, sample

SEEDS = 200 if os.environ.get("VMVIS_LONG") else 8
BUILDS = {"O0": ["-O0"], "O2": ["-O2", "-fomit-frame-pointer"], "O3 static": ["-O3", "-static"]}


def gdb_frames(program, core, every=False):
    """{tid: [(pc, name)]} of the crashed thread, or of all; by symbols alone, as here."""
    result = subprocess.run(
        ["gdb", "-batch", "-nx", "-iex", "set debug-file-directory /nonexistent", "-ex", "set backtrace past-main on",
         "-ex", "set width 0", "-ex", "echo BEGIN\\n", "-ex", "thread apply all bt" if every else "bt", program, core],
        capture_output=True, text=True, timeout=120)
    found, tid = {}, 0
    for line in result.stdout.partition("BEGIN\n")[2].splitlines():
        thread = re.match(r"Thread \d+ \(.*LWP (\d+)\)", line)
        if thread:
            tid = int(thread[1])
        frame = re.match(r"#\d+\s+(?:0x([0-9a-f]+) in )?(<signal handler called>|\S+)", line)
        if frame:
            found.setdefault(tid, []).append((int(frame[1], 16) if frame[1] else None, frame[2]))
    return found


def our_frames(trace, *options):
    found = {}
    for line in trace.ask("backtrace", *options):
        if "n" in line and not line["inlined"]:
            name = "<signal handler called>" if line["how"] == "signal" else line["function"] or "??"
            found.setdefault(line["tid"], []).append((number(line["pc"]), name))
    return found


class Backtrace(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which("gdb"):
            raise cls.skipTest(cls, "gdb is not installed")

    def crash(self, program, *arguments):
        folder = self.fresh("crash").parent
        run(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", RECORD, "-q", "-o", "t.vmv", "--", program, *arguments],
            cwd=folder, timeout=60)
        if not (folder / "core").exists():
            self.skipTest("the kernel writes no core here (core_pattern, limits)")
        return Trace(folder / "t.vmv"), folder / "core"

    def compare(self, program, seed):
        trace, core = self.crash(program, seed)
        fatal = [e for e in trace.events("signal") if e["fatal"]]
        ours = our_frames(trace, "--tid", fatal[0]["tid"])[fatal[0]["tid"]]
        theirs = gdb_frames(program, core)[0]
        self.same(ours, theirs)
        shutil.rmtree(core.parent)
        return [name for _, name in ours]

    def same(self, ours, theirs):
        """All addresses, and all names that gdb knows without debug information."""
        self.assertEqual([hex(pc) for pc, _ in ours],
                         [hex(mine if pc is None else pc) for (mine, _), (pc, _) in zip(ours, theirs)], (ours, theirs))
        self.assertEqual(len(ours), len(theirs), (ours, theirs))
        for (_, mine), (_, other) in zip(ours, theirs):
            if other != "??":
                self.assertIn(mine.split("@")[0].lstrip("_").split(".")[0], other.lstrip("_"))

    def test_random_call_trees(self):
        program, kinds = self.fresh("crash_tree"), set()
        for name, flags in BUILDS.items():
            made = run(["gcc", *flags, "-w", "-pthread", "-o", program, SOURCE / "tests/viewer/crash_tree.c"])
            self.assertEqual(made.status, 0, made)
            for seed in range(1, SEEDS + 1):
                with self.subTest(build=name, seed=seed):
                    kinds.update(self.compare(program, seed))
        for kind in ("crash_here", "recursive", "with_alloca", "sorted", "in_thread", "signalled",
                     "<signal handler called>"):
            self.assertIn(kind, kinds)

    def test_all_threads(self):
        trace, core = self.crash(sample("null_crash"))
        ours, theirs = our_frames(trace), gdb_frames(sample("null_crash"), core, every=True)
        self.assertGreaterEqual(len(ours), 4)
        self.assertEqual(set(ours), set(theirs))
        for tid in ours:
            self.same(ours[tid][1:], theirs[tid][1:])  # they run in a loop until the signal ends them
            self.assertEqual(ours[tid][0][1], theirs[tid][0][1])

    def test_stacks_of_calls_and_faults(self):
        folder = self.fresh("chain").parent
        (folder / "a.c").write_text("""
            #include <sys/mman.h>
            #define APART __attribute__((noinline, noclone))
            APART static char *inner(int n) {
                char room[400]; room[n] = 1;
                char *p = mmap(0, 12345, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                p[room[n]] = 2;
                return p + room[n];
            }
            APART static int middle(int n) { return *inner(n + 3) + 1; }
            APART static int outer(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += middle(i); return sum; }
            int main(int argc, char **argv) { return outer(argc + 4) - 15; }
        """)
        for flags in (["-O0"], ["-O2", "-fomit-frame-pointer"]):
            self.assertEqual(run(["gcc", *flags, "-w", "-o", "chain", "a.c"], cwd=folder).status, 0)
            trace = self.record([folder / "chain"], "-q", "--budget", "none")
            calls = [e for e in trace.ask("events", "--stacks") if e["type"] == "mmap" and e["len"] == 12345]
            self.assertEqual(len(calls), 5)
            fresh = {number(e["ret"]) for e in calls}
            faults = [e for e in trace.ask("events", "--stacks") if e["type"] == "fault" and number(e["addr"]) & ~4095 in fresh
                      and e["stack"] and e["seq"] > calls[0]["seq"]]
            for event in calls + faults:
                names = [f["function"] for f in event["stack"] if not f["inlined"]]
                self.assertIn("inner", names, event)
                self.assertEqual(names[names.index("inner"):][:4], ["inner", "middle", "outer", "main"], event)
            text = trace.run("events", "--stacks", "--event", "mmap").out
            self.assertIn("  middle+", text)

    def test_a_stack_that_is_not_known(self):
        folder = self.fresh("t.vmv")
        trace = self.record([sample("threads")], "-q", "--exclude", "[stack]")
        ends = [line["end"] for line in trace.ask("backtrace") if "end" in line]
        self.assertTrue(any("not known" in end for end in ends), ends)


if __name__ == "__main__":
    main()
