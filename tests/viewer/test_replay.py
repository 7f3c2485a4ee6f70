"""vmvis-replay without a display: options, statuses, scripts, and dumps compared with what vmvis-inspect says."""

import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from vmvis import BUILD, RECORD, REPLAY, SOURCE, Trace, run, sample

MAKE_TRACE = BUILD / "bin" / "make_trace"
PLAIN = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
PANELS = ("top", "regions", "map", "inspector", "timeline", "status")
LANES = ("axis", "marks", "gaps", "memory", "map", "protect", "thread", "faults", "frames")
PAGE = 4096


def setUpModule():
    global FOLDER, SMALL, REAL
    for program in (MAKE_TRACE, REPLAY):
        if not program.exists():
            raise unittest.SkipTest(f"{program} is missing")
    FOLDER = tempfile.TemporaryDirectory(prefix="vmvis-replay-")
    unittest.addModuleCleanup(FOLDER.cleanup)
    SMALL = Path(FOLDER.name) / "small.vmv"
    run([MAKE_TRACE, "small", SMALL])
    REAL = Path(FOLDER.name) / "real.vmv"
    if RECORD.exists():
        run([RECORD, "-q", "-o", REAL, "--", sample("threads")], timeout=60)
    if not REAL.exists():
        REAL = SMALL


def size_text(count):
    """As the window prints sizes: whole KiB below 1 MiB, three significant digits from there."""
    if count < 1024:
        return f"{count} B"
    if count < 1 << 20:
        return f"{(count + 512) >> 10} KiB"
    value, unit = float(count), 0
    while value >= 1024 and unit < 6:
        value, unit = value / 1024, unit + 1
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {'KMGTPE'[unit - 1]}iB"


def quantity(texts):
    """A size in two columns: its unit is drawn first."""
    return " ".join(reversed(texts))


class Dump:
    """The draw list as text: groups by indentation."""

    def __init__(self, path):
        self.text = Path(path).read_text()
        self.lines = self.text.splitlines()

    def has(self, *names):
        found = {line.strip() for line in self.lines}
        return [name for name in names if name not in found]

    def group(self, name, nth=0):
        """The lines inside of the nth group of that name."""
        starts = [i for i, line in enumerate(self.lines) if line.strip() == name]
        if len(starts) <= nth:
            raise AssertionError(f"no group {name!r} in the dump")
        start = starts[nth]
        indent = len(self.lines[start]) - len(self.lines[start].lstrip())
        inside = []
        for line in self.lines[start + 1:]:
            if len(line) - len(line.lstrip()) <= indent:
                break
            inside.append(line.strip())
        return inside

    def texts(self, name, nth=0):
        return [re.sub(r'^text .*?"(.*)"$', r"\1", line) for line in self.group(name, nth) if line.startswith("text ")]

    def value(self, name):
        for line in self.lines:
            if line.strip().startswith(f"value {name} "):
                return line.strip().split(" ", 2)[2]
        raise AssertionError(f"no value {name} in the dump")


class ReplayCase(unittest.TestCase):
    maxDiff = 4000

    def path(self, name):
        return Path(FOLDER.name) / f"{self.id().rsplit('.', 1)[1]}-{name}"

    def replay(self, *arguments, status=0, **how):
        result = run([REPLAY, *arguments], env=PLAIN, timeout=60, **how)
        self.assertEqual(result.status, status, result)
        return result

    def refused(self, status, *arguments, words=()):
        result = self.replay(*arguments, status=status)
        self.assertEqual(result.out, "", result)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertTrue(result.err.startswith("vmvis-replay: "), result)
        for word in words:
            self.assertIn(word, result.err)

    def script(self, *lines, trace=None, options=(), status=0):
        path = self.path("script.txt")
        path.write_text("\n".join(map(str, lines)) + "\n")
        return self.replay(*options, "--script", path, trace or REAL, status=status)

    def dump(self, *lines, trace=None, options=()):
        path = self.path("dump.txt")
        self.script(*lines, f"dump {path}", trace=trace, options=options)
        return Dump(path)


