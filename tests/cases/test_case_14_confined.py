"""Programs that confine themselves: filters that kill, refuse, trace or ask a listener; strict mode; user dispatch.

Guard: recorder/track.c may_inject, which injects nothing where a filter is not ours: without it the filter killed the
program's child, and attaching killed programs with a filter or in strict mode, and those that dispatch their calls
themselves, while the recorder hung. recorder/confine.c: without confine_entry strict mode was refused, and a call that
a filter of the program's own has traced was made, where alone it does not exist; with strict mode enforced there for
a program that was attached to, it was strict no more after detaching.
"""

import signal
import subprocess
import time

from cases import BUSY, WorldCase, main, program
from vmvis import RECORD, Recording, number

PATIENCE = 20


class Confined(WorldCase):
    def each(self, how, *options, **more):
        for source, chosen in self.each_source():
            with self.subTest(how=how, source=source):
                yield self.compare([program("case_14_filters"), how], *chosen, *options, timeout=20, **more)

    def test_filter_that_kills(self):
        for recording in self.each("kill", *BUSY):
            self.assertIn("confined: 200 of 200\nchild: 200 of 200\nchild ended with 0x300\nafter: 200 of 200",
                          recording.alone.out)
            self.assertEqual(len([e for e in self.tree(recording) if e["type"] == "munmap" and e["len"] == 16384]), 800)

    def test_filter_that_refuses(self):
        for recording in self.each("errno"):
            self.assertIn("munmap is refused: 0 of 200", recording.alone.out)
            kept = [m for m in recording.ask("maps", "--at", "end") if m["kind"] == "anonymous"]
            self.assertGreater(sum(number(m["end"]) - number(m["start"]) for m in kept), 200 * 16384)

    def test_filter_that_traces(self):
        for recording in self.each("trace"):
            self.assertIn("getpriority: -1 1", recording.alone.out)

    def test_strict(self):
        for recording in self.each("strict", *BUSY):
            self.assertEqual(recording.alone.out.count("strict: 0\n"), 50)
        for recording in self.each("forbidden", *BUSY):
            self.assertEqual(recording.alone.status, -9)

    def test_user_dispatch(self):
        for recording in self.each("dispatch", *BUSY):
            self.assertIn("dispatched: 200", recording.alone.out)

    def test_listener(self):
        for recording in self.each("listener", *BUSY):
            self.assertIn("under a listener: 200 of 200\nended with 0", recording.alone.out)
            child = recording.events("fork")[0]["child"]
            found = [m for m in recording.ask("maps", "--at", "end", "--pid", str(child))
                     if number(m["start"]) <= 0x30000000 < number(m["end"])]
            self.assertEqual([(m["start"], m["prot"]) for m in found], [("0x30000000", "rw-p")])
            self.assertTrue(any("listener" in e["text"] for e in self.tree(recording) if e["type"] == "note"))

    def attached(self, how, *options, meanwhile=None):
        """Attaches to a program that has confined itself and detaches: (what it printed, its status, the recording)."""
        path = self.fresh()
        target = subprocess.Popen([program("case_14_attached"), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            first = target.stdout.readline()
            recorder = subprocess.Popen([RECORD, "-o", path, *options, "-p", str(target.pid)], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
            try:
                self.assertIn("attached", recorder.stderr.readline())
                if meanwhile:
                    meanwhile(target)
                time.sleep(0.2)
                recorder.send_signal(signal.SIGINT)
                recorder.communicate(timeout=PATIENCE)
                self.assertEqual(recorder.returncode, 0)
            finally:
                recorder.kill()
                recorder.communicate()
            out, _ = target.communicate(timeout=PATIENCE)
        finally:
            target.kill()
            target.communicate()
        recording = Recording(path, None)
        self.assert_clean(recording)
        return (first + out).decode(), target.returncode, recording

    def test_attached(self):
        said = {"plain": ("all good", None), "kill": ("all good", "filters"), "strict": ("end", "strict mode"),
                "dispatch": ("all good", "dispatches")}
        for how, (word, why) in said.items():
            for maps in ("frames", "stops"):
                for source, options in self.each_source():
                    with self.subTest(how=how, source=source, maps=maps):
                        out, status, recording = self.attached(how, "--maps", maps, *options)
                        self.assertEqual((out.splitlines()[-1], status), (word, 4), out)
                        if why and source != "frames":
                            notes = [event["text"] for event in recording.events("note")]
                            self.assertTrue(any(why in text and "nothing is injected" in text for text in notes), notes)

    def test_strict_while_attached(self):
        """What it asked for while it was recorded holds afterwards."""
        def go(target):
            target.stdin.write(b"x")
            target.stdin.flush()
            self.assertEqual(target.stdout.readline(), b"strict\n")

        for maps in ("frames", "stops"):
            with self.subTest(maps=maps):
                out, status, _ = self.attached("later", "--maps", maps, meanwhile=go)
                self.assertEqual((out.splitlines(), status), (["ready", "end"], -signal.SIGKILL))


if __name__ == "__main__":
    main()
