"""Symbols, sections and slots, compared with nm, readelf and what gdb reads in the kernel's core of the same run."""

import json
import random
import re
import shutil
import subprocess

from vmvis import INSPECT, RECORD, Case, Trace, main, number, run, sample

LIBC = "libc.so.6"


def tool(*argv):
    result = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=60)
    return result.stdout


def readelf_sections(path):
    found = []
    for line in tool("readelf", "-SW", path).splitlines():
        match = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+[0-9a-f]+\s+(\S*)", line)
        if match and "A" in match[4]:
            found.append((match[1], int(match[2], 16), int(match[3], 16)))
    return found


def nm_symbols(path, *options):
    """address -> names with their versions, of what takes addresses"""
    found, tls = {}, {line.split()[7].split("@")[0] for line in tool("readelf", "-sW", path).splitlines() if " TLS " in line}
    for line in tool("nm", "--defined-only", "--with-symbol-versions", *options, path).splitlines():
        match = re.match(r"([0-9a-f]+) (\S) (\S+)$", line)
        if match and match[2] not in "aAN" and match[3].split("@")[0] not in tls:
            found.setdefault(int(match[1], 16), set()).add(match[3].split("@")[0])
    return found


class Elf(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.crash = cls.fresh("crash").parent
        argv = ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", RECORD, "-q", "-o", "t.vmv", "--", sample("null_crash")]
        run(argv, cwd=cls.crash, timeout=60)
        cls.trace = Trace(cls.crash / "t.vmv")
        cls.modules = {}
        for section in cls.trace.ask("sections"):
            cls.modules.setdefault(section["object"], []).append(section)

    def bias(self, path):
        first = readelf_sections(path)[0]
        section = next(s for s in self.modules[path] if s["name"] == first[0])
        return number(section["addr"]) - first[1]

    def files(self):
        return [path for path in self.modules if path.startswith("/")]

    def test_sections(self):
        self.assertGreaterEqual(len(self.files()), 3)
        self.assertIn("[vdso]", self.modules)
        for path in self.files():
            bias = self.bias(path)
            ours = [(s["name"], number(s["addr"]) - bias, s["size"]) for s in self.modules[path]]
            self.assertEqual(ours, readelf_sections(path))

    def ask_symbols(self, addresses):
        return self.trace.ask("symbol", places=map(hex, addresses))

    def test_addresses_to_symbols(self):
        random.seed(1)
        for path in self.files():
            bias = self.bias(path)
            truth = nm_symbols(path)
            for address, names in nm_symbols(path, "-D").items():
                truth.setdefault(address, set()).update(names)
            chosen = sorted(random.sample(sorted(truth), min(1500, len(truth))))
            answers = self.ask_symbols(bias + a for a in chosen)
            self.assertEqual(len(answers), len(chosen))
            wrong = [(hex(a), answer["name"], truth[a]) for a, answer in zip(chosen, answers)
                     if answer["name"] not in truth[a] or answer["offset"] != 0]
            self.assertEqual(wrong, [], path)

    def test_symbols_to_addresses(self):
        random.seed(2)
        libc = next(path for path in self.files() if path.endswith(LIBC))
        bias, truth = self.bias(libc), nm_symbols(libc, "-D")
        names = {}
        for address, here in truth.items():
            for name in here:
                names.setdefault(name, set()).add(address)
        chosen = random.sample(sorted(names), 800)
        answers = self.trace.ask("symbol", places=[f"sym:{LIBC}:{name}" for name in chosen])
        for name, answer in zip(chosen, answers):
            self.assertIn(number(answer["addr"]) - bias, names[name], name)

    def test_versions(self):
        libc = next(path for path in self.files() if path.endswith(LIBC))
        bias = self.bias(libc)
        versions = {}
        for line in tool("nm", "-D", "--defined-only", "--with-symbol-versions", libc).splitlines():
            address, _, name = line.partition(" ")[0], None, line.split()[-1]
            plain, _, version = name.partition("@")
            if version.startswith("@"):
                versions[plain] = (int(address, 16), version[1:])
        chosen = [name for name in sorted(versions) if "pthread" in name or name.startswith("mem")][:200]
        self.assertGreater(len(chosen), 20)
        answers = self.trace.ask("symbol", places=[f"sym:{LIBC}:{name}@{versions[name][1]}" for name in chosen])
        for name, answer in zip(chosen, answers):
            self.assertEqual(number(answer["addr"]) - bias, versions[name][0], name)

    def test_slots_are_what_gdb_reads(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        core = self.crash / "core"
        if not core.exists():
            self.skipTest("the kernel writes no core here (core_pattern, limits)")
        slots = self.trace.ask("got")
        self.assertGreater(len(slots), 100)
        script = "".join(f"x/gx {s['slot']}\n" for s in slots)
        (self.crash / "script").write_text(script)
        text = tool("gdb", "-batch", "-nx", "-x", self.crash / "script", sample("null_crash"), core)
        read = dict(re.findall(r"^(0x[0-9a-f]+)[^:]*:\s+(0x[0-9a-f]+)$", text, re.M))
        read = {int(a, 16): int(v, 16) for a, v in read.items()}
        self.assertGreater(len(read), len(slots) * 0.9)
        known = 0
        for slot in slots:
            if number(slot["slot"]) in read and slot["target"] is not None:
                self.assertEqual(number(slot["target"]), read[number(slot["slot"])], slot)
                known += 1
        self.assertGreater(known, len(slots) * 0.9)

    def test_a_slot_is_bound_at_its_first_call(self):
        mine = [s for s in self.trace.ask("got") if s["object"].endswith("null_crash") and s["lazy"]]
        early = {s["slot"]: s for s in self.trace.ask("got", "--at", "start")}
        late = [s for s in mine if s["bound"]]
        if not mine:
            self.skipTest("the compiler here binds everything at start")
        for slot in late:
            self.assertIn(slot["symbol"].lstrip("_"), slot["target_symbol"])  # memset is __memset_avx2_... where chosen
            self.assertGreater(slot["bound_at"], 0)
            self.assertFalse(early[slot["slot"]]["bound"])


class SeparateDebug(Case):
    SOURCE = """
        static int hidden(int x) { return x * 3; }
        int (*volatile call)(int) = hidden;
        int main(void) { return call(2) - 6; }
    """

    def build(self):
        folder = self.fresh("program").parent
        (folder / "a.c").write_text(self.SOURCE)
        for command in ("gcc -O0 -g -Wl,--build-id -o program a.c", "mkdir .debug",
                        "objcopy --only-keep-debug program .debug/program.debug", "strip -s program",
                        "objcopy --add-gnu-debuglink=.debug/program.debug program"):
            done = run(command.split(), cwd=folder)
            self.assertEqual(done.status, 0, done)
        return folder

    def name_of_hidden(self, trace):
        slot = trace.run("symbol", "--json", "sym:hidden")
        return json.loads(slot.out)["name"] if slot.status == 0 else None

    def test_found_here_and_only_if_it_is_of_the_same_build(self):
        folder = self.build()
        trace = self.record([folder / "program"], "-q")
        self.assertEqual(self.name_of_hidden(trace), "hidden")
        (folder / "b.c").write_text(self.SOURCE + "int more;")
        run("gcc -O0 -g -Wl,--build-id -o other b.c".split(), cwd=folder)
        run("objcopy --only-keep-debug other .debug/program.debug".split(), cwd=folder)
        self.assertIsNone(self.name_of_hidden(trace), "of another build")

    def test_embedded(self):
        folder = self.build()
        trace = self.record([folder / "program"], "-q", "--embed-debug")
        shutil.rmtree(folder)
        self.assertEqual(self.name_of_hidden(trace), "hidden")

    def test_answers_without_the_files(self):
        folder = self.build()
        trace = self.record([folder / "program"], "-q", "--embed-debug")
        questions = (("symbol", "hidden", "main"), ("sections",), ("got",), ("disasm", "main"), ("backtrace",),
                     ("explain", "main", "call"), ("type", "call"), ("events", "--stacks"))
        (folder / "a.c").unlink()  # the text of source lines is not in a trace
        before = [trace.run(*q).out for q in questions]
        shutil.rmtree(folder)
        self.assertEqual([trace.run(*q).out for q in questions], before)
        log = self.fresh("opened")
        for question in questions:
            run(["strace", "-f", "-e", "trace=open,openat", "-o", log, INSPECT, question[0], trace.path, *question[1:]])
            self.assertIn(trace.path.name, log.read_text())
            self.assertNotIn(str(folder / "program") + '"', log.read_text())


if __name__ == "__main__":
    main()
