"""Source lines, functions and what was inlined, compared with addr2line; and debug information that is damaged."""

import os
import random
import re
import shutil
import subprocess

from vmvis import BUILD, INSPECT, Case, main, number, run

ADDRESSES = 700
MAIN = """
#include "inner.h"
#include <stdio.h>
#include <stdlib.h>
static int table[64];
__attribute__((noinline)) static int fill(int n) {
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        table[i] = mixed(i, n);
        sum += twice(table[i]) - clamp(sum, -n, n);
    }
    return sum;
}
int unused_function(int n) { return fill(n) * 3; }
static int compare(const void *a, const void *b) { return clamp(*(const int *)a - *(const int *)b, -1, 1); }
int main(int argc, char **argv) {
    int sum = fill(argc);
    qsort(table, 64, sizeof *table, compare);
    for (int i = 1; i < argc; i++)
        sum += outer(atoi(argv[i]));
    if (sum == 12345) printf("%d\\n", other_file(sum));
    return 0;
}
"""
INNER = """
static inline int clamp(int v, int low, int high) {
    if (v < low)
        return low;
    return v > high ? high : v;
}
static inline int twice(int v) {
    return clamp(v, -1000, 1000) * 2;
}
static inline int mixed(int a, int b) {
    int x = twice(a) ^ b;
    for (int i = 0; i < 3; i++)
        x = x * 31 + clamp(x, a, b + i);
    return x;
}
int outer(int v);
int other_file(int v);
"""
OTHER = """
#include "inner.h"
int outer(int v) {
    return mixed(v, 3) +
           twice(v);
}
int other_file(int v) {
    return v > 5 ? outer(v - 1)
                 : mixed(v, v);
}
"""
BUILDS = {
    "gcc O2": ("gcc", "-O2", "-g"),
    "gcc O3 sections": ("gcc", "-O3", "-g", "-ffunction-sections", "-Wl,--gc-sections"),
    "gcc dwarf 3": ("gcc", "-O1", "-gdwarf-3"),
    "gcc dwarf 4 split": ("gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf"),
    "gcc compressed": ("gcc", "-O2", "-g", "-gz=zlib"),
    "clang O2": ("clang", "-O2", "-g"),
    "clang dwarf 4": ("clang", "-O2", "-gdwarf-4"),
}


def addr2line(program, addresses, llvm=False):
    """{address: [(function, file:line)]}, innermost first"""
    tool = ["llvm-symbolizer", "--output-style=GNU"] if llvm else ["addr2line"]
    text = subprocess.run([*tool, "-a", "-f", "-i", "-e", program], input="\n".join(map(hex, addresses)),
                          capture_output=True, text=True, timeout=60).stdout
    found, lines = {}, text.splitlines()
    at = None
    while lines:
        line = lines.pop(0)
        if line.startswith("0x"):
            at = int(line, 16)
            found[at] = []
        else:
            place = re.sub(r" \(discriminator \d+\)", "", lines.pop(0))
            found[at].append((line, os.path.basename(place)))
    return found


