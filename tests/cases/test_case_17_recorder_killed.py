"""The recorder is killed (SIGKILL) at any moment: nothing is left behind, and the trace opens up to then.

Guard: recorder/launch.c PTRACE_O_EXITKILL: without it the program's processes were left, their memory calls failing
with ENOSYS. recorder/sink.c: chunks are closed at most 200 ms after their first event; with two seconds the last part
of the trace was missing.
"""

import os
import random
import signal
import subprocess
import time

from cases import WorldCase, main, program
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
    def round(self, seconds, options):
        path = self.fresh()
        recorder = subprocess.Popen([RECORD, "-q", "-o", path, *options, "--", program("case_17_busy")],
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
        print(f"lost at most {max(lost) / 1e6:.0f} ms, in the middle {sorted(lost)[len(lost) // 2] / 1e6:.0f} ms")
        late = [ns for ns in lost if ns > LOST_NS]
        self.assertLessEqual(len(late), 0, [f"{ns / 1e6:.0f} ms" for ns in late])


if __name__ == "__main__":
    main()
