"""Processes, threads and programs: fork, vfork, spawn, exec from any thread, names, marks."""

from procmaps import from_trace
from recorded_samples import SampleCase
from vmvis import MS, main, number, sample


class Processes(SampleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.record_samples(["fork_cow", "vfork_spawn", "exec_chain", "threads", "variable", "heap_growth"])

    def fork_event(self, recording, truth):
        events = [e for e in recording.events("fork", pid=truth["pid"]) if e["child"] == truth["child"]]
        self.assertEqual(len(events), 1, truth)
        self.assertGreaterEqual(events[0]["t"], recording.time(truth["before"]) - MS)
        return events[0]

    def exit_code(self, recording, pid):
        return [e["code"] for e in recording.events("exit", pid=pid)]

    def test_fork(self):
        recording = self.recording("fork_cow")
        parent = recording.truth("start")[0]["pid"]
        spaces = set()
        for truth in recording.truth("fork"):
            event = self.fork_event(recording, truth)
            self.assertIs(event["vfork"], False)
            self.assertNotEqual(event["child_space"], event["space"])
            self.assertEqual(self.exit_code(recording, truth["child"]), [7])
            spaces.add(event["child_space"])
        self.assertEqual(len(spaces), 2, "each child has an address space of its own")
        self.assertEqual((recording.info["pid"], recording.info["processes"]), (parent, 3))

    def test_a_child_starts_with_the_mappings_of_its_parent(self):
        recording = self.recording("fork_cow")
        event = self.fork_event(recording, recording.truth("fork")[0])
        at = ("--at", f"seq:{event['seq']}")
        parent = from_trace(recording.ask("maps", "--pid", event["pid"], *at))
        child = from_trace(recording.ask("maps", "--pid", event["child"], *at))
        self.assertEqual(child, parent)

    def test_effects_come_after_the_fork(self):
        recording = self.recording("fork_cow")
        event = self.fork_event(recording, recording.truth("fork")[0])
        for other in recording.events(pid=event["child"]):
            if other["type"] != "fork" and other["pid"] is not None:
                self.assertGreater(other["seq"], event["seq"], other)

    def test_vfork(self):
        recording = self.recording("vfork_spawn")
        for truth in recording.truth("fork"):
            event = self.fork_event(recording, truth)
            if truth["how"] == "vfork":
                self.assertIs(event["vfork"], True)
                self.assertEqual(event["child_space"], event["space"], "a child of vfork shares the address space")
        said = {line["pid"]: line["code"] for line in recording.truth("exit")}
        self.assertEqual({pid: self.exit_code(recording, pid)[0] for pid in said}, said)

    def test_a_mapping_made_by_a_child_of_vfork(self):
        recording = self.recording("vfork_spawn")
        truth = recording.truth("mapped_by_child")[0]
        calls = [e for e in recording.events("mmap", pid=truth["pid"]) if number(e["ret"]) == number(truth["addr"])]
        self.assertEqual([(e["tid"], e["len"]) for e in calls], [(truth["pid"], truth["len"])])
        self.assertEqual(calls[0]["space"], recording.events("exec")[-1]["space"])

    def test_programs_of_spawned_children(self):
        recording = self.recording("vfork_spawn")
        numbers = []
        for truth in recording.truth("fork"):
            events = recording.events("exec", pid=truth["child"])
            if events:
                self.assertEqual((events[0]["path"], events[0]["argv"][1]), (sample("vfork_spawn"), "--child"))
                numbers.append(events[0]["argv"][2])
        self.assertEqual(numbers, ["1", "2", "3"])

    def test_exec_chain(self):
        recording = self.recording("exec_chain")
        truths = recording.truth("exec")
        starts = recording.truth("start")
        events = recording.events("exec")[-len(truths):]
        self.assertEqual(len(recording.events("exec")), len(truths) + 1)
        for truth, event, start in zip(truths, events, starts[1:]):
            self.assertEqual((event["path"], event["argv"]), (truth["path"], truth["argv"]))
            self.assertEqual(event["pid"], truth["pid"])
            self.assertGreater(event["t"], recording.time(truth["before"]))
            self.assertLess(event["t"], recording.time(start["t"]))
        self.assertEqual(len({e["space"] for e in events}), len(events), "every program has a new address space")

    def test_frames_at_exec(self):
        recording = self.recording("exec_chain")
        frames = [f["why"] for f in recording.ask("frames")]
        self.assertGreaterEqual(frames.count("exec"), len(recording.truth("exec")))
        self.assertEqual(frames.count("exit"), 1)

    def test_threads(self):
        recording = self.recording("threads")
        said = recording.truth("thread")
        tids = {t["tid"] for t in said}
        self.assertLessEqual(tids, {e["tid"] for e in recording.events("thread-start")})
        ends = {e["tid"]: e["code"] for e in recording.events("thread-exit")}
        self.assertLessEqual(tids, set(ends))
        self.assertEqual({ends[tid] for tid in tids}, {0})
        for thread in said:
            event = next(e for e in recording.events("thread-start") if e["tid"] == thread["tid"])
            self.assertLess(event["t"], recording.time(thread["t"]))

    def test_names_of_threads(self):
        recording = self.recording("threads")
        moment = recording.truth("maps")[1]
        shown = recording.ask("threads", "--at", recording.at(moment["before"]))
        names = {t["tid"]: t["name"] for t in shown if t["state"] != "gone"}
        for thread in recording.truth("thread"):
            self.assertEqual(names.get(thread["tid"]), thread["name"])
        self.assertEqual(len(names), 5)

    def test_marks(self):
        recording = self.recording("heap_growth")
        marks = recording.events("mark")
        self.assertEqual([m["text"] for m in marks], ["malloc", "brk"])
        brk = recording.truth("brk")[0]
        self.assertLess(marks[1]["t"], recording.time(brk["before"]))
        self.assertEqual(recording.ask("maps", "--at", "mark:brk"), recording.ask("maps", "--at", f"seq:{marks[1]['seq']}"))


if __name__ == "__main__":
    main()
