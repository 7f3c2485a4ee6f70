"""The JSON of every command has the keys that scripts rely on, with the right types."""

import re

from recorded_samples import SampleCase
from vmvis import main

ADDRESS = re.compile(r"0x[0-9a-f]+")
CERTAINTIES = {"exact", "stale", "torn", "partial", "unknown"}


def address(value):
    return isinstance(value, str) and bool(ADDRESS.fullmatch(value))


def integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def natural(value):
    return integer(value) and value >= 0


def text(value):
    return isinstance(value, str)


def truth(value):
    return isinstance(value, bool)


def any_number(value):
    return integer(value) or isinstance(value, float)


def result(value):
    """Of a call: an address, 0, or a negative errno."""
    return integer(value) or address(value)


def anything(value):
    return True


def optional(check):
    return lambda value: value is None or check(value)


def one_of(*values):
    return lambda value: value in values


def many(check):
    return lambda value: isinstance(value, list) and all(check(element) for element in value)


def record(**fields):
    return lambda value: isinstance(value, dict) and not problems(value, fields)


def problems(value, fields):
    found = []
    for name, check in fields.items():
        if name not in value:
            found.append(f"{name} is missing")
        elif not check(value[name]):
            found.append(f"{name} is {value[name]!r}")
    return found


STACK = many(record(pc=address))
EXIT = optional(lambda value: isinstance(value, dict) and len(value) == 1 and
                all(key in ("code", "signal") and integer(number) for key, number in value.items()))
INFO = dict(format=anything, program=many(text), pid=natural, started=anything, start_monotonic_ns=natural,
            duration_ns=natural, complete=truth, arch=text, page_size=natural, processes=natural, threads=natural,
            frames=natural, events=lambda v: isinstance(v, dict) and all(natural(n) for n in v.values()),
            pages_captured=natural, file_bytes=natural, raw_bytes=natural,
            gaps=many(record(**{"from": natural, "to": optional(natural), "space": optional(natural), "why": text})),
            sources=record(faults=text, maps=text, why=optional(text)),
            cost=record(held_ns=natural, fault_ns=natural, percent=any_number), exit=EXIT)
VERIFY = dict(ok=truth, chunks=natural, bytes=natural, complete=truth,
              errors=many(record(offset=natural, chunk=anything, what=text)))
SUMMARY = dict(peak_resident=natural, peak_virtual=natural, final_resident=natural,
               growers=many(record(region=text, bytes=integer, stack=optional(STACK))),
               busiest=many(record(addr=address, writes=natural)), notes=many(text))
FRAMES = dict(n=natural, t=natural, space=natural, pid=natural, pages_written=natural, pause_ns=natural, torn=natural,
              why=one_of("interval", "signal", "exec", "exit"))
MAPS = dict(pid=natural, space=natural, start=address, end=address,
            prot=lambda v: text(v) and bool(re.fullmatch(r"[r-][w-][x-][ps]", v)),
            kind=one_of("program", "library", "file", "heap", "stack", "anonymous", "kernel"), shared=truth,
            name=optional(text), offset=natural, dev=anything, inode=optional(natural), resident=optional(natural),
            written=optional(natural))
PAGES = dict(addr=address, len=natural, size=natural,
             state=one_of("absent", "zero", "resident", "swapped", "guard", "unknown"), shared=optional(truth),
             written_at=optional(natural), captured_at=optional(natural), certainty=one_of(*CERTAINTIES))
THREADS = dict(pid=natural, tid=natural, name=optional(text), state=one_of("running", "sleeping", "stopped", "gone"),
               syscall=anything, pc=optional(address), sp=optional(address), fp=optional(address),
               captured_at=optional(natural), certainty=one_of(*CERTAINTIES))
REGS = dict(THREADS, regs=lambda v: isinstance(v, dict) and all(address(r) for r in v.values()))
READ = dict(addr=address, len=natural, hex=lambda v: text(v) and bool(re.fullmatch(r"([0-9a-f]{2}|\?\?)*", v)),
            captured_at=optional(natural), certainty=one_of(*CERTAINTIES))

