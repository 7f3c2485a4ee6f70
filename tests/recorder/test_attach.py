"""Attaching to a process that runs (-p), detaching, and refusing to; and recording without stops (--maps frames)."""

import os
import re
import signal
import subprocess
import time

from cases import program
from vmvis import RECORD, Case, Recording, main, number, run

PATIENCE = 20


def until(condition, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def status(pid, field):
    with open(f"/proc/{pid}/status") as file:
        return re.search(rf"^{field}:\s*(\S+)", file.read(), re.M)[1]


class Target:
    """The program to attach to; ends with the block."""

    def __enter__(self):
        self.process = subprocess.Popen([program("case_attach")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = self.process.pid
        self.truth = dict(word.split("=") for word in self.process.stdout.readline().split()[1:])
        return self

    def end(self):
        out, _ = self.process.communicate(timeout=PATIENCE)
        return out, self.process.returncode

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Attach(Case):
    def attach(self, target, *options):
        """A running recorder that has said that it is attached."""
        path = self.fresh()
        recorder = subprocess.Popen([RECORD, "-o", path, *options, "-p", str(target.pid)], stderr=subprocess.PIPE,
                                    stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        line = recorder.stderr.readline()
        self.assertIn("attached to process", line)
        return path, recorder

    def detach(self, path, recorder, number=signal.SIGINT):
        recorder.send_signal(number)
        _, err = recorder.communicate(timeout=PATIENCE)
        self.assertEqual(recorder.returncode, 0, err)
        recording = Recording(path, None)
        self.assert_clean(recording)
        return recording

    def assert_left_alone(self, target):
        """As if nobody had been there."""
        self.assertEqual(status(target.pid, "TracerPid"), "0")
        links = [os.readlink(f"/proc/{target.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{target.pid}/fd")]
        self.assertFalse([link for link in links if "userfaultfd" in link])
        with open(f"/proc/{target.pid}/smaps") as file:
            flags = re.findall(r"^VmFlags:(.*)$", file.read(), re.M)
        self.assertFalse([line for line in flags if {"uw", "um", "ui"} & set(line.split())])

    def each_way(self):
        for maps in ("frames", "stops"):
            for faults in ("records", "uffd", "frames", "none"):
                with self.subTest(maps=maps, faults=faults):
                    self.need_faults(faults)
                    yield "--maps", maps, "--faults", faults, "-i", "20"

    def test_attach_and_detach(self):
        for options in self.each_way():
            with Target() as target:
                path, recorder = self.attach(target, *options)
                time.sleep(0.5)
                recording = self.detach(path, recorder)
                self.assert_left_alone(target)
                self.assertEqual(target.end(), ("errors=0 broken=0 alive=1\n", 7))
            self.assertIsNone(recording.info["exit"])
            self.assertEqual(recording.info["pid"], target.pid)
            self.assertEqual(recording.info["threads"], 4)
            self.assertEqual(recording.info["sources"]["maps"], options[1])
            self.check_memory(recording, target, options)

    def check_memory(self, recording, target, options):
        if "none" in options:
            return
        old = recording.read(target.truth["old"], 16, "--at", "end")
        self.assertEqual(old["hex"], "8877665544332211" * 2)
        values = [int.from_bytes(bytes.fromhex(recording.read(target.truth["counter"], 8, "--at", when)["hex"]),
                                 "little") for when in ("frame:0", "end")]
        self.assertLess(values[0], values[1])
        if "stops" in options:
            self.assertGreater(len(recording.events("munmap")), 20)

    def test_maps_are_those_of_the_kernel(self):
        with Target() as target:
            path, recorder = self.attach(target)
            time.sleep(0.2)
            target.process.send_signal(signal.SIGSTOP)
            self.assertTrue(until(lambda: status(target.pid, "State") in "Tt"))
            time.sleep(0.2)
            recording = self.detach(path, recorder)
            with open(f"/proc/{target.pid}/maps") as file:
                kernel = [line.split()[0].split("-") + line.split()[1:2] for line in file]
            self.assertEqual(status(target.pid, "State"), "T")  # still stopped, as the one who stopped it left it
            target.process.send_signal(signal.SIGCONT)
            self.assertRegex(target.end()[0], "errors=0 broken=[0-9] alive=1")
        ours = recording.ask("maps", "--at", "end")
        cover = {(number(m["start"]), number(m["end"]), m["prot"]) for m in ours}
        for start, end, prot in kernel:
            if int(start, 16) >> 56:
                continue
            self.assertTrue(any(s <= int(start, 16) and int(end, 16) <= e and p == prot for s, e, p in cover),
                            (start, end, prot))

    def test_a_stopped_process(self):
        with Target() as target:
            target.process.send_signal(signal.SIGSTOP)
            self.assertTrue(until(lambda: status(target.pid, "State") == "T"))
            path, recorder = self.attach(target)
            self.assertIn(status(target.pid, "State"), "Tt")
            target.process.send_signal(signal.SIGCONT)
            time.sleep(0.3)
            recording = self.detach(path, recorder, signal.SIGTERM)
            self.assertRegex(target.end()[0], "errors=0 broken=[0-9] alive=1")
        self.assertGreater(recording.info["frames"], 3)

    def test_the_process_ends_meanwhile(self):
        with Target() as target:
            path, recorder = self.attach(target)
            time.sleep(0.5)  # so that each of its threads has done something
            self.assertEqual(target.end(), ("errors=0 broken=0 alive=1\n", 7))
            recorder.communicate(timeout=PATIENCE)
        self.assertEqual(recorder.returncode, 7)
        self.assertEqual(Recording(path, None).info["exit"], {"code": 7})

    def test_a_killed_recorder_leaves_it_running(self):
        with Target() as target:
            path, recorder = self.attach(target)
            time.sleep(0.2)
            recorder.kill()
            recorder.wait()
            self.assertTrue(until(lambda: status(target.pid, "TracerPid") == "0"))
            self.assertEqual(target.end(), ("errors=0 broken=0 alive=1\n", 7))
        self.assertFalse(Recording(path, None).info["complete"])

    def test_often(self):
        with Target() as target:
            for _ in range(10):
                self.detach(*self.attach(target))
            self.assert_left_alone(target)
            self.assertEqual(target.end(), ("errors=0 broken=0 alive=1\n", 7))

    def refused(self, pid, *words):
        result = run([RECORD, "-o", self.fresh(), "-p", pid])
        self.assertEqual(result.status, 125)
        self.assert_one_line(result.err, f"-p {pid}", *words)

    def test_refusals(self):
        with Target() as target:
            path, recorder = self.attach(target)
            self.refused(target.pid, "traced", recorder.pid)
            self.detach(path, recorder)
            thread = max(int(tid) for tid in os.listdir(f"/proc/{target.pid}/task"))
            self.refused(thread, f"use -p {target.pid}")
        self.refused(2, "kernel")
        self.refused(2 ** 22 + 1, "no such process")
        for wrong in (["-p", "0"], ["-p", "x"], ["-p", "1", "true"], ["-p", "1", "--user", "nobody"]):
            result = run([RECORD, *wrong])
            self.assertEqual(result.status, 125)
            self.assert_one_line(result.err, "-")


class MapsFrames(Case):
    def test_launched(self):
        recording = self.record([program("case_withheld")], "--maps", "frames", "-i", "5")
        self.assert_clean(recording)
        self.assertEqual(recording.info["sources"]["maps"], "frames")
        self.assertEqual(recording.events("mmap"), [])
        names = {m["name"] for m in recording.ask("maps", "--at", "end")}
        self.assertIn("[stack]", names)


if __name__ == "__main__":
    main()
