"""Tens of thousands of mappings, up to the kernel's limit.

Guard: recorder/track.c registers whole mappings only: where a part of one is registered, it is split, and the program
reaches the limit earlier.
"""

import os

from cases import WorldCase, main, program

COUNT = 70000 if os.environ.get("VMVIS_LONG") else 1500


class Mappings(WorldCase):
    def test_as_many_as_alone(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_24_mappings"), COUNT], *options, timeout=280)
            maps = [m for m in recording.ask("maps", "--at", "end")]
            made = int(recording.alone.out.split("made ")[1])
            self.assertGreaterEqual(len(maps), 2 * made - 1)

    def test_the_model_follows(self):
        self.compare([program("case_24_mappings"), 150], env={"VMVIS_COMPARE": "1"})


if __name__ == "__main__":
    main()
