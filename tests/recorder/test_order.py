"""The order of memory calls of many threads is the kernel's: the model equals /proc/PID/maps at every check, and the
events alone, applied one after the other, give what the program finds in the end. No event stands before its cause.

Guard: recorder/call_order.c: with calls let in at once the model differed from the maps after hundreds of calls.
recorder/sink.c earliest: without waiting for the promises of all producers, faults stood before their mmap.
recorder/fault_server.c: with faults told whose page was unmapped meanwhile, they stood after their munmap.
recorder/fault_kind.c: without looking at the mapping's rights, touches that were refused counted as first touches.
"""

import os
import re

from cases import program
from vmvis import Case, main, number

SECONDS = 10 if os.environ.get("VMVIS_LONG") else 2
ARENA, PAGES, PAGE = 0x20000000000, 256, 4096
UNKNOWN = "?"
LATE = re.compile(r"a memory call of thread (\d+) takes long: its order with others is unknown")
CALLS = ("mmap", "munmap", "mprotect", "mremap", "madvise")


class Model:
    """Protection of each page that a call ever mapped, None where nothing is mapped; written again from the calls'
    meaning alone, without the recorder's."""

    def __init__(self):
        self.pages = {}
        self.threads, self.late, self.uncertain = set(), set(), set()

    @staticmethod
    def span(addr, length):
        return range(addr // PAGE, (addr + length + PAGE - 1) // PAGE)

    def fill(self, addr, length, prot):
        for page in self.span(addr, length):
            self.pages[page] = prot

    def note(self, text):
        """Where a call takes long because processors are busy, the order of it and of those beside it is not known."""
        late = LATE.match(text)
        if late:
            self.late.add(int(late[1]))

    def call(self, event):
        self.threads.add(event["tid"])
        if event["tid"] in self.late:
            self.late.remove(event["tid"])
            self.uncertain = self.threads.copy()  # each may be in a call that began beside it
        if self.late or event["tid"] in self.uncertain:
            self.uncertain.discard(event["tid"])
            self.forget(event)
        else:
            self.apply(event)

    def forget(self, event):
        self.fill(number(event["addr"]), number(event["len"]), UNKNOWN)
        if event["type"] == "mremap":
            self.fill(number(event["old_addr"]), number(event["old_len"]), UNKNOWN)
        if event["type"] == "mmap" and isinstance(event["ret"], str):
            self.fill(number(event["ret"]), number(event["len"]), UNKNOWN)

    def apply(self, event):
        kind, ret = event["type"], event["ret"]
        result = number(ret) if isinstance(ret, str) else ret
        if kind in ("mprotect", "mremap") and result < 0:  # of several mappings some may have been changed
            self.forget(event)
        if result < 0:
            return
        if kind == "mmap":
            self.fill(result, number(event["len"]), event["prot"])
        elif kind == "munmap":
            self.fill(number(event["addr"]), number(event["len"]), None)
        elif kind == "mprotect":
            self.must_be_mapped(event, "addr")
            self.fill(number(event["addr"]), number(event["len"]), event["prot"])
        elif kind == "madvise":
            self.must_be_mapped(event, "addr")
        elif kind == "mremap":
            self.move(event, result)

    def must_be_mapped(self, event, key, length="len"):
        """Of calls that succeed only where something is mapped."""
        for page in self.span(number(event[key]), number(event[length])):
            assert self.pages.get(page, UNKNOWN) is not None, f"before {page * PAGE:#x} was mapped: {event}"

    def move(self, event, result):
        old = self.span(number(event["old_addr"]), number(event["old_len"]))
        moved = [self.pages.get(page) for page in old]
        assert moved[0] is not None, f"moved before it was mapped: {event}"  # holes may follow (since 6.17)
        if not event["flags"] & 4:
            for page in old:
                self.pages[page] = None
        for page, prot in zip(self.span(result, number(event["len"])), moved):
            if prot is not None:
                self.pages[page] = prot

    def knows(self, fault):
        return self.pages.get(number(fault["addr"]) // PAGE, UNKNOWN) != UNKNOWN

    def may_touch(self, fault):
        """Whether the fault stands where something is mapped that may be touched. Of pages no call ever mapped: yes.
        What a frame found, or a fault that waited to be served, may have been protected since it was touched."""
        prot = self.pages.get(number(fault["addr"]) // PAGE, UNKNOWN)
        return prot is not None and (prot != 0 or fault["source"] != "records")


class EarlyFaults:
    """Faults where nothing is mapped. One that has its cause in a call whose end is not told yet is right: the thread
    of that call was in it all the time, so nothing else is told of it in between."""

    def __init__(self):
        self.waiting, self.wrong = [], []

    def add(self, fault):
        self.waiting.append((fault, set()))

    def next_event(self, event, model):
        for fault, threads in self.waiting[:]:
            if event["type"] in CALLS and model.may_touch(fault):
                self.waiting.remove((fault, threads))
                if event["tid"] in threads and model.knows(fault):
                    self.wrong.append(fault)
            threads.add(event["tid"])


def story(events, faults):
    """What happened to the page of the first of the faults."""
    if not faults:
        return ""
    page = number(faults[0]["addr"]) // PAGE
    lines = []
    for event in events:
        length = event.get("len") or 1
        ranges = [event.get(key) for key in ("addr", "old_addr", "ret")]
        if any(isinstance(at, str) and page in Model.span(number(at), length) for at in ranges) or event["type"] == "note":
            lines.append(" ".join(f"{key}={value}" for key, value in event.items() if key not in ("stack", "pid", "space")))
            if event["seq"] > faults[0]["seq"] + 500:
                break
    return "\n".join(lines[-12:])


class Order(Case):
    def run_once(self, seed, *options):
        recording = self.record([program("case_order"), SECONDS, seed], "-q", *options, env={"VMVIS_COMPARE": "1"},
                                timeout=SECONDS * 10 + 60)
        self.assert_clean(recording)
        self.assertEqual(recording.result.err, "")  # where the model differed it would say so
        self.check(recording, recording.events(*CALLS, "fault", "note"))

    def check(self, recording, events):
        self.assertGreater(len([e for e in events if e["type"] in CALLS]), 1000)
        model, early, last = Model(), EarlyFaults(), -1
        for event in events:
            self.assertGreaterEqual(event["seq"], last)  # pages of one frame share theirs
            last = event["seq"]
            if event["type"] in CALLS:
                model.call(event)
            elif event["type"] == "note":
                model.note(event["text"])
            early.next_event(event, model)
            if event["type"] == "fault" and event["kind"] != "unknown" and not model.may_touch(event):
                early.add(event)
        wrong = early.wrong + [fault for fault, _ in early.waiting]
        self.assertEqual(wrong[:3], [], f"{len(wrong)} faults before their pages were mapped, or after\n" + story(events, wrong))
        kernel = [None] * PAGES
        for start, end, prot in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (...)", recording.result.out, re.M):
            for page in range((int(start, 16) - ARENA) // PAGE, (int(end, 16) - ARENA) // PAGE):
                if 0 <= page < PAGES:
                    kernel[page] = prot
        ours = [self.word(model.pages.get(ARENA // PAGE + page)) for page in range(PAGES)]
        self.assertEqual([prot for prot in ours if prot != UNKNOWN],
                         [now for prot, now in zip(ours, kernel) if prot != UNKNOWN])

    @staticmethod
    def word(prot):
        if prot is None or isinstance(prot, str):
            return prot
        return "".join(letter if prot & bit else "-" for letter, bit in (("r", 1), ("w", 2), ("x", 4)))

    def test_stress(self):
        for seed, options in ((1, []), (2, ["-i", "5", "--budget", "none"]), (3, ["--faults", "none"])):
            with self.subTest(options=options):
                self.run_once(seed, *options)

    def test_stress_with_userfaultfd(self):
        self.need_faults("uffd")
        self.run_once(4, "--faults=uffd", "-i", "5", "--budget", "none")


if __name__ == "__main__":
    main()
