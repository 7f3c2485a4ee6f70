"""The memory calls of every sample, in its order, with its addresses, lengths, values and errors."""

import kernel
from recorded_samples import SampleCase, add_sample_tests
from samples import SAMPLES
from vmvis import MS, main, number

# type -> fields of the event that must equal the truth, as (field of the event, field of the truth)
FIELDS = {
    "mmap": [("addr", "hint"), ("len", "len"), ("prot", "prot"), ("flags", "flags"), ("ret", "ret")],
    "munmap": [("addr", "addr"), ("len", "len"), ("ret", "ret")],
    "mremap": [("old_addr", "old_addr"), ("old_len", "old_len"), ("len", "len"), ("flags", "flags"), ("ret", "ret")],
    "mprotect": [("addr", "addr"), ("len", "len"), ("prot", "prot"), ("ret", "ret")],
    "madvise": [("addr", "addr"), ("len", "len"), ("advice", "advice"), ("ret", "ret")],
    "brk": [("addr", "addr")],
    "shmat": [("len", "len"), ("ret", "ret")],
    "shmdt": [("addr", "addr"), ("ret", "ret")],
    "setname": [("addr", "addr"), ("len", "len"), ("ret", "ret")],
    "truncate": [("len", "len"), ("ret", "ret")],
    "punch": [("addr", "offset"), ("len", "len"), ("ret", "ret")],
}


def matches(recording, event, truth):
    if event["type"] != truth["what"] or event["tid"] != truth["tid"]:
        return False
    if not recording.time(truth["before"]) - MS <= event["t"] <= recording.time(truth["after"]) + MS:
        return False
    return all(number(event[ours]) == number(truth[theirs]) for ours, theirs in FIELDS[truth["what"]])


def near(recording, events, truth):
    """The events of the type at about that time, for the message of a failure."""
    window = [e for e in events if e["type"] == truth["what"]
              and abs(e["t"] - recording.time(truth["before"])) < 5 * MS]
    return "\n".join(str({k: v for k, v in e.items() if k != "stack"}) for e in window[:8])


def check_calls(self, name, recording):
    calls = [line for line in recording.lines if line["what"] in FIELDS]
    for pid in {call["pid"] for call in calls}:
        events = recording.events(*FIELDS, pid=pid)
        self.assertEqual([e["seq"] for e in events], sorted(e["seq"] for e in events))
        left = iter(events)
        for call in (c for c in calls if c["pid"] == pid):
            if not any(matches(recording, event, call) for event in left):
                self.fail(f"{name}: no event in this place for {call}\nnear it:\n{near(recording, events, call)}")


class Calls(SampleCase):
    names = [name for name in SAMPLES if name not in ("null_crash", "stack_growth")]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.record_samples(cls.names)

    def test_failed_calls_have_their_errors(self):
        errors = {}
        for name in ("mmap_churn", "mprotect_guard", "mremap_move", "madvise_dontneed", "shared_memory"):
            for event in self.recording(name).events(*FIELDS):
                if number(event["ret"]) < 0:
                    errors.setdefault(event["type"], set()).add(number(event["ret"]))
        self.assertLessEqual({-22, -17, -9}, errors["mmap"])
        self.assertIn(-22, errors["munmap"])
        self.assertIn(-14, errors["mremap"])
        self.assertLessEqual({-22, -12}, errors["mprotect"])
        self.assertLessEqual({-22, -12}, errors["madvise"])
        self.assertIn(-22, errors["shmdt"])

    def test_brk_results(self):
        recording = self.recording("heap_growth")
        call = recording.truth("brk")[0]
        events = [e for e in recording.events("brk") if number(e["addr"]) == number(call["addr"])]
        self.assertEqual([number(e["ret"]) for e in events], [number(call["addr"])])

    def test_file_mappings_name_their_file(self):
        recording = self.recording("file_map")
        path = recording.truth("file")[0]["path"]
        calls = [call for call in recording.truth("mmap") if call["ret"] > 0]
        for call in calls:
            event = next(e for e in recording.events("mmap") if matches(recording, e, call))
            self.assertEqual((event["name"], number(event["offset"])), (path, call["offset"]))

    def test_names(self):
        recording = self.recording("named_regions")
        calls = recording.truth("setname")
        if calls[0]["ret"] != 0:
            self.skipTest(f"this kernel cannot name anonymous memory (errno {-calls[0]['ret']})")
        events = recording.events("setname")
        self.assertEqual([e["name"] or "" for e in events[:2]], [c["name"] for c in calls[:2]])

    def test_guard_signals(self):
        recording = self.recording("mprotect_guard")
        said = [(s["number"], number(s["addr"]), s["tid"]) for s in recording.truth("signal")]
        seen = [(e["number"], number(e["addr"]), e["tid"]) for e in recording.events("signal")]
        self.assertEqual(seen, said)
        self.assertFalse(any(e["fatal"] for e in recording.events("signal")))

    def test_memory_calls_carry_stacks(self):
        events = [e for e in self.recording("mmap_churn").events("mmap") if number(e["ret"]) > 0]
        self.assertTrue(all(e["stack"] and number(e["stack"][0]["pc"]) > 0 for e in events[-20:]), events[-1])

    def test_without_fault_records_as_well(self):
        for mode in ("none", "frames", "uffd"):
            with self.subTest(mode=mode):
                if kernel.missing_for(mode):
                    self.skipTest(f"{mode}: {kernel.missing_for(mode)}")
                for name in ("mmap_churn", "mremap_move"):
                    check_calls(self, name, self.record_sample(name, "--faults", mode))


add_sample_tests(Calls, Calls.names, check_calls)

if __name__ == "__main__":
    main()