EVENT = dict(t=natural, seq=natural, type=text, pid=optional(integer), tid=optional(integer), space=optional(natural))
CALL = dict(addr=optional(address), len=natural, ret=result)
EVENTS = {
    "mmap": dict(CALL, prot=anything, flags=anything, name=optional(text), offset=natural, dev=anything,
                 ino=optional(natural), stack=optional(STACK)),
    "munmap": dict(CALL, stack=optional(STACK)),
    "mremap": dict(CALL, old_addr=address, old_len=natural, flags=anything, stack=optional(STACK)),
    "mprotect": dict(CALL, prot=anything, stack=optional(STACK)),
    "madvise": dict(CALL, advice=anything, stack=optional(STACK)),
    "brk": dict(addr=optional(address), ret=result),
    "shmat": CALL,
    "shmdt": CALL,
    "punch": CALL,
    "truncate": CALL,
    "setname": dict(addr=address, len=natural, name=optional(text)),
    "fault": dict(addr=address, pc=optional(address), kind=one_of("first-touch", "write", "populated", "file", "unknown"),
                  access=one_of("read", "write", "exec", None), kernel=optional(truth),
                  source=one_of("records", "uffd", "frames"), stack=optional(STACK)),
    "fork": dict(child=natural, child_space=natural, vfork=truth),
    "exec": dict(path=text, argv=many(text)),
    "thread-start": {},
    "thread-exit": dict(code=optional(integer)),
    "exit": {},
    "signal": dict(number=natural, code=integer, addr=optional(address), fatal=truth),
    "mark": dict(text=text),
}
# samples that together show every type of event above
SAMPLES = ["mmap_churn", "mremap_move", "mprotect_guard", "madvise_dontneed", "shared_memory", "heap_growth", "fork_cow",
           "threads", "named_regions", "exec_chain"]


class Contract(SampleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.record_samples(SAMPLES)

    def check(self, objects, fields):
        self.assertTrue(objects, "nothing was printed")
        for value in objects:
            self.assertEqual(problems(value, fields), [], value)

    def everywhere(self, command, fields, *options):
        for name in SAMPLES:
            with self.subTest(sample=name):
                self.check(self.recording(name).ask(command, *options), fields)

    def test_info(self):
        self.everywhere("info", INFO)

    def test_verify(self):
        self.everywhere("verify", VERIFY)

    def test_summary(self):
        self.everywhere("summary", SUMMARY)

    def test_frames(self):
        self.everywhere("frames", FRAMES)

    def test_maps(self):
        for moment in ("start", "frame:1", "end"):
            self.everywhere("maps", MAPS, "--at", moment)

    def test_pages(self):
        self.everywhere("pages", PAGES, "--at", "end")

    def test_pages_of_a_range(self):
        pages = self.recording("threads").ask("pages", "--at", "end", "[stack]")
        self.check(pages, PAGES)
        ends = [int(p["addr"], 16) + p["len"] for p in pages]
        self.assertEqual([int(p["addr"], 16) for p in pages[1:]], ends[:-1], "runs follow each other without a gap")

    def test_threads(self):
        self.everywhere("threads", THREADS, "--at", "end")

    def test_regs(self):
        self.everywhere("regs", REGS, "--at", "end")

    def test_read(self):
        for place in ("[stack]", "[stack],64", "map:[heap],16", "0x10,4"):
            shown = self.recording("threads").run("read", "--json", "--at", "end", place)
            self.assertIn(shown.status, (0, 1), shown)
        self.check(self.recording("threads").ask("read", "--at", "end", "[stack],64", "[heap],32"), READ)

    def test_events_of_every_type(self):
        seen = set()
        for name in SAMPLES:
            for event in self.recording(name).events():
                self.assertEqual(problems(event, EVENT), [], event)
                self.assertEqual(problems(event, EVENTS.get(event["type"], {})), [], event)
                seen.add(event["type"])
        missing = set(EVENTS) - seen
        self.assertFalse(missing, f"no sample showed {sorted(missing)}")

    def test_sequence_numbers_and_times_rise(self):
        for name in SAMPLES:
            events = self.recording(name).events()
            numbers = [e["seq"] for e in events if e.get("kind") != "populated"]
            self.assertEqual(numbers, sorted(set(numbers)))
            numbers = [e["seq"] for e in events]  # a run of pages that a frame found resident has one number
            self.assertEqual(numbers, sorted(numbers))
            times = [e["t"] for e in events]
            self.assertEqual(times, sorted(times))

    def test_counts_agree(self):
        recording = self.recording("mmap_churn")
        info = recording.info
        self.assertEqual(info["frames"], len(recording.ask("frames")))
        self.assertEqual(info["events"]["mmap"], len(recording.events("mmap")))
        self.assertEqual(info["file_bytes"], recording.path.stat().st_size)
        self.assertEqual(recording.one("verify")["bytes"], info["file_bytes"])

    def test_pages_and_maps_agree(self):
        recording = self.recording("mmap_churn")
        moment = recording.truth("maps")[2]
        at = ("--at", recording.at(moment["before"]))
        total = sum(m["resident"] or 0 for m in recording.ask("maps", *at))
        resident = sum(p["len"] for p in recording.ask("pages", *at) if p["state"] in ("resident", "zero"))
        self.assertEqual(total, resident)

    def test_text_for_people_of_every_command(self):
        path = self.recording("threads").path
        for command in ("info", "verify", "summary", "frames", "events", "maps", "pages", "threads", "regs"):
            shown = self.recording("threads").run(command)
            self.assertEqual((shown.status, shown.err), (0, ""), f"{path}: {shown}")
            self.assertGreater(len(shown.out), 10)
            self.assertFalse(shown.out.startswith("{"))


if __name__ == "__main__":
    main()