def text_section(program):
    text = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True).stdout
    found = re.search(r" \.text\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
    return int(found[1], 16), int(found[2], 16)


class Dwarf(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ["XDG_CACHE_HOME"] = str(cls.fresh("cache"))

    def build(self, options, name="program"):
        folder = self.fresh(name).parent
        for file, text in (("main.c", MAIN), ("inner.h", INNER), ("other.c", OTHER)):
            (folder / file).write_text(text)
        made = run([*options, "-w", "-Wl,--build-id", "-o", name, "main.c", "other.c"], cwd=folder)
        self.assertEqual(made.status, 0, made)
        return folder / name

    def ask(self, trace, program, addresses):
        section = next(s for s in trace.ask("sections") if s["object"] == str(program) and s["name"] == ".text")
        bias = number(section["addr"]) - text_section(program)[0]
        answers = trace.ask("symbol", places=[hex(bias + a) for a in addresses])
        return dict(zip(addresses, answers))

    def test_as_addr2line(self):
        random.seed(4)
        for name, options in BUILDS.items():
            if not shutil.which(options[0]):
                continue
            with self.subTest(build=name):
                program = self.build(options)
                start, length = text_section(program)
                addresses = sorted(random.sample(range(start, start + length), min(ADDRESSES, length)))
                # addr2line of 2.40 misses ranges by DW_FORM_rnglistx
                llvm = name == "clang O2" and shutil.which("llvm-symbolizer") is not None
                truth = addr2line(program, addresses, llvm)
                answers = self.ask(self.record([program], "-q"), program, addresses)
                known = inlined = 0
                for address in addresses:
                    answer = answers[address]
                    line = f"{os.path.basename(answer['file'])}:{answer['line']}" if answer["file"] else "??:0"
                    wanted = re.sub(r".*:[?0]$", "??:0", truth[address][0][1])  # what symbols tell of files is no line
                    if line.endswith((":0", ":None")):
                        line = "??:0"
                    self.assertEqual(line, wanted, hex(address))
                    known += answer["file"] is not None
                    if "split" in name or (name == "clang O2" and not llvm):
                        continue  # functions are in the .dwo file
                    chain = [i["function"] for i in answer["inlined"]]
                    if len(truth[address]) > 1:
                        inlined += 1
                        self.assertEqual(chain, [f for f, _ in truth[address]], hex(address))
                        self.assertEqual([f"{os.path.basename(i['file'])}:{i['line']}" for i in answer["inlined"]],
                                         [re.sub(r":[?0]$", ":None", p) for _, p in truth[address]], hex(address))
                    else:
                        self.assertEqual(chain, [], hex(address))
                self.assertGreater(known, len(addresses) / 3)
                if name.startswith("gcc O") or name == "clang dwarf 4":
                    self.assertGreater(inlined, 20)

    def test_the_library(self):
        """The C library's separate debug file, where it is installed, against readelf."""
        program = self.build(("gcc", "-O1"))
        trace = self.record([program], "-q")
        section = next(s for s in trace.ask("sections") if s["object"].endswith("libc.so.6") and s["name"] == ".text")
        ident = re.search(r"Build ID: ([0-9a-f]+)", subprocess.run(
            ["readelf", "-n", section["object"]], capture_output=True, text=True).stdout)[1]
        debug = f"/usr/lib/debug/.build-id/{ident[:2]}/{ident[2:]}.debug"
        if not os.path.exists(debug):
            self.skipTest("the debug file of the C library is not installed")
        bias = number(section["addr"]) - text_section(section["object"])[0]
        rows = {}
        text = subprocess.run(["readelf", "--debug-dump=decodedline", "-W", debug], capture_output=True, text=True).stdout
        for match in re.finditer(r"^(\S+)\s+(\d+)\s+(0x[0-9a-f]+)", text, re.M):
            rows.setdefault(int(match[3], 16), set()).add((match[1], int(match[2])))
        random.seed(5)
        chosen = random.sample(sorted(rows), 2000)
        answers = trace.ask("symbol", places=[hex(bias + a) for a in chosen])
        for address, answer in zip(chosen, answers):
            if answer["file"] is None:
                continue  # an end of a sequence, as far as readelf tells
            self.assertIn((os.path.basename(answer["file"]), answer["line"]), rows[address], hex(address))
        self.assertGreater(sum(a["file"] is not None for a in answers), 1900)

    def test_damage(self):
        """Whatever the debug information is, the answer is the symbol, in time, and lines that were there before."""
        program = self.build(("gcc", "-O2", "-g"))
        good = program.read_bytes()
        text = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True).stdout
        sections = [(int(m[2], 16), int(m[3], 16)) for m in
                    re.finditer(r" (\.debug_\S+)\s+PROGBITS\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", text)]
        self.assertGreater(len(sections), 4)
        dwarf, random_ = BUILD / "bin" / "vmvis-dwarf", random.Random(6)
        for round_ in range(120):
            bad = bytearray(good)
            for _ in range(1 + round_ % 8):
                offset, size = random_.choice(sections)
                at = offset + random_.randrange(size)
                bad[at] = random_.choice((0, 0xFF, 0x7F, bad[at] ^ 1 << random_.randrange(8)))
            path = self.fresh("bad")
            path.write_bytes(bad[:len(bad) - random_.randrange(2000)] if round_ % 10 == 9 else bad)
            with open(path, "rb") as source:
                done = subprocess.run([dwarf], stdin=source, capture_output=True, timeout=20)
            self.assertIn(done.returncode, (0, 1, 2, -6, -11), done)
        damaged = program.with_name("damaged")
        offset, size = max(sections, key=lambda s: s[1])
        damaged.write_bytes(good[:offset] + bytes([0xFF]) * size + good[offset + size:])
        damaged.chmod(0o755)
        trace = self.record([damaged], "-q")
        answer = trace.one("symbol", "main")
        self.assertEqual(answer["name"], "main")

    def test_what_is_missing_is_named(self):
        program = self.build(BUILDS["gcc dwarf 4 split"])
        answer = self.record([program], "-q").run("symbol", "main")
        self.assertEqual(answer.status, 0)
        self.assert_one_line(answer.err, program, ".dwo")

    def test_source_text(self):
        program = self.build(("gcc", "-O1", "-g"))
        trace = self.record([program], "-q")
        lines = MAIN.splitlines()
        shown = [l for l in trace.ask("disasm", "main") if l["file"] and l["file"].endswith("main.c")]
        self.assertTrue(shown)
        for line in shown:
            self.assertEqual(line["source"], lines[line["line"] - 1])
        self.assertIn("qsort(table", trace.run("disasm", "main").out)
        source = program.with_name("main.c")
        os.utime(source, (source.stat().st_mtime + 100,) * 2)
        shown = {l["source"] for l in trace.ask("disasm", "main") if l["file"] and l["file"].endswith("main.c")}
        self.assertEqual(shown, {None}, "it may have changed")

    def test_the_cache(self):
        program = self.build(("gcc", "-O2", "-g"))
        trace = self.record([program], "-q")
        before = trace.run("symbol", "--json", "main").out
        files = [os.path.join(folder, f) for folder, _, names in os.walk(os.environ["XDG_CACHE_HOME"]) for f in names]
        self.assertTrue(files)
        for file in files:
            size = os.path.getsize(file)
            with open(file, "r+b") as cached:
                cached.seek(size // 2)
                byte = cached.read(1)
                cached.seek(size // 2)
                cached.write(bytes([byte[0] ^ 0x55]))
        self.assertEqual(trace.run("symbol", "--json", "main").out, before)
        log = self.fresh("log")
        run(["strace", "-f", "-e", "trace=execve", "-o", log, INSPECT, "symbol", trace.path, "main"])
        self.assertNotIn("vmvis-dwarf", log.read_text(), "what is cached is not read again")


if __name__ == "__main__":
    main()
