"""--ring: the last part of a run in bounded space, kept at the end, after a kill, or at SIGUSR1; sound and true."""

import signal
import subprocess
import time

from cases import program
from vmvis import RECORD, Case, Recording, main, run, sample

FILL = [sample("random_fill"), "--mb", "24", "--passes", "12", "--seconds", "6"]


class Ring(Case):
    def left_over(self, path):
        return sorted(entry.name for entry in path.parent.iterdir() if entry.name != path.name)

    def check(self, recording, seconds):
        """What is kept is sound, begins with one gap, and reaches back far enough."""
        verdict = recording.one("verify")
        self.assertTrue(verdict["ok"], verdict["errors"][:3])
        gaps = [gap for gap in recording.info["gaps"] if "--ring" in gap["why"]]
        self.assertEqual(len(gaps), 1)
        self.assertEqual(gaps[0]["from"], 0)
        kept = recording.info["duration_ns"] - gaps[0]["to"]
        self.assertGreaterEqual(kept, seconds * 1e9)
        self.assertLess(kept, 3 * seconds * 1e9 + 1e9)
        events = recording.events()
        self.assertTrue(all(event["t"] >= gaps[0]["to"] for event in events if event["type"] != "gap"))
        return gaps[0]["to"]

    def start(self, path, *options):
        recorder = subprocess.Popen([RECORD, "-q", "-o", path, *options, "--", program("case_attach")],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stdout.close)
        self.addCleanup(recorder.stdin.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        return recorder, dict(word.split("=") for word in recorder.stdout.readline().split()[1:])

    def test_time(self):
        path = self.fresh()
        recorder, truth = self.start(path, "--ring", "1s")
        time.sleep(4)
        out, _ = recorder.communicate(timeout=20)
        self.assertEqual((out, recorder.returncode), ("errors=0 broken=0 alive=1\n", 7))
        self.assertEqual(self.left_over(path), [])
        recording = Recording(path, None)
        self.assert_clean(recording)
        begin = self.check(recording, 1)
        self.assertEqual(recording.info["exit"], {"code": 7})
        self.assertEqual(recording.info["settings"]["ring"], "1s")
        # What was written before the ring began, and not since, is known all the same, and said to be of old.
        for when in (str(begin + 1_000_000) + "ns", "end"):
            old = recording.read(truth["old"], 16, "--at", when)
            self.assertEqual((old["hex"], old["certainty"]), ("8877665544332211" * 2, "stale"))
        names = {m["name"] for m in recording.ask("maps", "--at", str(begin + 1_000_000) + "ns")}
        self.assertIn("[stack]", names)
        self.assertEqual({thread["tid"] for thread in recording.ask("threads", "--at", str(begin + 1) + "ns")} - {0},
                         {thread["tid"] for thread in recording.ask("threads", "--at", str(begin + 1_000_000) + "ns")})
        self.assertGreater(len(recording.events("munmap")), 50)

    def test_killed(self):
        path = self.fresh()
        recorder, truth = self.start(path, "--ring", "1s")
        time.sleep(3.5)
        recorder.kill()
        recorder.wait()
        recording = Recording(path, None)
        self.assertFalse(recording.info["complete"])
        self.check(recording, 0.7)
        self.assertEqual(recording.read(truth["old"], 8, "--at", "end")["hex"], "8877665544332211")

    def test_kept_at_request(self):
        path = self.fresh()
        recorder, truth = self.start(path, "--ring", "1s")
        for count in (1, 2):
            time.sleep(2.5)
            recorder.send_signal(signal.SIGUSR1)
            deadline = time.monotonic() + 10
            kept = path.with_name(f"{path.name}.{count}")
            while not (kept.exists() and Recording(kept, None).info["complete"]) and time.monotonic() < deadline:
                time.sleep(0.05)
            recording = Recording(kept, None)
            self.assert_clean(recording)
            self.check(recording, 0.9)
            self.assertIsNone(recording.info["exit"])
            self.assertEqual(recording.read(truth["old"], 8, "--at", "end")["hex"], "8877665544332211")
        out, _ = recorder.communicate(timeout=20)
        self.assertEqual((out, recorder.returncode), ("errors=0 broken=0 alive=1\n", 7))
        self.assert_clean(Recording(path, None))
        self.assertEqual(self.left_over(path), [path.name + ".1", path.name + ".2"])

    def test_size(self):
        path, largest = self.fresh(), 0
        limit = 40 << 20

        def watch(pid):
            nonlocal largest
            sizes = [entry.stat().st_size for entry in path.parent.iterdir() if entry.exists()]
            largest = max(largest, sum(sizes))
        result = run([RECORD, "-q", "-o", path, "--ring", "40M", "--budget", "none", "--", *FILL], watch=watch, timeout=60)
        self.assertEqual(result.status, 0, result)
        recording = Recording(path, result)
        self.assert_clean(recording)
        self.assertLess(largest, 2.2 * limit)
        self.assertEqual(self.left_over(path), [])
        self.assertTrue(any("--ring" in gap["why"] for gap in recording.info["gaps"]))

    def test_short_run_is_kept_whole(self):
        path = self.fresh()
        recording = self.record_to(path, [sample("variable"), "--changes", "3"], "-q", "--ring", "60s")
        self.assert_clean(recording)
        self.assertEqual(recording.info["gaps"], [])
        self.assertGreater(len(recording.events("exec")), 0)

    def test_crash_is_kept(self):
        path = self.fresh()
        script = "import time, ctypes\nfor i in range(200): time.sleep(0.02); x = bytearray(100000)\nctypes.string_at(0)"
        result = run([RECORD, "-q", "-o", path, "--ring", "1s", "--", "python3", "-c", script], timeout=60)
        self.assertEqual(result.status, -11)
        recording = Recording(path, result)
        self.assert_clean(recording)
        fatal = [event for event in recording.events("signal") if event["fatal"]]
        self.assertEqual([event["number"] for event in fatal], [11])
        self.assertEqual(recording.ask("frames")[-1]["why"], "signal")

    def test_wrong(self):
        for options, word in ((["--ring", "0"], "--ring"), (["--ring", "5x"], "--ring"), (["--ring", "1M"], "--ring"),
                              (["--ring", "60s", "-o", "-"], "-o -"), (["--ring", "60s", "--max-size", "1G"], "--max-size")):
            result = run([RECORD, *options, "--", "true"])
            self.assertEqual(result.status, 125)
            self.assert_one_line(result.err, word)


if __name__ == "__main__":
    main()
