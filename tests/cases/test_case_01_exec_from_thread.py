"""exec from a thread that is not the leader.

Guard: recorder/tree.c end_other_threads retires the threads that exec ended, of which no end is reported: without it
they live on in the trace. Where the leader has ended before, loop.c dispatch asks tree_exec_leader which thread took its
number.
"""

from cases import BUSY, WorldCase, main, program


class ExecFromThread(WorldCase):
    def test_all_sources(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_01_exec")], *options, *BUSY, timeout=20)
            self.assertEqual(recording.alone.status, 7)
            self.assertEqual(recording.info["processes"], 1)
            execs = recording.events("exec")
            self.assertEqual([e["argv"][1:] for e in execs], [[], ["after"]])
            self.assertEqual(len({e["space"] for e in execs}), 2)
            started = {e["tid"] for e in recording.events("thread-start")}
            ended = {e["tid"] for e in recording.events("thread-exit") if e["seq"] < execs[1]["seq"]}
            self.assertEqual(ended, started | {recording.info["pid"]}, "all old threads are retired")
            threads = recording.ask("threads", "--at", f"seq:{execs[1]['seq']}")
            self.assertEqual([t["tid"] for t in threads if t["state"] != "gone"], [recording.info["pid"]])


if __name__ == "__main__":
    main()
