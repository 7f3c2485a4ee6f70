"""vmvis-inspect on small traces of known content (tests/tools/make_trace.c): usage, help, statuses, JSON and text."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from vmvis import BUILD, INSPECT, Trace, run

MAKE_TRACE = BUILD / "bin" / "make_trace"
COMMANDS = ("info", "verify", "summary", "frames", "events", "maps", "pages", "threads", "regs", "read",
            "symbol", "sections", "got", "disasm",
            "backtrace", "heap", "explain", "type")
LATER = ("repair", "history", "find", "diff",
         "strip", "core", "export", "gdb")
PAGE = 4096
MS = 1_000_000
PROGRAM, HEAP, STACK = 0x400000, 0x600000, 0x7FFFFFFDE000
ANON, RESERVED = 0x7F0000000000, 0x100000000000


def setUpModule():
    global FOLDER, SMALL
    if not MAKE_TRACE.exists():
        raise unittest.SkipTest(f"{MAKE_TRACE} is missing: build the target make_trace")
    FOLDER = tempfile.TemporaryDirectory(prefix="vmvis-inspect-")
    unittest.addModuleCleanup(FOLDER.cleanup)
    SMALL = made("small")


def made(*kind):
    path = Path(FOLDER.name) / ("-".join(map(str, kind)) + ".vmv")
    if not path.exists():
        result = run([MAKE_TRACE, *kind, path])
        if result.status != 0:
            raise AssertionError(f"make_trace: {result}")
    return path


def hex_of(value):
    return int(value, 16)


class InspectCase(unittest.TestCase):
    maxDiff = 4000

    def inspect(self, *arguments, status=0, **how):
        result = run([INSPECT, *arguments], **how)
        self.assertEqual(result.status, status, result)
        if status == 0:
            self.assertEqual(result.err, "", result)
        return result

    def refused(self, status, *arguments, words=()):
        """Nothing on standard output, and one line that names the program and all the words."""
        result = self.inspect(*arguments, status=status)
        self.assertEqual(result.out, "", result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertTrue(result.err.startswith("vmvis-inspect: "), result)
        for word in words:
            self.assertIn(str(word), result.err)
        return result

    def ask(self, command, *options, path=None):
        return Trace(path or SMALL).ask(command, *options)

    def one(self, command, *options, path=None):
        return Trace(path or SMALL).one(command, *options)


class Usage(InspectCase):
    def test_no_command(self):
        self.refused(2, words=("--help",))

    def test_no_trace(self):
        for command in COMMANDS:
            self.refused(2, command, words=(command, "TRACE"))

    def test_unknown_command(self):
        self.refused(2, "nonsense", SMALL, words=("nonsense", *COMMANDS))

    def test_commands_of_later_versions(self):
        for command in LATER:
            self.refused(2, command, SMALL, words=("this version does not have", command, *COMMANDS))
            self.refused(2, command, words=(command,))

    def test_unknown_option(self):
        self.refused(2, "maps", SMALL, "--nonsense", words=("--nonsense", "--help"))
        self.refused(2, "maps", SMALL, "-x", words=("-x",))

    def test_values_of_options(self):
        for option in ("--at", "--pid", "--space", "--limit"):
            self.refused(2, "maps", SMALL, option, words=(option,))
        for option, value in (("--pid", "x"), ("--pid", "0"), ("--pid", "-1"), ("--pid", "99999999999"), ("--space", ""),
                              ("--limit", "1x"), ("--limit", " 1"), ("--limit", "99999999999999999999")):
            self.refused(2, "maps", SMALL, option, value, words=(option,))
        self.refused(2, "maps", SMALL, "--json=yes", words=("--json",))

    def test_options_that_do_not_fit(self):
        for command, *options in (("info", "--at", "1s"), ("maps", "--from", "1s"), ("maps", "--tid", "1"),
                                  ("frames", "--event", "mmap"), ("pages", "--raw"), ("maps", "--pid", "all"),
                                  ("maps", "--pid", "1000", "--space", "1"), ("read", "--json", "--raw", "0x600000")):
            with self.subTest(command=command, options=options):
                self.refused(2, command, SMALL, *options, words=(options[0],))

    def test_places_that_do_not_fit(self):
        self.refused(2, "info", SMALL, "0x1000", words=("info", "0x1000"))
        self.refused(2, "read", SMALL, words=("PLACE",))

    def test_options_anywhere(self):
        wanted = self.inspect("maps", SMALL, "--json", "--at", "30ms").out
        for arguments in (("--json", "--at", "30ms", "maps", SMALL), ("maps", "--at=30ms", SMALL, "--json"),
                          ("maps", "--at", "30ms", "--json", "--", SMALL)):
            self.assertEqual(self.inspect(*arguments).out, wanted)

    def test_two_hyphens_end_the_options(self):
        folder = Path(FOLDER.name)
        odd = folder / "--json"
        odd.write_bytes(SMALL.read_bytes())
        result = run([INSPECT, "info", "--", "--json"], cwd=folder)
        self.assertEqual((result.status, result.out[:7]), (0, "program"), result)

    def test_malformed_places(self):
        for place in ("0x10,many", "0xzz", "0x", "0x600000,0"):
            self.refused(2, "read", SMALL, place, words=(place,))

    def test_unknown_types(self):
        self.refused(2, "events", SMALL, "--event", "nonsense", words=("nonsense",))
        self.refused(2, "events", SMALL, "--event", "mmap,,brk")
        self.refused(2, "events", SMALL, "--event", "x" * 300)

    def test_malformed_times(self):
        for time in ("soon", "", "5 parsecs", "frame:x", "-1s", "1.2.3s"):
            self.refused(2, "maps", SMALL, "--at", time, words=("--at",))
            self.refused(2, "events", SMALL, "--from", time, words=("--from",))
        self.refused(2, "events", SMALL, "--from", "2s", "--to", "1s", words=("after",))


class Help(InspectCase):
    def test_program(self):
        text = self.inspect("--help").out
        for word in (*COMMANDS, "EXAMPLES", "EXIT STATUS", "--json", "--version", "usage:"):
            self.assertIn(word, text)
        for command in LATER:
            self.assertIsNone(re.search(rf"^  {command}\b", text, re.M), command)

    def test_commands(self):
        for command in COMMANDS:
            text = self.inspect(command, "--help").out
            for word in (command, "usage:", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
                self.assertIn(word, text)
            self.assertGreaterEqual(text.count("  vmvis-inspect "), 2, "two examples")
            self.assertLessEqual(max(map(len, text.splitlines())), 120)
            self.assertEqual(self.inspect("-h", command).out, text)

    def test_only_what_a_command_takes(self):
        self.assertNotIn("--at", self.inspect("info", "--help").out)
        self.assertIn("--raw", self.inspect("read", "--help").out)
        self.assertNotIn("--raw", self.inspect("pages", "--help").out)

    def test_version(self):
        self.assertRegex(self.inspect("--version").out, r"^vmvis-inspect \d+\.\d+\.\d+ \(trace format 1\.0\)\n$")


class Absent(InspectCase):
    def test_processes_spaces_threads(self):
        self.refused(1, "maps", SMALL, "--pid", "4242", words=(SMALL, "4242", "1000", "1002"))
        self.refused(1, "events", SMALL, "--pid", "4242", words=("4242",))
        self.refused(1, "maps", SMALL, "--space", "9", words=("9",))
        self.refused(1, "events", SMALL, "--space", "9", words=("9",))
        self.refused(1, "threads", SMALL, "--tid", "5", words=("5",))
        self.refused(1, "regs", SMALL, "--pid", "1000", "--tid", "5", words=("5",))

    def test_moments(self):
        for time in ("frame:99", "mark:none", "seq:9999999"):
            self.refused(1, "maps", SMALL, "--at", time, words=(time,))

    def test_a_process_before_its_start(self):
        self.refused(1, "maps", SMALL, "--pid", "1002", "--at", "10ms", words=("1002", "starts"))

    def test_after_its_end_the_last_moment_is_shown(self):
        result = run([INSPECT, "maps", SMALL, "--pid", "1002", "--at", "50ms"])
        self.assertEqual((result.status, len(result.err.splitlines())), (0, 1), result)
        self.assertIn("[heap]", result.out)

    def test_places(self):
        self.refused(1, "read", SMALL, "[nothing]", words=(SMALL, "[nothing]", "maps"))
        self.refused(1, "read", SMALL, "sym:main", words=("sym:main",))
        self.refused(1, "read", SMALL, "0x10,8", words=("0x10,8", "mapped"))
        self.refused(1, "pages", SMALL, "0x10,8", words=("0x10,8", "mapped"))

    def test_the_forms_of_a_place_are_told(self):
        for command in ("read", "maps", "pages", "events"):
            self.refused(1, command, SMALL, "[nothing]+0x10", words=("0xADDR", "map:NAME", "+N", ",LEN"))

    def test_traces(self):
        folder = Path(FOLDER.name)
        self.refused(3, "info", folder / "missing.vmv", words=("missing.vmv",))
        (folder / "empty-file").write_bytes(b"")
        (folder / "text").write_text("no trace\n" * 40)
        (folder / "cut").write_bytes(SMALL.read_bytes()[:40])
        for name in ("empty-file", "text", "cut"):
            for command in ("info", "verify", "maps"):
                self.refused(3, command, folder / name, words=(name,))


class Cut(InspectCase):
    def test_one_warning_and_an_answer(self):
        whole = SMALL.read_bytes()
        path = Path(FOLDER.name) / "shortened.vmv"
        path.write_bytes(whole[:-20])
        for command in ("info", "verify", "events", "frames", "maps", "summary"):
            result = run([INSPECT, command, "--json", path])
            self.assertEqual((result.status, len(result.err.splitlines())), (0, 1), result)
            self.assertIn(str(path), result.err)
        self.assertIs(json.loads(run([INSPECT, "info", "--json", path]).out)["complete"], False)

    def test_a_writer_that_was_killed(self):
        path = made("unfinished")
        result = run([INSPECT, "info", "--json", path])
        self.assertEqual((result.status, len(result.err.splitlines())), (0, 1), result)
        info = json.loads(result.out)
        self.assertEqual((info["complete"], info["exit"], info["frames"]), (False, None, 2))
        verdict = json.loads(run([INSPECT, "verify", "--json", path]).out)
        self.assertEqual((verdict["ok"], verdict["complete"]), (True, False))
        maps = run([INSPECT, "maps", "--json", path])
        self.assertEqual((maps.status, len(maps.out.splitlines()) > 3), (0, True), maps)

    def test_damage(self):
        damaged = bytearray(SMALL.read_bytes())
        middle = len(damaged) // 2
        for i in range(middle, middle + 30):
            damaged[i] ^= 0x55
        path = Path(FOLDER.name) / "damaged.vmv"
        path.write_bytes(damaged)
        result = run([INSPECT, "verify", "--json", path])
        self.assertEqual(result.status, 3, result)
        verdict = json.loads(result.out)
        self.assertIs(verdict["ok"], False)
        self.assertTrue(all(isinstance(e["offset"], int) and e["what"] for e in verdict["errors"]), verdict)
        text = run([INSPECT, "verify", path])
        self.assertIn("damaged", text.out)
        self.assertIn(f"offset {verdict['errors'][0]['offset']}", text.out)

    def test_no_cut_and_no_flip_crashes(self):
        whole = SMALL.read_bytes()
        path = Path(FOLDER.name) / "hurt.vmv"
        for i in range(40):
            hurt = bytearray(whole[:len(whole) * (i + 1) // 40] if i % 2 else whole)
            for at in range(64 + i * 7, len(hurt), 257 + i):
                hurt[at] ^= 1 << i % 8
            path.write_bytes(hurt)
            for command in ("info", "events", "maps", "pages", "regs", "summary"):
                result = run([INSPECT, command, path])
                self.assertIn(result.status, (0, 1, 3), f"{i} {result}")


class Info(InspectCase):
    def test_values(self):
        info = self.one("info")
        wanted = dict(format="1.0", program=["./demo", "--quick", "a b"], pid=1000, start_monotonic_ns=5000,
                      complete=True, arch="x86_64", page_size=PAGE, processes=2, threads=3, frames=3,
                      file_bytes=SMALL.stat().st_size, exit={"signal": 11},
                      sources={"faults": "records", "maps": "stops", "why": "the best that works here"},
                      cost={"held_ns": 375000, "fault_ns": 4000, "percent": 0.611},
                      gaps=[{"from": 28 * MS, "to": 28 * MS + MS // 2, "space": None, "why": "records were lost"}])
        self.assertEqual({key: info[key] for key in wanted}, wanted)
        self.assertEqual((info["events"]["mmap"], info["events"]["fault"], info["events"]["fork"]), (2, 4, 1))
        self.assertGreaterEqual(info["duration_ns"], 62 * MS)
        self.assertNotIn("frame", info["events"])

    def test_text(self):
        text = self.inspect("info", SMALL).out
        for word in ("./demo --quick a b", "killed by SIGSEGV", "2023-11-14 22:13:20 UTC", "records were lost", "3 frames"):
            self.assertIn(word, text)

    def test_faults_by_kind(self):
        none = {"unknown": 0, "first-touch": 0, "write": 0, "populated": 0, "file": 0}
        self.assertEqual(self.one("info")["faults"], {**none, "first-touch": 4, "populated": 3})
        path = made("mixed")
        info = self.one("info", path=path)
        self.assertEqual((info["faults"], info["events"]["fault"]), ({**none, "first-touch": 1, "write": 3}, 4))
        text = self.inspect("info", path).out
        self.assertRegex(text, r"(?m)^  fault +4$")
        self.assertRegex(text, r"(?m)^    write +3  .*write-protection")

    def test_what_a_cut_trace_does_not_say(self):
        result = run([INSPECT, "info", "--json", made("unfinished")])
        self.assertEqual(json.loads(result.out)["cost"], {"held_ns": None, "fault_ns": None, "percent": None})
        text = run([INSPECT, "info", made("unfinished")]).out
        self.assertRegex(text, r"(?m)^cost +–$")
        self.assertNotIn(" 0 B before", text)
        path = Path(FOLDER.name) / "begun.vmv"
        whole = made("unfinished").read_bytes()
        for length in range(200, len(whole), 41):
            path.write_bytes(whole[:length])
            result = run([INSPECT, "info", "--json", path])
            if result.status == 0:
                self.assertNotEqual(json.loads(result.out)["raw_bytes"], 0, length)

    def test_nothing_happened(self):
        info = self.one("info", path=made("empty"))
        self.assertEqual((info["frames"], info["exit"], info["gaps"], info["processes"]), (0, None, [], 0))
        self.assertEqual(self.ask("events", path=made("empty")), [])
        self.assertEqual(self.ask("frames", path=made("empty")), [])
        self.refused(1, "maps", made("empty"), words=("no process",))

    def test_from_standard_input(self):
        result = self.inspect("info", "--json", "-", stdin=SMALL.read_bytes())
        self.assertEqual(json.loads(result.out)["frames"], 3)


class Frames(InspectCase):
    def test_values(self):
        frames = self.ask("frames")
        self.assertEqual([(f["n"], f["t"], f["pages_written"], f["torn"], f["why"]) for f in frames],
                         [(1, 20 * MS, 2, 0, "interval"), (2, 40 * MS, 1, 1, "interval"), (3, 60 * MS + 1, 0, 0, "signal")])
        self.assertEqual({(f["space"], f["pid"], f["pause_ns"]) for f in frames}, {(1, 1000, 125000)})

    def test_selection(self):
        self.assertEqual([f["n"] for f in self.ask("frames", "--from", "20ms", "--to", "40ms")], [1])
        self.assertEqual([f["n"] for f in self.ask("frames", "--limit", "2")], [1, 2])
        self.assertEqual(self.ask("frames", "--pid", "1002"), [])
        self.assertEqual(len(self.ask("frames", "--pid", "all")), 3)


class Events(InspectCase):
    def by_type(self, name, *options):
        return self.ask("events", "--event", name, *options)

    def test_order_and_common_keys(self):
        events = self.ask("events", "--pid", "all")
        self.assertEqual([e["seq"] for e in events], sorted(e["seq"] for e in events))
        self.assertEqual([e["t"] for e in events], sorted(e["t"] for e in events))
        for event in events:
            self.assertLessEqual({"t", "seq", "type", "pid", "tid", "space"}, set(event))

    def test_default_is_the_first_process(self):
        self.assertEqual({e["pid"] for e in self.ask("events")}, {1000, None})
        self.assertEqual({e["pid"] for e in self.ask("events", "--pid", "1002")}, {1002, None})
        self.assertEqual([e["code"] for e in self.by_type("exit", "--pid", "1002")], [7])
        self.assertEqual([e["signal"] for e in self.by_type("exit")], [11])

    def test_mmap(self):
        first, failed = self.by_type("mmap")
        self.assertEqual((first["addr"], first["len"], first["prot"], first["flags"], first["ret"], first["name"]),
                         ("0x0", 16 * PAGE, 3, 0x22, hex(ANON), None))
        self.assertEqual(first["stack"], [{"pc": hex(PROGRAM + 0x123)}])
        self.assertEqual(failed["ret"], -12)

    def test_other_calls(self):
        self.assertEqual([(e["addr"], e["prot"], e["ret"]) for e in self.by_type("mprotect")], [(hex(ANON + 8 * PAGE), 0, 0)])
        self.assertEqual([(e["advice"], e["ret"]) for e in self.by_type("madvise")], [(4, 0)])
        self.assertEqual([(e["addr"], e["ret"]) for e in self.by_type("brk")], [("0x650000", "0x650000")])
        remap = self.by_type("mremap")[0]
        self.assertEqual((remap["old_addr"], remap["old_len"], remap["len"], remap["ret"]),
                         (hex(ANON + 12 * PAGE), 4 * PAGE, 8 * PAGE, hex(ANON + 32 * PAGE)))
        for name in ("shmat", "shmdt", "remap", "punch", "mseal", "setname", "truncate"):
            self.assertEqual([e["ret"] for e in self.by_type(name)], [-22], name)
        self.assertEqual(self.by_type("truncate")[0]["len"], 12345)
        self.assertEqual(self.by_type("setname")[0]["name"], "pool")

    def test_faults(self):
        faults = [f for f in self.by_type("fault") if f["kind"] != "populated"]
        self.assertEqual([(f["addr"], f["pc"], f["kind"], f["source"], f["kernel"], f["tid"]) for f in faults[:1]],
                         [(hex(HEAP + 8), hex(PROGRAM + 0x200), "first-touch", "records", False, 1001)])
        self.assertEqual([f["access"] for f in faults], ["write", None, None, None])

    def test_populated_pages_are_faults_one_a_page(self):
        pages = [f for f in self.by_type("fault") if f["kind"] == "populated"]
        self.assertEqual([hex_of(p["addr"]) for p in pages], [PROGRAM, PROGRAM + PAGE, PROGRAM + 2 * PAGE])
        for page in pages:
            self.assertEqual((page["t"], page["source"], page["pc"], page["access"], page["stack"]),
                             (20 * MS, "frames", None, None, None))

    def test_processes_and_words(self):
        self.assertEqual([(e["child"], e["child_space"], e["vfork"]) for e in self.by_type("fork")], [(1002, 2, False)])
        self.assertEqual([(e["path"], e["argv"]) for e in self.by_type("exec")], [("/bin/demo", ["./demo", "--quick", "a b"])])
        self.assertEqual([e["tid"] for e in self.by_type("thread-start")], [1001])
        self.assertEqual([e["code"] for e in self.by_type("thread-exit")], [0])
        self.assertEqual([(e["number"], e["code"], e["addr"], e["fatal"]) for e in self.by_type("signal")],
                         [(11, 1, "0x0", True)])
        self.assertEqual([e["text"] for e in self.by_type("mark")], ["half"])
        self.assertEqual([e["text"] for e in self.by_type("note")], ["a note"])
        self.assertEqual([(e["step"], e["why"]) for e in self.by_type("governor")], [("interval", "40 ms, too dear")])
        self.assertEqual([(e["from"], e["to"], e["why"]) for e in self.by_type("gap")],
                         [(28 * MS, 28 * MS + MS // 2, "records were lost")])
        self.assertEqual([(e["addr"], e["len"], e["before"], e["after"], e["pc"]) for e in self.by_type("watch")],
                         [(hex(HEAP + 16), 4, "01000000", "02000000", hex(PROGRAM + 0x222))])

    def test_selection(self):
        self.assertEqual({e["type"] for e in self.by_type("mmap,brk")}, {"mmap", "brk"})
        self.assertEqual({e["type"] for e in self.ask("events", "--event", "mmap", "--event", "brk")}, {"mmap", "brk"})
        self.assertEqual(len(self.ask("events", "--limit", "5")), 5)
        self.assertEqual(self.ask("events", "--limit", "0"), [])
        inside = self.ask("events", "--from", "3ms", "--to", "5ms")
        self.assertEqual([e["type"] for e in inside], ["mprotect", "madvise", "brk"])
        self.assertEqual({e["tid"] for e in self.ask("events", "--tid", "1001")}, {1001})
        self.assertEqual([e["type"] for e in self.ask("events", "--from", "mark:half", "--to", "26ms")], ["mark"])
        self.assertEqual(self.ask("events", "--to", "end")[-1]["type"], "exit")

    def test_signals_have_names(self):
        text = self.inspect("events", "--event", "signal,exit", "--pid", "all", made("signals")).out
        for words in ("SIGSEGV, SEGV_ACCERR, at 0x600000", "SIGUSR1, SI_TKILL", "SIGRTMIN+3, SI_QUEUE", "SIGSEGV, code 77",
                      "SIGBUS, BUS_ADRERR", "signal 99, code 5", "SIGCHLD, CLD_EXITED", "killed by SIGKILL"):
            self.assertIn(words, text)
        self.assertIn("killed by SIGSEGV (SEGV_MAPERR)", self.inspect("summary", SMALL).out)
        self.assertEqual(self.ask("events", "--event", "signal", path=made("signals"))[0]["code"], 2)

    def test_ranges(self):
        faults = self.ask("events", "--event", "fault", hex(HEAP + PAGE))
        self.assertEqual([hex_of(f["addr"]) for f in faults], [HEAP + PAGE + 8])
        both = self.ask("events", "--event", "fault", f"{HEAP:#x},8192", f"{HEAP + PAGE:#x},8192")
        self.assertEqual([hex_of(f["addr"]) for f in both], [HEAP + 8, HEAP + PAGE + 8, HEAP + 2 * PAGE + 8])
        listed = run([INSPECT, "events", "--json", "--event", "fault", SMALL, "-"],
                     stdin=f"{HEAP:#x},8\n\n  {HEAP + PAGE:#x},1  \n".encode())
        self.assertEqual((listed.status, len(listed.out.splitlines())), (0, 2), listed)

    def test_carriers_when_asked_for(self):
        self.assertEqual([e["n"] for e in self.by_type("frame")], [1, 2, 3])
        self.assertFalse({"frame", "pages", "content", "maps", "thread", "space"} & {e["type"] for e in self.ask("events")})

    def test_text(self):
        text = self.inspect("events", SMALL).out
        for word in ("ENOMEM", "private anonymous", "dontneed", "SIGSEGV", "kills", "0.001 000 000 s", "populated", "half",
                     "+64 KiB"):
            self.assertIn(word, text)
        self.assertFalse(any(line != line.rstrip() and line.strip() for line in text.splitlines() if "mmap" in line))


class Maps(InspectCase):
    def test_values(self):
        maps = {m["start"]: m for m in self.ask("maps", "--at", "30ms")}
        program = maps[hex(PROGRAM)]
        wanted = dict(pid=1000, space=1, end=hex(PROGRAM + 4 * PAGE), prot="r-xp", kind="program", shared=False,
                      name="/bin/demo", offset=0, dev="08:01", inode=77, resident=3 * PAGE)
        self.assertEqual({key: program[key] for key in wanted}, wanted)
        heap = maps[hex(HEAP)]
        self.assertEqual((heap["end"], heap["kind"], heap["resident"]), ("0x650000", "heap", 4 * PAGE))
        self.assertEqual((heap["written"], heap["ever_written"]), (4 * PAGE, 4 * PAGE))
        later = self.one("maps", "[heap]", "--at", "50ms")
        self.assertEqual((later["written"], later["ever_written"]), (PAGE, 4 * PAGE))
        self.assertEqual(maps[hex(RESERVED)]["resident"], 0)
        self.assertIsNone(maps[hex(RESERVED)]["name"])
        self.assertEqual(maps[hex(ANON + 8 * PAGE)]["prot"], "---p")
        self.assertNotIn(hex(ANON + 10 * PAGE), maps)

    def test_moments(self):
        self.assertEqual(len(self.ask("maps", "--at", "start")), 4)
        for moment in ("1ms", "frame:1", "mark:half", "end", "60ms", "seq:3"):
            self.assertGreaterEqual(len(self.ask("maps", "--at", moment)), 4, moment)
        self.assertEqual(self.ask("maps"), self.ask("maps", "--at", "end"))

    def test_ranges_and_limit(self):
        self.assertEqual([m["name"] for m in self.ask("maps", "[heap]")], ["[heap]"])
        self.assertEqual([m["name"] for m in self.ask("maps", "demo")], ["/bin/demo"])
        self.assertEqual(len(self.ask("maps", "--limit", "2")), 2)
        self.assertEqual(self.ask("maps", "0x10,16"), [])

    def test_a_child_has_what_its_parent_had(self):
        child = self.ask("maps", "--pid", "1002", "--at", "30ms")
        self.assertEqual([m["start"] for m in child], [m["start"] for m in self.ask("maps", "--at", "30ms")])
        self.assertEqual({(m["pid"], m["space"]) for m in child}, {(1002, 2)})

    def test_text(self):
        lines = self.inspect("maps", SMALL, "--at", "30ms").out.splitlines()
        self.assertRegex(lines[1], r"^\s*00400000-00404000  r-xp  00000000  08:01 +77 +16 KiB +12 KiB +0 B +0 B  program +/bin/demo$")
        self.assertIn("64.0 TiB", "\n".join(lines))


class OneNameManyMappings(InspectCase):
    """Three mappings of libx.so: two that touch, and one far away."""

    @classmethod
    def setUpClass(cls):
        cls.path = made("library")
        cls.starts = [ANON, ANON + 2 * PAGE, ANON + 16 * PAGE]

    def test_maps(self):
        for name in ("libx.so", "map:libx.so", "/usr/lib/libx.so"):
            self.assertEqual([hex_of(m["start"]) for m in self.ask("maps", name, path=self.path)], self.starts, name)
        self.assertEqual([hex_of(m["start"]) for m in self.ask("maps", "libx.so,1", path=self.path)], self.starts[:1])
        both = self.ask("maps", "libx.so", "[heap]", path=self.path)
        self.assertEqual([m["name"] for m in both], ["[heap]"] + ["/usr/lib/libx.so"] * 3)

    def test_pages(self):
        pages = self.ask("pages", "libx.so", path=self.path)
        self.assertEqual(sum(p["len"] for p in pages), 4 * PAGE)
        self.assertEqual((pages[0]["addr"], pages[-1]["addr"]), (hex(ANON), hex(ANON + 16 * PAGE)))

    def test_events(self):
        faults = self.ask("events", "--event", "fault", "libx.so", path=self.path)
        self.assertEqual([hex_of(f["addr"]) for f in faults], self.starts)
        self.assertEqual(len(self.ask("events", "--event", "fault", "libx.so,4096", path=self.path)), 1)

    def test_read_says_that_it_is_the_first(self):
        result = run([INSPECT, "read", self.path, "libx.so"])
        self.assertEqual((result.status, len(result.err.splitlines())), (0, 1), result)
        self.assertIn("3 mappings of that name", result.err)
        self.assertTrue(result.out.startswith(f"{ANON:012x}  "), result)
        self.inspect("read", self.path, "libx.so,8")


class Pages(InspectCase):
    def test_values(self):
        pages = self.ask("pages", "--at", "20ms", f"{ANON:#x},12288", f"{HEAP:#x},16384")
        states = [(hex_of(p["addr"]), p["len"], p["state"]) for p in pages]
        self.assertEqual(states[:3], [(ANON, PAGE, "zero"), (ANON + PAGE, PAGE, "swapped"), (ANON + 2 * PAGE, PAGE, "guard")])
        heap = [p for p in pages if hex_of(p["addr"]) == HEAP][0]
        self.assertEqual((heap["captured_at"], heap["certainty"], heap["size"], heap["shared"], heap["state"]),
                         (20 * MS, "exact", PAGE, False, "resident"))
        self.assertTrue(heap["written_at"])

    def test_runs_follow_each_other(self):
        for place in ("[heap]", "[stack]", "demo"):
            pages = self.ask("pages", place, "--at", "25ms")
            ends = [hex_of(p["addr"]) + p["len"] for p in pages]
            self.assertEqual([hex_of(p["addr"]) for p in pages[1:]], ends[:-1])
            mapping = self.one("maps", place, "--at", "25ms")
            self.assertEqual((pages[0]["addr"], ends[-1]), (mapping["start"], hex_of(mapping["end"])))

    def test_a_huge_reservation_is_one_run(self):
        pages = self.ask("pages", hex(RESERVED) + ",64T", "--at", "30ms")
        self.assertEqual(len(pages), 1)
        self.assertEqual((pages[0]["len"], pages[0]["state"] in ("absent", "unknown")), (64 << 40, True), pages)

    def test_whole_space(self):
        pages = self.ask("pages", "--at", "30ms")
        total = sum(hex_of(m["end"]) - hex_of(m["start"]) for m in self.ask("maps", "--at", "30ms"))
        self.assertEqual(sum(p["len"] for p in pages), total)
        self.assertEqual(len(self.ask("pages", "--limit", "3")), 3)

    def test_resident_as_in_maps(self):
        for moment in ("1ms", "20ms", "30ms", "end"):
            resident = sum(p["len"] for p in self.ask("pages", "--at", moment) if p["state"] in ("resident", "zero"))
            self.assertEqual(resident, sum(m["resident"] for m in self.ask("maps", "--at", moment)))


class Threads(InspectCase):
    def test_values(self):
        first, second = self.ask("threads", "--at", "20ms")
        wanted = dict(pid=1000, tid=1000, name="demo", state="running", syscall=None, pc=hex(PROGRAM + 0x456),
                      sp=hex(STACK + 0x1F000), fp=hex(STACK + 0x1F020), captured_at=20 * MS, certainty="exact")
        self.assertEqual({key: first[key] for key in wanted}, wanted)
        wanted = dict(tid=1001, name="worker", state="sleeping", syscall=202, syscall_name="futex", fp=None,
                      pc=hex(PROGRAM + 0x789), certainty="partial")
        self.assertEqual({key: second[key] for key in wanted}, wanted)

    def test_stale_after_the_frame(self):
        self.assertEqual(self.one("threads", "--at", "21ms", "--tid", "1000")["certainty"], "stale")

    def test_last_moment_is_that_of_the_signal(self):
        thread = self.one("threads", "--tid", "1000")
        self.assertEqual((thread["pc"], thread["certainty"], thread["captured_at"]),
                         (hex(PROGRAM + 0x999), "exact", 60 * MS + 1))

    def test_registers(self):
        regs = self.one("regs", "--at", "20ms", "--tid", "1000")["regs"]
        wanted = dict(rip=hex(PROGRAM + 0x456), rsp=hex(STACK + 0x1F000), rax="0x1234", rbx="0x0", mxcsr="0x1f80",
                      xmm0="0x" + "0" * 31 + "1", ymm0="0x" + "0" * 31 + "2" + "0" * 31 + "1",
                      st0="0x40" + "0" * 18)
        self.assertEqual({key: regs[key] for key in wanted}, wanted)
        self.assertLessEqual({"r8", "r15", "eflags", "cs", "fs_base", "orig_rax", "xmm15", "ymm15", "st7"}, set(regs))
        self.assertEqual(self.one("regs", "--at", "20ms", "--tid", "1001")["regs"], {})

    def test_registers_without_the_extended_state(self):
        regs = self.one("regs", "--tid", "1000")["regs"]
        self.assertEqual((regs["rip"], "xmm0" in regs), (hex(PROGRAM + 0x999), False))

    def test_aarch64(self):
        thread = self.one("regs", "--at", "5ms", "--tid", "1000", path=made("aarch64"))
        regs = thread["regs"]
        self.assertEqual((regs["x0"], regs["x30"], regs["sp"], regs["pc"], regs["pstate"]),
                         ("0x1000", "0x101e", "0x101f", "0x1020", "0x1021"))
        self.assertEqual((regs["v1"], thread["syscall_name"]), ("0x" + "0" * 31 + "9", "futex"))

    def test_text(self):
        self.assertIn("partial", self.inspect("threads", SMALL, "--at", "20ms").out)
        text = self.inspect("regs", SMALL, "--at", "20ms").out
        for word in ("rip 0000000000400456", "mxcsr", "ymm15", "futex"):
            self.assertIn(word, text)


class Read(InspectCase):
    def test_values(self):
        shown = self.one("read", f"{HEAP:#x},8", "--at", "20ms")
        self.assertEqual((shown["addr"], shown["len"], shown["hex"], shown["captured_at"], shown["certainty"]),
                         (hex(HEAP), 8, "0001020304050607", 20 * MS, "exact"))
        self.assertEqual(self.one("read", hex(HEAP), "--at", "40ms")["hex"], "6465666768696a6b")
        self.assertEqual(self.one("read", hex(HEAP + 4), "--at", "39ms")["hex"], "0405060708090a0b")

    def test_unknown_bytes(self):
        shown = self.one("read", f"{HEAP + 2 * PAGE - 4:#x},8", "--at", "20ms")
        self.assertEqual(shown["hex"], "03040506" + "??" * 4)
        self.assertEqual((shown["certainty"], len(shown["runs"])), ("partial", 2))
        shown = self.one("read", f"{HEAP + 3 * PAGE:#x},4", "--at", "20ms")
        self.assertEqual((shown["hex"], shown["captured_at"], shown["certainty"]), ("??" * 4, None, "unknown"))

    def test_places_with_an_offset(self):
        for place in ("[heap]+0x1000,2", "map:[heap]+4096,2", f"{HEAP:#x}+4096,2"):
            self.assertEqual(self.one("read", place, "--at", "20ms")["hex"], "0708", place)
        self.assertEqual(self.one("read", "[heap]+4", "--at", "20ms")["hex"], "0405060708090a0b")
        self.assertEqual([m["name"] for m in self.ask("maps", "[heap]+16")], ["[heap]"])
        self.assertEqual([p["addr"] for p in self.ask("pages", "[heap]+4096,1", "--at", "20ms")], [hex(HEAP + PAGE)])
        faults = self.ask("events", "--event", "fault", "[heap]+0x1000")
        self.assertEqual([hex_of(f["addr"]) for f in faults], [HEAP + PAGE + 8])

    def test_several_ranges(self):
        shown = self.ask("read", "[heap],2", f"{HEAP + PAGE:#x},2", "--at", "20ms")
        self.assertEqual([s["hex"] for s in shown], ["0001", "0708"])
        some = run([INSPECT, "read", "--json", SMALL, "0x10,4", "[heap],2", "--at", "20ms"])
        self.assertEqual((some.status, json.loads(some.out)["hex"], len(some.err.splitlines())), (1, "0001", 1), some)

    def test_raw(self):
        raw = self.inspect("read", "--raw", SMALL, f"{HEAP:#x},4096", "--at", "20ms").raw_out
        self.assertEqual(raw, bytes(i & 255 for i in range(PAGE)))
        self.refused(1, "read", "--raw", SMALL, f"{HEAP:#x},12288", "--at", "20ms", words=(hex(HEAP + 2 * PAGE),))
        self.refused(1, "read", "--raw", SMALL, "0x10,4")

    def test_text(self):
        lines = self.inspect("read", SMALL, f"{HEAP + 2 * PAGE - 8:#x},16", "--at", "20ms").out.splitlines()
        self.assertIn("exact, captured at 0.020 000 s", lines[0])
        self.assertRegex(lines[1], r"^000000601ff0 .* ff 00 01 02 03 04 05 06  \|        \.+\|$")
        self.assertIn("not known", lines[2])
        self.assertIn("?? ?? ?? ??", lines[3])

    def test_repeated_rows_are_folded(self):
        text = self.inspect("read", SMALL, f"{HEAP + 2 * PAGE:#x},8192", "--at", "20ms").out
        self.assertIn("\n*\n", text)
        self.assertLess(len(text.splitlines()), 8)

    def test_too_much(self):
        self.refused(2, "read", SMALL, hex(RESERVED) + ",64T", words=("64.0 TiB",))


class Summary(InspectCase):
    def test_values(self):
        summary = self.one("summary")
        self.assertEqual(summary["growers"][0]["region"], "[heap]")
        self.assertEqual((summary["growers"][0]["bytes"], summary["growers"][0]["stack"]),
                         (4 * PAGE, [{"pc": hex(PROGRAM + 0x200)}]))
        self.assertEqual(summary["busiest"][0]["addr"], hex(HEAP))
        self.assertGreaterEqual(summary["peak_resident"], summary["final_resident"])
        self.assertGreaterEqual(summary["peak_virtual"], 64 << 40)
        self.assertEqual(summary["final_resident"], sum(m["resident"] for m in self.ask("maps")))
        self.assertTrue(any("gap" in note for note in summary["notes"]))
        self.assertTrue(any("SIGSEGV" in note for note in summary["notes"]))

    def test_the_beginning_is_that_of_the_process(self):
        path = made("signals")
        first = self.one("maps", "[heap]", "--at", "start", path=path)
        self.assertEqual(first["name"], "[heap]")
        for options in ((), ("--from", "start")):
            self.assertEqual(self.one("summary", *options, path=path)["from"], 5 * MS)
            self.assertIn("0.005 000 s to ", self.inspect("summary", *options, path).out)
        self.assertIn(" at 0.005 000 s", self.inspect("maps", "--at", "start", path).out)
        self.assertEqual(self.one("summary", "--from", "6ms", path=path)["from"], 6 * MS)

    def test_growth_is_by_first_touches(self):
        grower = self.one("summary", path=made("mixed"))["growers"][0]
        self.assertEqual((grower["stack"], grower["touches"], grower["all_touches"]), ([{"pc": hex(PROGRAM + 0x10)}], 1, 1))
        self.assertIn("1 of 1 first touch ", self.inspect("summary", made("mixed")).out)

    def test_span(self):
        self.assertEqual(self.one("summary", "--from", "25ms")["growers"], [])
        self.assertEqual([b["addr"] for b in self.one("summary", "--from", "25ms")["busiest"]], [hex(HEAP)])

    def test_text(self):
        text = self.inspect("summary", SMALL).out
        for word in ("GREW MOST", "[heap]", "WRITTEN MOST OFTEN", "NOTES"):
            self.assertIn(word, text)


class Names(InspectCase):
    """Names hold any bytes: the output stays valid JSON, and harmless text."""

    def test_json(self):
        path = made("names")
        raw = self.inspect("info", "--json", path).raw_out
        program = json.loads(raw.decode("utf-8"))["program"]
        self.assertEqual(program, ["./\xff\xfe", 'quote"back\\slash', "line\nbreak", "\x1b[31mred", "grüße"])
        event = self.one("events", "--event", "mmap", path=path)
        self.assertEqual(event["name"], '/tmp/\xe9t\xe9 "x"\n\x1b[2J')
        mark = self.one("events", "--event", "mark", path=path)
        self.assertEqual(mark["text"], "\xed\xa0\x80\xf5\xc0\xaf")
        maps = self.ask("maps", "--at", "2ms", path=path)
        self.assertIn(event["name"], [m["name"] for m in maps])

    def test_text(self):
        path = made("names")
        for command in ("info", "events", "maps", "summary", "pages"):
            raw = self.inspect(command, path).raw_out
            self.assertNotIn(b"\x1b", raw, command)
            raw.decode("utf-8")
        self.assertIn("\\351t\\351", self.inspect("maps", path, "--at", "2ms").out)

    def test_odd_marks_are_moments(self):
        result = run([INSPECT, "maps", "--json", made("names"), "--at", b"mark:\xed\xa0\x80\xf5\xc0\xaf".decode("utf-8", "surrogateescape")])
        self.assertEqual(result.status, 0, result)


class Output(InspectCase):
    def piped(self, restore):
        """Reads one line of a long answer and goes away."""
        process = subprocess.Popen([INSPECT, "events", made("long", 200000)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, restore_signals=restore)
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        return process.wait(timeout=20), error

    def test_a_reader_that_goes_away(self):
        for restore in (True, False):
            status, error = self.piped(restore)
            self.assertEqual(error, b"")
            self.assertIn(status, (0, -signal.SIGPIPE))

    def test_a_full_device(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([INSPECT, "events", SMALL], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1), result)

    def test_a_closed_output(self):
        result = subprocess.run(["sh", "-c", f"exec '{INSPECT}' info '{SMALL}' >&-"], stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 2, result)

    def test_long_traces_take_moderate_time(self):
        path = made("long", 200000)
        for command in (("info",), ("events", "--json"), ("maps",), ("summary",)):
            result = self.inspect(*command, path)
            self.assertLess(result.seconds, 10, command)

    def test_a_few_bytes_that_claim_terabytes(self):
        path = made("terabytes")
        for command in (("info",), ("events",), ("maps",), ("pages",), ("summary",), ("summary", "--from", "2ms"),
                        ("events", "0x180000000000,4096"), ("threads",), ("read", "0x180000000000,4096")):
            result = self.inspect(command[0], path, *command[1:])
            self.assertLess(result.seconds, 10, command)
        pages = [p for p in self.ask("pages", path=path) if p["state"] == "resident"]
        self.assertEqual({p["len"] for p in pages}, {1 << 40})
        self.assertEqual(sum(m["resident"] for m in self.ask("maps", path=path)), len(pages) << 40)

    def test_the_trace_is_not_changed(self):
        before = (SMALL.read_bytes(), os.stat(SMALL).st_mtime_ns)
        for command in COMMANDS[:9]:
            self.inspect(command, SMALL)
        self.assertEqual((SMALL.read_bytes(), os.stat(SMALL).st_mtime_ns), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
