"""--at, --from and --to in every form, and their agreement with each other."""

from vmvis import MS, Case, main, sample


class Times(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.record([sample("variable"), "--changes", "12"], "--interval", "20", "--budget", "none")
        cls.address = cls.recording.truth("variable")[0]["addr"]
        cls.events = cls.recording.events()
        cls.frames = cls.recording.ask("frames")

    def value(self, at):
        return self.recording.read(self.address, 8, "--at", at)

    def test_units(self):
        t = self.recording.time(self.recording.truth("store")[5]["after"] + 60 * MS) // MS * MS
        wanted = self.value(f"{t}ns")
        for form in (f"{t // MS}ms", f"{t / 1e9:.3f}s"):
            self.assertEqual(self.value(form), wanted, form)
        self.assertNotEqual(wanted["hex"], "??" * 8)

    def test_fractions_of_every_unit(self):
        self.assertEqual(self.value("0.5s"), self.value("500ms"))
        self.assertEqual(self.value("500.25ms"), self.value("500250000ns"))

    def test_frames(self):
        for frame in self.frames[:: max(1, len(self.frames) // 8)]:
            at_frame = self.value(f"frame:{frame['n']}")
            self.assertLessEqual(at_frame["captured_at"] or 0, frame["t"])
            self.assertEqual(at_frame["hex"], self.value(f"{frame['t']}ns")["hex"])

    def test_sequence_numbers(self):
        chosen = self.events[:: max(1, len(self.events) // 10)]
        for event in chosen:
            shown = self.recording.run("maps", "--json", "--at", f"seq:{event['seq']}")
            self.assertEqual(shown.status, 0, shown)
        last = [e for e in self.events if e["type"] == "mmap"][-1]
        self.assertEqual(self.recording.ask("maps", "--at", f"seq:{last['seq']}"),
                         self.recording.ask("maps", "--at", f"{last['t']}ns"))

    def test_mark(self):
        mark = self.recording.events("mark")[0]
        self.assertEqual(self.value(f"mark:{mark['text']}"), self.value(f"{mark['t']}ns"))

    def test_start_and_end(self):
        self.assertEqual(self.recording.run("maps", "--json", "--at", "start").status, 0)
        values = self.recording.truth("store")
        self.assertEqual(self.value("end")["hex"], int(values[-1]["value"], 16).to_bytes(8, "little").hex())
        self.assertEqual(self.value("end")["hex"], self.value(f"{self.recording.info['duration_ns']}ns")["hex"])

    def test_state_is_after_every_event_at_that_time(self):
        """An munmap that has happened at t has happened in the state at t, and not 1 ns before."""
        recording = self.record([sample("mmap_churn"), "--rounds", "16"])
        call = [e for e in recording.events("munmap") if e["ret"] == 0][-1]
        address = int(call["addr"], 16)

        def mapped(at):
            return any(int(m["start"], 16) <= address < int(m["end"], 16) for m in recording.ask("maps", "--at", at))

        self.assertFalse(mapped(f"{call['t']}ns"))
        self.assertTrue(mapped(f"{call['t'] - 1}ns"))

    def test_intervals_are_half_open(self):
        times = sorted({e["t"] for e in self.events})
        start, end = times[len(times) // 3], times[2 * len(times) // 3]
        shown = self.recording.ask("events", "--from", f"{start}ns", "--to", f"{end}ns")
        self.assertEqual([e["seq"] for e in shown], [e["seq"] for e in self.events if start <= e["t"] < end])

    def test_intervals_take_every_form(self):
        first, last = self.frames[2], self.frames[-2]
        shown = self.recording.ask("events", "--from", f"frame:{first['n']}", "--to", f"frame:{last['n']}")
        self.assertTrue(all(first["t"] <= e["t"] < last["t"] for e in shown))
        whole = self.recording.ask("events", "--from", "start", "--to", "end")
        self.assertGreaterEqual(len(whole), len(shown))
        after = self.recording.ask("events", "--from", "mark:half")
        self.assertTrue(all(e["t"] >= self.recording.events("mark")[0]["t"] for e in after))

    def test_limit_and_type(self):
        shown = self.recording.ask("events", "--event", "mmap", "--limit", "3")
        self.assertEqual([e["type"] for e in shown], ["mmap"] * 3)
        self.assertEqual(shown, [e for e in self.events if e["type"] == "mmap"][:3])

    def test_wrong_forms(self):
        for form, status in (("yesterday", 2), ("", 2), ("5 parsecs", 2), ("frame:x", 2), ("mark:none", 1),
                             ("frame:999999", 1), ("seq:99999999", 1)):
            with self.subTest(form=form):
                result = self.recording.run("maps", "--at", form)
                self.assertEqual((result.status, len(result.err.splitlines())), (status, 1), result)


if __name__ == "__main__":
    main()
