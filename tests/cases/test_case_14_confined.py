"""Programs that confine themselves: filters that kill, refuse, trace or ask a listener; strict mode; user dispatch.

Guard: recorder/track.c may_inject, which injects nothing where a filter is not ours: without it the filter killed the
program's child. recorder/confine.c: without confine_entry strict mode was refused, and a call that a filter of the
program's own has traced was made, where alone it does not exist.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import number


class Confined(WorldCase):
    def each(self, how, *options, **more):
        for source, chosen in self.each_source():
            with self.subTest(how=how, source=source):
                yield self.compare([program("case_14_filters"), how], *chosen, *options, timeout=20, **more)

    def test_filter_that_kills(self):
        for recording in self.each("kill", *BUSY):
            self.assertIn("confined: 200 of 200\nchild: 200 of 200\nchild ended with 0x300\nafter: 200 of 200",
                          recording.alone.out)
            self.assertEqual(len([e for e in self.tree(recording) if e["type"] == "munmap" and e["len"] == 16384]), 800)

    def test_filter_that_refuses(self):
        for recording in self.each("errno"):
            self.assertIn("munmap is refused: 0 of 200", recording.alone.out)
            kept = [m for m in recording.ask("maps", "--at", "end") if m["kind"] == "anonymous"]
            self.assertGreater(sum(number(m["end"]) - number(m["start"]) for m in kept), 200 * 16384)

    def test_filter_that_traces(self):
        for recording in self.each("trace"):
            self.assertIn("getpriority: -1 1", recording.alone.out)

    def test_strict(self):
        for recording in self.each("strict", *BUSY):
            self.assertEqual(recording.alone.out.count("strict: 0\n"), 50)
        for recording in self.each("forbidden", *BUSY):
            self.assertEqual(recording.alone.status, -9)

    def test_user_dispatch(self):
        for recording in self.each("dispatch", *BUSY):
            self.assertIn("dispatched: 200", recording.alone.out)

    def test_listener(self):
        for recording in self.each("listener", *BUSY):
            self.assertIn("under a listener: 200 of 200\nended with 0", recording.alone.out)
            child = recording.events("fork")[0]["child"]
            found = [m for m in recording.ask("maps", "--at", "end", "--pid", str(child))
                     if number(m["start"]) <= 0x30000000 < number(m["end"])]
            self.assertEqual([(m["start"], m["prot"]) for m in found], [("0x30000000", "rw-p")])
            self.assertTrue(any("listener" in e["text"] for e in self.tree(recording) if e["type"] == "note"))


if __name__ == "__main__":
    main()
