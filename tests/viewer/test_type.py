"""Types laid over memory: layouts compared with gdb's, values with what the source says."""

import json
import re
import shutil
import subprocess

from vmvis import Case, main, number, run

SOURCE = """
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
enum color { RED, GREEN = 5, BLUE = -2 };
struct inner { short a; char name[12]; union { int i; float f; unsigned char b[4]; } u; };
struct account {
    uint64_t id;
    struct inner in[2];
    struct account *next;
    unsigned flags : 3;
    int delta : 5;
    unsigned long wide : 40;
    bool ok;
    enum color color;
    double rate;
    void (*call)(int);
    const char *text;
    int m[2][3];
    struct { int x, y; } point;
    volatile int *const pointer;
    long double large;
    _Bool bits[3];
    struct inner plain;
    signed char low : 4, high : 4;
    long long tail : 63;
    int flexible[];
};
typedef struct account account_t;
typedef const account_t *reference;
void handler(int x) { (void)x; }
static int target = 77;
static account_t second = {.id = 99, .pointer = &target};
struct account first = {42, {{1, "hello", {.f = 1.5f}}, {-2, "wor\\"ld", {.i = 7}}}, &second, 5, -3, 0x123456789aul, 1,
    GREEN, 3.25, handler, "text", {{1, 2, 3}, {4, 5, 6}}, {-1, 8}, &target, 2.5L, {1, 0, 1}, {3, "x", {.i = 1}}, -8, 7, -5};
union both { uint32_t word; struct { uint8_t low, high; } part; } both = {0x1234};
enum color color = BLUE;
char words[2][6] = {"one", "two"};
int big[1000] = {[999] = 4};
reference where = &second;
int main(void) { first.id += second.id; raise(SIGSEGV); return target; }
"""
BUILDS = {"gcc": ("gcc", "-g", "-O1"), "gcc dwarf 3": ("gcc", "-gdwarf-3", "-O0"), "gcc dwarf 4": ("gcc", "-gdwarf-4"),
          "clang": ("clang", "-g", "-O1"), "clang dwarf 4": ("clang", "-gdwarf-4")}
TYPES = ("struct account", "struct inner", "union both")


def gdb_layout(program, name):
    """{(offset, bit, member): size}, nested ones with offsets from the outermost; and the whole size"""
    text = subprocess.run(["gdb", "-batch", "-nx", "-ex", f"ptype /o {name}", program], capture_output=True, text=True).stdout
    found = {}
    for match in re.finditer(r"/\*\s+(\d+)(?::\s*(\d+))?\s+\|\s+(\d+) \*/\s+(?:[^;{]*?)(\w+)(?:\[\d*\])*(?:\)\(int\))?(?: : \d+)?;", text):
        found[int(match[1]), int(match[2] or 0), match[4]] = int(match[3])
    for match in re.finditer(r"/\*\s+\|\s+(\d+) \*/\s+(?:[^;{]*?)(\w+)(?:\[\d*\])*;", text):  # of a union
        found[None, 0, match[2]] = int(match[1])
    total = re.findall(r"total size \(bytes\):\s+(\d+)", text)
    return found, int(total[-1])


def flat(tree, start):
    for member in tree["members"]:
        yield (number(member["addr"]) - start, member.get("bit_offset", 0), member["name"]), member
        if not member["type"].endswith("]"):
            yield from flat(member, start)


class Type(Case):
    def crash(self, options):
        folder = self.fresh("program").parent
        (folder / "a.c").write_text(SOURCE)
        made = run([*options, "-w", "-Wl,--build-id", "-o", "program", "a.c"], cwd=folder)
        self.assertEqual(made.status, 0, made)
        return folder / "program", self.record([folder / "program"], "-q", status=None)

    def builds(self):
        return [self.crash(options) for options in BUILDS.values() if shutil.which(options[0])]

    def ask(self, trace, *arguments):
        answer = trace.run("type", "--json", *arguments)
        self.assertEqual(answer.status, 0, answer)
        return json.loads(answer.out)

    def test_layouts_are_those_of_gdb(self):
        for program, trace in self.builds():
            for name in TYPES:
                theirs, size = gdb_layout(program, name)
                self.assertGreaterEqual(len(theirs), 2)
                tree = self.ask(trace, "first", "--as", name)
                ours = dict(flat(tree, number(tree["addr"])))
                self.assertEqual(tree["size"], size, name)
                anywhere = {key[2]: member["size"] for key, member in ours.items()}
                for (offset, bit, member), member_size in theirs.items():
                    if offset is None:
                        self.assertEqual(anywhere.get(member), member_size, (name, member))
                        continue
                    self.assertIn((offset, bit, member), ours, (name, theirs))
                    self.assertEqual(ours[offset, bit, member]["size"], member_size, (name, member))

    def test_values(self):
        for _, trace in self.builds():
            second = trace.one("symbol", "second")["addr"]
            handler, target = trace.one("symbol", "handler")["addr"], trace.one("symbol", "target")["addr"]
            tree = self.ask(trace, "first")
            values = {m["name"]: m["value"] for m in tree["members"]}
            wanted = {"id": "141", "next": f"{second} <second>", "flags": "5", "delta": "-3", "wide": str(0x123456789A),
                      "ok": "true", "color": "GREEN", "rate": "3.25", "call": f"{handler} <handler>",
                      "pointer": f"{target} <target>", "large": "2.5", "low": "-8", "high": "7", "tail": "-5"}
            self.assertEqual({name: values[name] for name in wanted}, wanted)
            self.assertRegex(values["text"], r'^0x[0-9a-f]+ "text"$')
            inner = next(m for m in tree["members"] if m["name"] == "in")["members"]
            self.assertEqual([[m["value"] for m in i["members"][:2]] for i in inner],
                             [["1", '"hello"'], ["-2", '"wor\\x22ld"']])
            union = {m["name"]: m["value"] for m in inner[0]["members"][2]["members"]}
            self.assertEqual(union["f"], "1.5")
            matrix = next(m for m in tree["members"] if m["name"] == "m")["members"]
            self.assertEqual([[e["value"] for e in row["members"]] for row in matrix], [["1", "2", "3"], ["4", "5", "6"]])
            self.assertEqual(self.ask(trace, "color")["value"], "BLUE")
            self.assertEqual([m["value"] for m in self.ask(trace, "words")["members"]], ['"one"', '"two"'])
            self.assertEqual(len(self.ask(trace, "big")["members"]), 64)
            self.assertEqual(self.ask(trace, "big", "--limit", "1000")["members"][999]["value"], "4")
            followed = self.ask(trace, second, "--as", "account_t")
            self.assertEqual(followed["members"][0]["value"], "99")
            self.assertEqual(self.ask(trace, hex(number(second) + 4))["name"], "second", "an address within a variable")

    def test_what_is_not_known(self):
        _, trace = self.crash(BUILDS["gcc"])
        for arguments, word in ((("first", "--as", "struct nothing"), "struct nothing"), (("[stack]",), "--as")):
            answer = trace.run("type", *arguments)
            self.assertEqual(answer.status, 1)
            self.assertIn(word, answer.err)


if __name__ == "__main__":
    main()
