"""The recorder is killed (SIGKILL) at any moment: nothing is left behind, and the trace opens up to then.

Guard: recorder/launch.c PTRACE_O_EXITKILL: without it the program's processes were left, their memory calls failing
with ENOSYS. recorder/sink.c: chunks are closed at most 200 ms after their first event; with two seconds the last part
of the trace was missing. recorder/sink.c sink_frame_reserve and close_before_long: where 48 MB of contents wait for the
writer under --budget none, up to 520 ms were missing. recorder/sink_pace.c: with a writer that is niced all the time, and
three other busy programs, up to 440 ms were missing.
"""

import os
import random
import signal
import subprocess
import time

from cases import BUSY, WorldCase, main, program
from vmvis import RECORD, Recording

LONG = os.environ.get("VMVIS_LONG")
ROUNDS = 200 if LONG else 12
LOST_NS = 250_000_000


def session_of(leader):
    """Processes of the session, those that wait for their parent to reap them left out."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if fields[3] == str(leader) and fields[0] not in "ZX":
            found.append((int(entry), fields[0]))
    return found


class Killed(WorldCase):
    def round(self, seconds, options, *arguments):
        path = self.fresh()
        recorder = subprocess.Popen([RECORD, "-q", "-o", path, *options, "--", program("case_17_busy"), *arguments],
                                    stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            self.assertEqual(recorder.stdout.readline(), b"busy\n")
            time.sleep(seconds)
            killed = time.monotonic_ns()
            recorder.kill()
            recorder.wait()
            deadline = time.monotonic() + 10
            while session_of(recorder.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(session_of(recorder.pid), [])
        finally:
            try:
                os.killpg(recorder.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            recorder.wait()
            recorder.stdout.close()
        recording = Recording(path, None)
        self.assertFalse(recording.info["complete"])
        verdict = recording.one("verify")
        self.assertTrue(verdict["ok"], verdict["errors"][:3])
        lost = killed - recording.info["start_monotonic_ns"] - recording.info["duration_ns"]
        path.unlink()
        return lost

    def test_at_random_moments(self):
        chance = random.Random(17)
        sources = self.each_source()
        lost = []
        for n in range(ROUNDS):
            source, options = sources[n % len(sources)]
            with self.subTest(round=n, source=source):
                lost.append(self.round(chance.uniform(0.05, 0.8), options))
        self.check(lost, 0.95)

    def test_with_many_contents(self):
        chance = random.Random(18)
        for options, share in ([], 0.8), (BUSY, 0.5):  # BUSY: frames of the whole memory, as fast as they can be written
            with self.subTest(options=options):
                self.check([self.round(chance.uniform(0.3, 0.9), options, "contents") for _ in range(ROUNDS // 4)], share)

    def check(self, lost, share):
        """Of a share of the rounds: a disk, or what else runs here, may hold up the writer for a moment."""
        lost.sort()
        print(f"lost at most {lost[-1] / 1e6:.0f} ms, in the middle {lost[len(lost) // 2] / 1e6:.0f} ms")
        self.assertLess(lost[int(len(lost) * share) - 1], LOST_NS, [f"{ns / 1e6:.0f} ms" for ns in lost if ns > LOST_NS])


if __name__ == "__main__":
    main()
