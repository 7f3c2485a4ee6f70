"""The order of memory calls of many threads is the kernel's: the model equals /proc/PID/maps at every check, and the
events alone, applied one after the other, give what the program finds in the end."""

import os
import re

from cases import program
from vmvis import Case, main, number

SECONDS = 10 if os.environ.get("VMVIS_LONG") else 2
ARENA, PAGES, PAGE = 0x20000000000, 256, 4096
UNKNOWN = "?"


class Model:
    """Protection of each page of the arena, None where nothing is mapped."""

    def __init__(self):
        self.pages = [None] * PAGES

    def span(self, addr, length):
        first, last = (addr - ARENA) // PAGE, (addr + length - ARENA + PAGE - 1) // PAGE
        return range(max(first, 0), min(last, PAGES))

    def apply(self, event):
        kind, ret = event["type"], event["ret"]
        result = number(ret) if isinstance(ret, str) else ret
        unknown = False
        if kind == "mprotect" and result == -12:  # up to the first hole it was done
            for page in self.span(number(event["addr"]), number(event["len"])):
                if self.pages[page] is None:
                    break
                unknown = unknown or self.pages[page] == UNKNOWN
                self.pages[page] = UNKNOWN if unknown else event["prot"]
        if kind == "mremap" and result < 0:  # of several mappings some may have been moved
            for addr in (event["old_addr"], event["addr"]):
                for page in self.span(number(addr), number(event["len"])):
                    self.pages[page] = UNKNOWN
        if result < 0:
            return
        if kind == "mmap":
            for page in self.span(result, number(event["len"])):
                self.pages[page] = event["prot"]
        elif kind == "munmap":
            for page in self.span(number(event["addr"]), number(event["len"])):
                self.pages[page] = None
        elif kind == "mprotect":
            for page in self.span(number(event["addr"]), number(event["len"])):
                assert self.pages[page] is not None, f"protected before it was mapped: {event}"
                self.pages[page] = event["prot"]
        elif kind == "mremap":
            moved = [self.pages[page] for page in self.span(number(event["old_addr"]), number(event["old_len"]))]
            assert moved[0] is not None, f"moved before it was mapped: {event}"  # holes may follow (since 6.17)
            if not event["flags"] & 4:
                for page in self.span(number(event["old_addr"]), number(event["old_len"])):
                    self.pages[page] = None
            for page, prot in zip(self.span(result, number(event["len"])), moved):
                if prot is not None:
                    self.pages[page] = prot


class Order(Case):
    def run_once(self, seed, *options):
        recording = self.record([program("case_order"), SECONDS, seed], "-q", *options, env={"VMVIS_COMPARE": "1"},
                                timeout=SECONDS * 10 + 60)
        self.assert_clean(recording)
        self.assertEqual(recording.result.err, "")  # where the model differed it would say so
        calls = recording.events("mmap", "munmap", "mprotect", "mremap")
        self.assertGreater(len(calls), 1000)
        model, last = Model(), -1
        for call in calls:
            self.assertGreater(call["seq"], last)
            last = call["seq"]
            model.apply(call)
        kernel = [None] * PAGES
        for start, end, prot in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) (...)", recording.result.out, re.M):
            for page in range((int(start, 16) - ARENA) // PAGE, (int(end, 16) - ARENA) // PAGE):
                if 0 <= page < PAGES:
                    kernel[page] = prot
        ours = [self.word(prot) for prot in model.pages]
        self.assertEqual([prot for prot in ours if prot != UNKNOWN],
                         [now for prot, now in zip(ours, kernel) if prot != UNKNOWN])
        return recording

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

    def test_faults_follow_their_mappings(self):
        """No page of the range that the kernel chose is touched before its mmap or after its munmap."""
        self.need_faults("records")
        recording = self.run_once(5, "--faults=records", "--budget", "none")
        mapped, wrong = {}, []
        for event in recording.events("mmap", "munmap", "fault"):
            if event["type"] == "mmap" and number(event["addr"]) == 0 and not isinstance(event["ret"], int):
                mapped[number(event["ret"])] = number(event["len"])
            elif event["type"] == "munmap":
                mapped.pop(number(event["addr"]), None)
            elif event["type"] == "fault" and event["kind"] == "first-touch":
                at = number(event["addr"])
                inside = any(start <= at < start + length for start, length in mapped.items())
                if not inside and not ARENA <= at < ARENA + PAGES * PAGE and at in self.touched(recording):
                    wrong.append(event)
        self.assertEqual(wrong, [])

    def touched(self, recording):
        """Where the kernel ever put a mapping of its own choice."""
        if not hasattr(self, "_touched"):
            self._touched = {number(e["ret"]) for e in recording.events("mmap")
                             if number(e["addr"]) == 0 and not isinstance(e["ret"], int)}
        return self._touched


if __name__ == "__main__":
    main()
