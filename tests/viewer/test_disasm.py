"""Disassembly, compared with objdump: the same instructions at the same addresses, up to spelling."""

import functools
import re
import shutil
import subprocess

from vmvis import Case, main, number, sample

INSTRUCTIONS = 5000
# what both mean by other words
WORDS = {"movabs": "mov", "cmovnbe": "cmova", "sal": "shl", "wait": "fwait", "int3": "int3", "retf": "lret",
         "cdqe": "cdqe", "xchg": "xchg", "ud1": "ud1", "sysretq": "sysret", "pushfq": "pushf", "popfq": "popf",
         "movsxd": "movsxd", "sysexitd": "sysexit", "iretd": "iret"}
PREFIXES = {"rep", "repz", "repe", "repnz", "repne", "lock", "notrack", "bnd", "data16", "cs", "ds", "es", "fs", "gs", "ss", "rex.w",
            "addr32", "xacquire", "xrelease"}


@functools.cache
def objdump(path):
    """[(address, text)] of .text"""
    result = subprocess.run(["objdump", "-d", "-w", "-M", "intel", "--no-show-raw-insn", "-j", ".text", path],
                            capture_output=True, text=True, timeout=60)
    found = [re.match(r"\s*([0-9a-f]+):\s+(.*)", line) for line in result.stdout.splitlines()]
    return [(int(match[1], 16), match[2].split("#")[0].strip()) for match in found if match]


def parts(text):
    """The mnemonic by the word both use, and its operands."""
    words = text.lower().replace(",pt", "").replace(",pn", "").split()
    while len(words) > 1 and (words[0] in PREFIXES or words[0].startswith("rex")):
        words = words[1:]
    word = WORDS.get(words[0], words[0]) if words else ""
    return re.sub(r"^(movs|stos|lods|scas|cmps|ins|outs)[bwdq]$", r"\1", word), " ".join(words[1:])


def operands(text):
    """Registers and numbers, in order; what is written as a size, a label or a comment goes."""
    width = 0xFF if "byte ptr" in text.lower() else 0xFFFF if re.search(r"\bword ptr", text.lower()) else 0xFFFFFFFF
    text = re.sub(r" *([-+*]) *", r"\1", re.sub(r"<.*?>", "", text.lower()))
    words = re.findall(r"-?0x[0-9a-f]+|[a-z][a-z0-9]*|-?\b[0-9]+\b", text)
    found = []
    for word in words:
        if re.fullmatch(r"-?(0x[0-9a-f]+|[0-9]+)", word):
            found.append(int(word, 0) & width)  # one of them extends signs
        elif word in ("ptr", "byte", "word", "dword", "qword", "xmmword", "ymmword", "tbyte", "fword", "oword", "zmmword", "st", "riz", "eiz", "es", "ds"):
            continue
        else:
            found.append(word)
    return found


class Disasm(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = cls.record([sample("threads")], "-q")
        cls.sections = cls.trace.ask("sections")

    def text_of(self, last_part):
        section = next(s for s in self.sections if s["object"].endswith(last_part) and s["name"] == ".text")
        return section["object"], number(section["addr"])

    def compare(self, last_part, count, skip):
        """From the instruction with that number on."""
        path, text = self.text_of(last_part)
        whole = objdump(path)
        theirs = whole[skip:skip + count + 1]
        start, length = theirs[0][0], theirs[-1][0] - theirs[0][0]
        text += start - whole[0][0]
        ours = {number(line["addr"]) - text + start: line for line in self.trace.ask("disasm", f"{text:#x},{length}")}
        different, undecoded, compared = [], 0, 0
        for (address, text_theirs), (after, _) in zip(theirs, theirs[1:]):
            line = ours.get(address)
            vector = line and line["bytes"][:2] == "62"  # EVEX, which older versions of the library know in part
            if text_theirs.startswith("(bad)") or vector:
                continue
            compared += 1
            if line is None or line["len"] != after - address and "nop" not in text_theirs:
                different.append((hex(address), text_theirs, line and (line["len"], line["text"])))
            elif line["text"].startswith(".byte"):
                undecoded += 1
            elif not self.same(line, text_theirs, text, start):
                different.append((hex(address), text_theirs, line["text"], line["bytes"]))
        return different, undecoded, compared

    def same(self, line, theirs, text, start):
        ours = line["text"]
        if "nop" in ours and ("nop" in theirs or line["bytes"] == "6690"):
            return True
        (word, rest), (word_theirs, rest_theirs) = parts(ours), parts(theirs)
        if word != word_theirs:
            return False
        if line["target"] is not None and "rip" not in ours:  # a jump: its target is what counts
            found = re.search(r"\b([0-9a-f]{3,})\b", theirs)
            return found is not None and number(line["target"]) - text + start == int(found[1], 16)
        mine, other = operands(rest), operands(rest_theirs)
        return sorted(map(str, set(mine) - {0, 1})) == sorted(map(str, set(other) - {0, 1}))

    def test_as_objdump(self):
        if not shutil.which("objdump"):
            self.skipTest("objdump is not installed")
        vectors = next(i for i, line in enumerate(objdump(self.text_of("libc.so.6")[0])) if "ymm" in line[1])
        for name, count, skip in (("/threads", 300, 0), ("libc.so.6", INSTRUCTIONS, 0),
                                  ("libc.so.6", INSTRUCTIONS, vectors), ("ld-linux-x86-64.so.2", INSTRUCTIONS, 0)):
            different, undecoded, compared = self.compare(name, count, skip)
            print(name, compared, "compared,", undecoded, "undecoded,", len(different), "different")
            for line in different[:20]:
                print(" ", line)
            self.assertGreater(compared, count * 0.5)
            self.assertLess(undecoded, compared / 500)
            self.assertEqual(different, [], name)


if __name__ == "__main__":
    main()
