"""Mappings as /proc/PID/maps prints them, and the comparison with what a trace says.

The kernel may keep two touching mappings apart although their printed attributes continue each other; both sides are
joined before they are compared. [vsyscall] belongs to no address space and is left out.
"""

import os
import re
import time
from typing import NamedTuple

from vmvis import MS, number

_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) (\S+) (\d+) *(.*)")
QUIET_NS = 50 * MS


class Mapping(NamedTuple):
    start: int
    end: int
    prot: str
    offset: int
    dev: str
    inode: int
    name: str

    def __str__(self):
        return f"{self.start:x}-{self.end:x} {self.prot} {self.offset:08x} {self.dev} {self.inode} {self.name}"


def _continues(left, right):
    if left.end != right.start or left[2:3] + left[4:] != right[2:3] + right[4:]:
        return False
    if left.inode == 0 and left.dev == "00:00":
        return left.offset == right.offset == 0
    return left.offset + left.end - left.start == right.offset


def canonical(mappings):
    joined = []
    for mapping in sorted(mappings):
        if mapping.name == "[vsyscall]":
            continue
        if joined and _continues(joined[-1], mapping):
            joined[-1] = joined[-1]._replace(end=mapping.end)
        else:
            joined.append(mapping)
    return joined


def parse(text):
    """From the text of a maps file."""
    mappings = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if not match:
            raise AssertionError(f"not a line of a maps file: {line!r}")
        start, end, prot, offset, dev, inode, name = match.groups()
        name = name.replace("\\012", "\n")
        mappings.append(Mapping(int(start, 16), int(end, 16), prot, int(offset, 16), dev, int(inode), name))
    return canonical(mappings)


def _device(value):
    """"fe:01" from that, or from the number that stat has."""
    if isinstance(value, int):
        return f"{os.major(value):02x}:{os.minor(value):02x}"
    return value or "00:00"


def from_trace(objects):
    """From what `vmvis-inspect maps --json` prints."""
    return canonical(
        Mapping(number(o["start"]), number(o["end"]), o["prot"], number(o["offset"] or 0), _device(o["dev"]),
                o["inode"] or 0, o["name"] or "") for o in objects)


def differences(expected, actual):
    """Lines that tell the two apart; none if they are equal."""
    expected, actual = set(expected), set(actual)
    lines = [(m, f"  the program has     {m}") for m in expected - actual]
    lines += [(m, f"  the trace says      {m}") for m in actual - expected]
    return [line for _, line in sorted(lines)]


def children(pid):
    """All processes below pid, itself not included."""
    found = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as file:
                    below = [int(word) for word in file.read().split()]
                found += below
                waiting += below
        except OSError:
            pass  # gone meanwhile
    return found


class Moment(NamedTuple):
    """A read of a maps file, from a stretch of time in which every read gave the same text."""

    pid: int
    before: int  # CLOCK_MONOTONIC, ns
    after: int
    text: str


class Watcher:
    """Called every few ms with the pid of the recorder: reads /proc/PID/maps of everything below it, independently of
    the recorder, and keeps one moment of each stretch of at least 50 ms in which nothing changed."""

    def __init__(self, foreign=b"vmvis-record"):
        self.foreign = foreign  # a process that still runs the recorder's program is not of interest
        self.stretches = {}  # pid -> reads of the current stretch
        self.moments = []

    def __call__(self, recorder):
        for pid in children(recorder):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            try:
                with open(f"/proc/{pid}/maps", "rb", buffering=0) as file:
                    text = b"".join(iter(lambda: file.read(1 << 20), b""))
            except OSError:
                continue
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            if text and self.foreign not in text:
                self._add(Moment(pid, before, after, text.decode(errors="surrogateescape")))

    def _add(self, moment):
        stretch = self.stretches.setdefault(moment.pid, [])
        if stretch and stretch[-1].text != moment.text:
            self._close(stretch)
            stretch.clear()
        stretch.append(moment)

    def _close(self, stretch):
        if stretch and stretch[-1].before - stretch[0].after >= QUIET_NS:
            self.moments.append(stretch[len(stretch) * 3 // 4])

    def finish(self):
        for stretch in self.stretches.values():
            self._close(stretch)
        self.stretches.clear()
        return self.moments
