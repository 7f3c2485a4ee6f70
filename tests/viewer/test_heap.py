"""The heap of glibc, compared with what a program says that malloc gave it."""

import json
import random
import sys

from vmvis import SOURCE, Case, main, number, run

HEADER = 16
BUSY = ("--interval", "3", "--budget", "none")


class Heap(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.fresh("heap_truth")
        made = run(["gcc", "-O1", "-pthread", "-o", cls.program, SOURCE / "tests/viewer/heap_truth.c"])
        assert made.status == 0, made

    def frame_within(self, frames, start, end):
        inside = [f for f in frames if f["t"] > start and f["t"] + f["pause_ns"] < end]
        return inside[-1] if inside else None

    def test_equals_the_truth(self):
        recording = self.record([self.program], "-q", *BUSY, timeout=60)
        frames = recording.ask("frames")
        log = sorted(((recording.time(e["t"]), e["what"], number(e["addr"]), e["size"])
                      for e in recording.truth("malloc", "free")), key=lambda e: e[0])
        self.assertGreater(len(log), 5000)
        looked, arenas, states = 0, set(), set()
        for quiet in recording.truth("quiet"):
            frame = self.frame_within(frames, recording.time(quiet["from"]), recording.time(quiet["to"]))
            if frame is None:
                continue
            looked += 1
            live, gone = {}, set()
            for t, what, addr, size in log:
                if t >= frame["t"]:
                    break
                if what == "malloc":
                    live[addr] = size
                    gone.discard(addr)
                else:
                    live.pop(addr, None)
                    gone.add(addr)
            chunks = recording.ask("heap", "--at", f"frame:{frame['n']}")
            self.assertEqual([c for c in chunks if c["size"] is None or c["corrupt"]], [])
            by_addr = {number(c["addr"]): c for c in chunks}
            for addr, size in live.items():
                self.assertIn(addr, by_addr, (frame, hex(addr), size))
                chunk = by_addr[addr]
                self.assertIn(chunk["state"], ("in-use", "mmapped"), (frame, chunk))
                self.assertGreaterEqual(chunk["size"] - (HEADER if chunk["state"] == "mmapped" else 8), size)
                arenas.add(chunk["arena"])
            for addr in gone:
                self.assertNotIn(by_addr.get(addr, {}).get("state"), ("in-use", "mmapped"), (frame, hex(addr)))
            in_use = {a for a, c in by_addr.items() if c["state"] in ("in-use", "mmapped")}
            # beyond the program's own: caches and stacks' tables of the C library, an array for its files
            self.assertLess(len(in_use - set(live)), 12)
            states.update(c["state"] for c in chunks)
        self.assertGreaterEqual(looked, 45)
        self.assertGreaterEqual(len(arenas), 3, "two threads' arenas, and mappings of their own")
        self.assertEqual(states, {"in-use", "free", "tcache", "top", "mmapped"} | (states & {"fastbin"}))

    def test_a_smashed_header(self):
        recording = self.record([self.program, "smash"], "-q", *BUSY, timeout=60)
        smashed = recording.truth("smashed")[0]
        when, after = recording.time(smashed["t"]), recording.time(smashed["after"])
        before = [f for f in recording.ask("frames") if f["why"] == "interval" and f["t"] + f["pause_ns"] < when]
        later = [f for f in recording.ask("frames") if f["t"] > after]
        self.assertTrue(before and later)
        clean = recording.ask("heap", "--at", f"frame:{before[-1]['n']}")
        self.assertEqual([c for c in clean if c.get("corrupt")], [])
        for frame in (later[0], later[-1]):
            broken = [c for c in recording.ask("heap", "--at", f"frame:{frame['n']}") if c.get("corrupt")]
            self.assertTrue(broken)
            self.assertEqual(number(broken[-1]["addr"]) & ~15, number(smashed["addr"]) - HEADER)

    def test_of_python(self):
        code = "a = []\nfor i in range(200):\n  a.append([str(k) * (k % 50) for k in range(2000)])\n  if i % 7 == 6: del a[::2]\n"
        recording = self.record([sys.executable, "-S", "-c", code], "-q", *BUSY, timeout=60)
        frames = [f for f in recording.ask("frames") if f["why"] == "interval"]
        self.assertGreaterEqual(len(frames), 20)
        random.seed(3)
        share = whole = 0
        for frame in random.sample(frames[len(frames) // 10:], 20):
            answer = recording.run("heap", "--json", "--at", f"frame:{frame['n']}")
            text = recording.run("heap", "--at", f"frame:{frame['n']}").out
            self.assertEqual(answer.status, 0, answer)
            self.assertNotIn('"corrupt":"', answer.out)
            unknown = [int(line.split()[2]) for line in text.splitlines() if line.startswith("not walked")]
            share += sum(unknown)
            chunks = [json.loads(line) for line in answer.out.splitlines()]
            extent = [number(m["end"]) - number(m["start"])
                      for m in recording.ask("maps", "--at", f"frame:{frame['n']}") if m["name"] == "[heap]"]
            size = sum(c["size"] for c in chunks if c["size"] and c["arena"])
            self.assertEqual(size + sum(unknown), sum(extent), (frame, chunks[-3:]))
            whole += not unknown
        self.assertGreaterEqual(whole, 15)
        print("bytes of heaps that could not be walked, in 20 moments:", share)

    def test_another_allocator(self):
        (folder := self.fresh("a.c")).write_text("int main(void) { return 0; }")
        program = folder.with_name("static")
        self.assertEqual(run(["gcc", "-O1", "-nostdlib", "-static", "-o", program, "-xc", "-"],
                             stdin=b"void _start(void) { __asm__(\"mov $60,%eax; xor %edi,%edi; syscall\"); }").status, 0)
        recording = self.record([program], "-q")
        answer = recording.run("heap")
        self.assertEqual(answer.status, 1)
        self.assert_one_line(answer.err, "no glibc")


if __name__ == "__main__":
    main()