class Options(ReplayCase):
    def test_help_and_version(self):
        help_text = self.replay("--help").out
        for option in ("--at", "--goto", "--pid", "--size", "--scale", "--screenshot", "--script", "Exit status"):
            self.assertIn(option, help_text)
        self.assertRegex(self.replay("--version").out, r"^vmvis-replay \d+\.\d+")

    def test_wrong_use(self):
        self.refused(2, words=("a trace is needed",))
        self.refused(2, "--nonsense", SMALL, words=("--nonsense", "--help"))
        self.refused(2, SMALL, SMALL, words=("one trace",))
        self.refused(2, "--size", "10x10", SMALL, words=("--size",))
        self.refused(2, "--size", "wide", SMALL)
        self.refused(2, "--scale", "0", SMALL)
        self.refused(2, "--pid", "x", SMALL)
        self.refused(2, "--at", words=("--at",))
        self.refused(2, "--follow", SMALL, words=("--follow",))
        self.refused(2, "--at", "yesterday", "--screenshot", self.path("x.png"), SMALL)

    def test_missing_things(self):
        picture = self.path("x.png")
        self.refused(1, "--at", "mark:never", "--screenshot", picture, SMALL)
        self.refused(1, "--at", "frame:99999", "--screenshot", picture, SMALL)
        self.refused(1, "--goto", "nowhere.so", "--screenshot", picture, SMALL)
        self.refused(1, "--pid", "999999", "--screenshot", picture, SMALL)
        self.assertFalse(picture.exists())

    def test_unreadable_traces(self):
        good = SMALL.read_bytes()
        for name, data in (("empty", b""), ("short", good[:20]), ("other", b"ELF" * 100)):
            path = self.path(name)
            path.write_bytes(data)
            self.refused(3, path, words=(name,))
        self.refused(3, self.path("absent"), words=("absent",))

    def test_cut_trace_opens_with_a_warning(self):
        path, picture = self.path("cut.vmv"), self.path("cut.png")
        path.write_bytes(SMALL.read_bytes()[:-200])
        result = self.replay("--screenshot", picture, path)
        self.assertEqual(len(result.err.splitlines()), 1, result)
        self.assertTrue(picture.exists())

    def test_trace_from_standard_input(self):
        picture = self.path("in.png")
        self.replay("--screenshot", picture, "-", stdin=SMALL.read_bytes())
        self.assertTrue(picture.exists())

    def test_no_display_is_one_line(self):
        self.refused(2, SMALL)

    def test_pictures_have_the_size_asked_for(self):
        for size, scale, pixels in (("1440x900", "1", (1440, 900)), ("1024x640", "1.5", (1536, 960)),
                                    ("640x400", "2", (1280, 800))):
            picture = self.path("size.png")
            self.replay("--screenshot", picture, "--size", size, "--scale", scale, REAL)
            data = picture.read_bytes()
            self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">II", data[16:24]), pixels)
        self.refused(2, "--screenshot", "/no/such/folder/x.png", REAL, words=("/no/such/folder",))


