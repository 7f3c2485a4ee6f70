"""Bytes at a moment: `read --at` gives what the program had in memory then."""

import random

from recorded_samples import SampleCase, add_sample_tests
from samples import SAMPLES
from vmvis import MS, Case, main, sample

EVERY_FRAME = ("--interval", "20", "--budget", "none")


def check_values(self, name, recording):
    """What a sample said its memory holds, after a quiet time of at least three frames."""
    values = recording.truth("value")
    random.Random(1).shuffle(values)
    for value in values:
        length = len(value["hex"]) // 2
        shown = recording.read(value["addr"], length, "--pid", value["pid"], "--at", recording.at(value["t"]))
        self.assertEqual(shown["hex"], value["hex"], f"{name}, {value['name']}, {value['addr']}: {shown}")
        self.assertNotIn(shown["certainty"], ("unknown", None))


class Values(SampleCase):
    names = [name for name in SAMPLES if name not in ("heap_growth", "named_regions", "null_crash", "variable",
                                                      "vfork_spawn")]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.record_samples(cls.names, *EVERY_FRAME)

    def test_there_is_something_to_compare(self):
        for name in self.names:
            self.assertTrue(self.recording(name).truth("value"), name)


add_sample_tests(Values, Values.names, check_values)


class Variable(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = cls.record([sample("variable"), "--changes", "24"], *EVERY_FRAME)
        cls.address = cls.recording.truth("variable")[0]["addr"]

    def value_at(self, monotonic_ns):
        return self.recording.read(self.address, 8, "--at", self.recording.at(monotonic_ns))

    def test_each_value_60_ms_after_it_was_written(self):
        stores = self.recording.truth("store")
        chosen = random.Random(7).sample(stores, 20)
        for store in chosen:
            shown = self.value_at(store["after"] + 60 * MS)
            wanted = int(store["value"], 16).to_bytes(8, "little").hex()
            self.assertEqual(shown["hex"], wanted, f"value {store['value']} logged at {store['after']}: {shown}")

    def test_capture_time_and_certainty(self):
        """A value is never said to be older or newer than it was seen."""
        for store in self.recording.truth("store")[2:8]:
            moment = store["after"] + 60 * MS
            shown = self.value_at(moment)
            self.assertIn(shown["certainty"], ("exact", "stale"))
            self.assertLessEqual(shown["captured_at"], self.recording.time(moment))
            self.assertGreaterEqual(shown["captured_at"], self.recording.time(store["before"]) - 1)

    def test_what_is_not_mapped_is_not_known(self):
        result = self.recording.run("read", "--json", "0x10,16", "--at", "end")
        self.assertIn(result.status, (0, 1), result)
        if result.status == 0:
            self.assertIn("??" * 16, result.out)

    def test_raw_bytes(self):
        store = self.recording.truth("store")[5]
        moment = self.recording.at(store["after"] + 60 * MS)
        result = self.recording.run("read", "--raw", f"{self.address},8", "--at", moment)
        self.assertEqual(result.status, 0, result)
        self.assertEqual(result.raw_out, int(store["value"], 16).to_bytes(8, "little"))
        refused = self.recording.run("read", "--raw", "0x10,8", "--at", moment)
        self.assertEqual((refused.status, refused.raw_out), (1, b""), refused)


if __name__ == "__main__":
    main()
