"""Memory that is seldom met: secretmem, a memfd mapped twice, System V shared memory, a file cut under its mapping."""

import re

from cases import BUSY, WorldCase, main, program
from vmvis import number


def same_but_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "ADDR", text)


class StrangeMemory(WorldCase):
    def test_all(self):
        alone = same_but_addresses(self.alone([program("case_strange")]).out)
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.record([program("case_strange")], "-q", *options, *BUSY)
                self.assert_clean(recording)
                self.assertEqual(same_but_addresses(recording.result.out), alone)
                self.assertIn("truncated: SIGBUS", alone)
                said = {name: (addr, int(value)) for name, addr, value in
                        re.findall(r"^(\w+) (0x\w+) (\d+)$", recording.result.out, re.M)}
                for name, (addr, value) in said.items():
                    self.check(recording, name, addr, value)

    def check(self, recording, name, addr, value):
        at = hex(number(addr) + 100) if name in ("first", "second") else addr
        if name == "again":
            return  # detached since
        answer = recording.read(at, 1, "--at", "end")
        if name == "secret":  # nobody but the program can read it
            self.assertIn(answer["hex"], ("??", f"{value:02x}"))
        elif answer["hex"] != "??":
            self.assertEqual(int(answer["hex"], 16), value, (name, answer))
        if answer["hex"] == "??":
            self.assertNotEqual(answer["certainty"], "exact", name)
        mapped = [m for m in recording.ask("maps", "--at", "end") if number(m["start"]) <= number(at) < number(m["end"])]
        self.assertEqual(len(mapped), 1, name)
        self.assertEqual(mapped[0]["shared"], name != "private", name)


if __name__ == "__main__":
    main()
