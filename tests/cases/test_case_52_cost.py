"""Storms of faults and calls: memory of the recorder stays bounded, nothing is held for ever, and losses are told.

Guard: recorder/sink.c sink_wait_room makes the reader of fault records wait for the writer: without it its queue grows
with the storm.
"""

import os
import sys

from cases import WorldCase, main
from vmvis import BUILD, RECORD, Trace, run, sample

MB = 2000 if os.environ.get("VMVIS_LONG") else 300


class Cost(WorldCase):
    def storm(self, *options):
        seen = [0]

        def look(pid):
            try:
                with open(f"/proc/{pid}/status") as status:
                    seen[0] = max([seen[0]] + [int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")])
            except OSError:
                pass
        path = self.fresh()
        fill = [sample("random_fill"), "--mb", str(MB), "--passes", "2", "--seconds", "1"]
        result = run([RECORD, "-q", "-o", path, *options, "--", *fill], timeout=200, watch=look)
        self.assertEqual(result.status, 0, result)
        return Trace(path), seen[0], result

    def test_within_the_budget(self):
        for source, options in self.each_source():
            trace, peak, _ = self.storm(*options)
            self.assert_clean(trace)
            self.assertLess(peak, 64 + 64 + 32 + MB // 25, source)  # of contents, and of one producer's events

    def test_without_a_budget(self):
        self.need_faults("records")
        trace, peak, _ = self.storm("--budget", "none", "--content", "none")
        self.assert_clean(trace)
        self.assertLess(peak, 300 + MB // 10)
        faults = trace.info["faults"]
        told = sum(1 for gap in trace.info["gaps"] if "lost" in gap["why"])
        self.assertTrue(told or faults["first-touch"] >= MB * 256, (faults, trace.info["gaps"]))

    def test_what_is_left_out_is_told(self):
        self.need_faults("records")
        trace, _, _ = self.storm("--faults", "records", "--budget", "1%")
        steps = {e["step"] for e in trace.events("governor")}
        self.assertTrue(steps, "a budget of 1 % cannot hold in a storm of faults, and says so")


if __name__ == "__main__":
    main()