class Scripts(ReplayCase):
    def test_unknown_commands_end_with_their_line(self):
        path = self.path("script.txt")
        for line, words in (("sek 1s", ("sek", "seek")), ("click a b", ("click",)), ("seek", ("seek",)),
                            ("key Hyper+Z", ("key",)), ("tab nonsense", ("tab",)), ("zoom much", ("zoom",))):
            path.write_text(f"# a remark\n\nseek start\n{line}\nseek end\n")
            self.refused(2, "--script", path, SMALL, words=(f"{path}:4: ", *words))
        path.write_text("goto nowhere.so\n")
        self.refused(1, "--script", path, SMALL, words=(f"{path}:1: ",))
        self.refused(2, "--script", self.path("absent.txt"), SMALL, words=("absent.txt",))

    def test_every_key_may_be_pressed(self):
        keys = ("W S A D PageUp PageDown Enter Esc F G Esc Shift+W C Left Right , . [ ] Space Space Shift+Space Space - + = "
                "Home End M Shift+M Ctrl+M Ctrl+Up Ctrl+Down Shift+F 1 2 6 K Tab F2 F3 P Esc Up Down Ctrl+C Ctrl+P Esc "
                "F11 ? Esc").split()
        lines = [line for key in keys for line in (f"key {key}", "wait 20")]
        self.dump(*lines)
        self.dump("select [heap]", *lines)
        self.dump("goto [stack]", "zoom 4096", *lines)

    def test_seek_click_and_drag_agree(self):
        info = Trace(REAL).info
        self.script("seek end")
        clicked = self.dump("seek start", "click 900 740", "move 2 2", "panel timeline")
        t = int(clicked.value("time"))
        self.assertAlmostEqual(t, (900 - 288) / 1152 * info["duration_ns"], delta=info["duration_ns"] / 1000 + 1)
        sought = self.dump(f"seek {t}ns", "move 2 2", "panel timeline")
        dragged = self.dump("seek start", "drag 400 740 900 740", "move 2 2", "panel timeline")
        self.assertEqual(clicked.text, sought.text)
        self.assertEqual(clicked.text, dragged.text)

    def test_playing_follows_the_clock(self):
        self.script("seek start", "speed 0.1", "key Space", "wait 100", "key Space", f"dump {self.path('forwards')}",
                    "key Shift+Space", "wait 50", "key Space", f"dump {self.path('backwards')}")
        forwards = int(Dump(self.path("forwards")).value("time"))
        backwards = int(Dump(self.path("backwards")).value("time"))
        start = int(self.dump("seek start").value("time"))
        self.assertAlmostEqual(forwards, start + 10e6, delta=2e6)
        self.assertAlmostEqual(backwards, start + 5e6, delta=3e6)

    def test_start_and_end_are_where_the_process_has_memory(self):
        trace = Trace(REAL)
        frames = [f for f in trace.ask("frames") if f["pid"] == trace.info["pid"]]
        for where in ("start", "end"):
            moment = self.dump(f"seek {where}")
            self.assertTrue(trace.ask("maps", "--at", f"{moment.value('time')}ns"))
            self.assertNotIn("no memory", moment.value("certainty"))
        self.assertEqual(int(moment.value("time")), frames[-1]["t"])
        self.assertIn(f"frame {frames[-1]['n']}, last {frames[-1]['n']}", moment.texts("value time"))
        self.assertEqual(int(self.dump("seek end", "key Space").value("time")),
                         int(self.dump("seek start").value("time")))

    def test_the_help_sheet_lists_commands_and_colourings(self):
        words = " ".join(self.dump("key ?").texts("overlay help"))
        for word in ("quit", "kind, writes, residency, protection, age"):
            self.assertIn(word, words)

    def test_a_change_needs_a_selection(self):
        self.assertIn("select a mapping, a page or bytes first",
                      " ".join(self.dump("select space", "key [").texts("panel status")))

    def test_tabs_that_are_documented_exist(self):
        manual = (SOURCE / "docs" / "vmvis-replay.1").read_text()
        tabs = re.search(r"^\.Ic tab Li (.*) ,$", manual, re.M).group(1).split(" | ")
        for tab in tabs:
            self.script(f"tab {tab}")
            self.assertIn(tab, self.replay("--help").out)

    def test_wheel_zooms_around_the_pointer(self):
        before = [int(n) for n in self.dump("seek start").value("shown").split()]
        after = [int(n) for n in self.dump("wheel 864 740 5").value("shown").split()]
        self.assertLess(after[1] - after[0], (before[1] - before[0]) * 0.5)
        self.assertAlmostEqual(sum(after), sum(before), delta=sum(before) * 0.01)

    def test_events_and_frames_are_stepped(self):
        trace = Trace(REAL)
        pid = trace.info["pid"]
        frames = [f for f in trace.ask("frames") if f["pid"] == pid]
        times = [int(self.dump(f"seek frame:{f['n']}").value("time")) for f in frames]
        self.assertEqual(times, [f["t"] for f in frames])
        if len(frames) > 1:
            back = self.dump(f"seek frame:{frames[1]['n']}", "key Left")
            self.assertEqual(int(back.value("time")), frames[0]["t"])
        step = int(self.dump("seek start", "key .").value("time"))
        self.assertEqual(int(self.dump("seek start", "key .", "key .", "key ,").value("time")), step)

    def test_overlays(self):
        self.assertEqual(self.dump("key ?").has("overlay help"), [])
        self.assertEqual(self.dump("key Ctrl+P", "type next fr").has("overlay palette"), [])
        went = self.dump("seek start", "key Ctrl+P", "type next frame", "key Enter")
        self.assertEqual(went.has("overlay palette"), ["overlay palette"])
        self.assertGreater(int(went.value("time")), 0)
        self.assertEqual(self.dump("key G", "type stack").has("overlay goto"), [])
        self.assertIn("[stack]", self.dump("key G", "type [stack]", "key Enter").texts("bar path"))
        self.assertEqual(int(self.dump("key G", "type @0s", "key Enter").value("time")), 0)


