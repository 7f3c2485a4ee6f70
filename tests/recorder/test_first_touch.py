"""Every page that samples/heap_growth touches is in the trace as one first touch: right thread, right time, none missing.
With huge pages it is one fault a huge page."""

from vmvis import MS, Case, main, number, sample

PAGE = 4096
HUGE_PAGE = 2 << 20


def first_touches_by_page(recording):
    found = {}
    for event in recording.events("fault"):
        if event["kind"] == "first-touch":
            found.setdefault(number(event["addr"]) // PAGE, []).append(event)
    return found


class FirstTouch(Case):
    def check_touches(self, mode, recording):
        found = first_touches_by_page(recording)
        touches = recording.truth("first_touch")
        self.assertGreater(len(touches), 1000)
        missing = [t for t in touches if number(t["addr"]) // PAGE not in found]
        if missing:
            self.fail(f"{len(missing)} of {len(touches)} pages have no first touch, such as {missing[:3]}")
        for touch in touches:
            events = found[number(touch["addr"]) // PAGE]
            self.assertEqual(len(events), 1, f"{touch}: {events}")
            self.check_touch(mode, recording, touch, events[0])

    def check_touch(self, mode, recording, touch, event):
        self.assertEqual(event["tid"], touch["tid"], f"{touch}: {event}")
        self.assertEqual(event["source"], mode)
        self.assertIs(event["kernel"], False)
        self.assertIn(event["access"], ("write", None))
        self.assertGreaterEqual(event["t"], recording.time(touch["before"]) - MS, f"{touch}: {event}")
        self.assertLessEqual(event["t"], recording.time(touch["after"]) + MS, f"{touch}: {event}")

    def test_records(self):
        self.need_faults("records")
        self.check_touches("records", self.record([sample("heap_growth")], "--faults", "records"))

    def test_uffd(self):
        self.need_faults("uffd")
        self.check_touches("uffd", self.record([sample("heap_growth")], "--faults", "uffd"))

    def test_uffd_knows_that_it_was_a_write(self):
        self.need_faults("uffd")
        recording = self.record([sample("heap_growth"), "--pages", "64"], "--faults", "uffd")
        found = first_touches_by_page(recording)
        for touch in recording.truth("first_touch"):
            self.assertEqual(found[number(touch["addr"]) // PAGE][0]["access"], "write")

    def test_order_is_that_of_the_program(self):
        for mode in ("records", "uffd"):
            with self.subTest(mode=mode):
                self.need_faults(mode)
                recording = self.record([sample("heap_growth"), "--pages", "100"], "--faults", mode)
                pages = [number(t["addr"]) // PAGE for t in recording.truth("first_touch")]
                wanted = set(pages)
                seen = [number(e["addr"]) // PAGE for e in recording.events("fault")
                        if e["kind"] == "first-touch" and number(e["addr"]) // PAGE in wanted]
                differing = [i for i, (a, b) in enumerate(zip(seen, pages)) if a != b]
                self.assertEqual((len(seen), differing[:5]), (len(pages), []))

    def test_huge_pages(self):
        self.need_faults("records")
        recording = self.record([sample("heap_growth"), "--thp", "--checkpoints", "2"], "--faults", "records")
        said = recording.truth("huge")[0]
        if said["huge_bytes"] != said["len"]:
            self.skipTest(f"this kernel made {said['huge_bytes']} of {said['len']} bytes huge")
        start, end = number(said["addr"]), number(said["addr"]) + said["len"]
        faults = [e for e in recording.events("fault") if start <= number(e["addr"]) < end]
        touched = [number(t["addr"]) for t in recording.truth("first_touch")]
        self.assertEqual([number(e["addr"]) // HUGE_PAGE * HUGE_PAGE for e in faults], touched)
        self.check_huge_cells(recording, said, start, end)

    def check_huge_cells(self, recording, said, start, end):
        pages = recording.ask("pages", "--at", recording.at(said["t"]), f"{said['addr']},{said['len']}")
        inside = [p for p in pages if start <= number(p["addr"]) < end]
        self.assertEqual({p["size"] for p in inside}, {HUGE_PAGE}, inside)
        self.assertEqual({p["state"] for p in inside}, {"resident"}, inside)
        self.assertEqual(sum(p["len"] for p in inside), said["len"])


if __name__ == "__main__":
    main()