class Contents(ReplayCase):
    """What is drawn at a moment is what vmvis-inspect says of it."""

    def moments(self):
        duration = Trace(REAL).info["duration_ns"]
        return [duration * share // 100 for share in (35, 60, 85)]

    def test_everything_is_there(self):
        for size in ("1440x900", "1024x640"):
            dump = self.dump(f"seek {self.moments()[1]}ns", options=("--size", size))
            names = [f"panel {name}" for name in PANELS] + [f"lane {name}" for name in LANES]
            names += ["column size", "column resident", "strip recording", "row total", "tab Details", "gutter timeline"]
            if size == "1440x900":
                names += ["lane virtual", "column wr", "column in time"]
            self.assertEqual(dump.has(*names), [], size)

    def test_the_map_has_three_looks(self):
        t = self.moments()[1]
        address = next(m["start"] for m in Trace(REAL).ask("maps", "--at", f"{t}ns") if m["name"] == "[stack]")
        for place, look, strips in (("select space", "space", ("scale",)),
                                    ("goto [stack]", "pages", ("space", "mappings")),
                                    (f"goto {address}", "bytes", ("space", "mapping", "page"))):
            for size in ("1440x900", "1024x640"):
                dump = self.dump(f"seek {t}ns", place, options=("--size", size))
                self.assertEqual(dump.has(f"look {look}", "legend map", *[f"strip {s}" for s in strips]), [], size)

    def test_regions_equal_inspect(self):
        trace = Trace(REAL)
        for t in self.moments():
            maps = trace.ask("maps", "--at", f"{t}ns")
            dump = self.dump(f"seek {t}ns")
            total = dump.texts("row total")
            count = f"{len(maps)} mapping{'' if len(maps) == 1 else 's'}"
            virtual = sum(int(m["end"], 16) - int(m["start"], 16) for m in maps)
            resident = sum(m["resident"] for m in maps)
            self.assertEqual(total[0], count)
            self.assertEqual(quantity(total[1:3]), size_text(virtual))
            if not resident:  # so short that nothing was seen yet: a dash
                self.assertEqual(total[3:4], ["\u2013"])
                continue
            self.assertEqual(quantity(total[3:5]), size_text(resident))
            written = sum(m["written"] for m in maps) // PAGE
            self.assertEqual(total[5:], [str(written)] if written else [])
            self.assertIn(size_text(resident), dump.texts("value memory"))
            heap = [m for m in maps if m["name"] == "[heap]"]
            if heap:
                row = dump.texts("row [heap]")
                self.assertEqual(quantity(row[1:3]), size_text(int(heap[0]["end"], 16) - int(heap[0]["start"], 16)))
                if heap[0]["resident"]:
                    self.assertEqual(quantity(row[3:5]), size_text(heap[0]["resident"]))

    def test_bytes_equal_inspect(self):
        trace = Trace(REAL)
        t = self.moments()[1]
        for mapping in trace.ask("maps", "--at", f"{t}ns")[:40]:
            address = mapping["start"]
            read = trace.one("read", f"{address},8", "--at", f"{t}ns")
            dump = self.dump(f"seek {t}ns", f"select {address},8", "tab bytes")
            shown = dump.texts("fact hex")[1].replace(" ", "")
            self.assertEqual(shown, read["hex"], mapping)
            known = "?" not in read["hex"]
            words = [w for w in dump.texts("tab Bytes", 1) if w.startswith(read["certainty"])]
            self.assertTrue(words or not known, (mapping, read, dump.texts("tab Bytes", 1)))

    def test_threads_equal_inspect(self):
        trace = Trace(REAL)
        frames = [f for f in trace.ask("frames") if f["pid"] == trace.info["pid"]]
        t = frames[len(frames) // 2]["t"]
        for thread in trace.ask("regs", "--at", f"{t}ns"):
            dump = self.dump(f"seek {t}ns", f"thread {thread['tid']}", "tab threads")
            registers = thread.get("regs") or {}
            for name in ("rip", "rsp", "rax"):
                if name not in registers:
                    continue
                shown = "".join(dump.texts(f"register {name}")[1:6])
                self.assertIn(f"{int(registers[name], 16):016x}", shown.replace(" ", ""), (thread["tid"], name))

    def test_frame_equals_inspect(self):
        trace = Trace(REAL)
        frames = [f for f in trace.ask("frames") if f["pid"] == trace.info["pid"]]
        frame = frames[-1]
        dump = self.dump(f"seek frame:{frame['n']}")
        self.assertTrue(any(text.startswith(f"frame {frame['n']}") for text in dump.texts("value time")))
        self.assertIn(f"frame {frame['n']}", dump.value("certainty"))

    def test_processes_are_chosen(self):
        children = [event["child"] for event in Trace(SMALL).ask("events", "--event", "fork")]
        self.assertTrue(children)
        for pid in [Trace(SMALL).info["pid"], *children]:
            self.assertIn(str(pid), self.dump("seek end", f"pid {pid}", trace=SMALL).texts("panel top"))


@unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "needs Xvfb and xdotool")
class Window(ReplayCase):
    """The real window, on a display nobody sees."""

    def setUp(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1440x900x24"],
                                       pass_fds=(write,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        if not number:
            self.skipTest("Xvfb does not start here")
        self.env = {**PLAIN, "DISPLAY": f":{number}"}

    def do(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env=self.env, capture_output=True, text=True, timeout=20)

    def test_a_window_opens_answers_and_closes(self):
        picture = self.path("window.png")
        window = subprocess.Popen([REPLAY, REAL], env=self.env, cwd=FOLDER.name, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 15
            while not self.do("search", "--pid", window.pid).stdout.strip() and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
            self.do("mousemove", 800, 740, "mousedown", 1, "mousemove", 900, 740, "mouseup", 1, "click", 4)
            self.do("key", "space", "key", "space", "key", "question", "key", "Escape", "key", "ctrl+s")
            time.sleep(0.5)
            self.do("key", "ctrl+q")
            self.assertEqual(window.wait(15), 0, window.stderr.read())
            self.assertTrue(list(Path(FOLDER.name).glob("vmvis-*.png")), "Ctrl+S made no picture")
        finally:
            if window.poll() is None:
                window.send_signal(signal.SIGKILL)
            window.wait()
            window.stderr.close()
        self.assertFalse(picture.exists())


if __name__ == "__main__":
    unittest.main()
