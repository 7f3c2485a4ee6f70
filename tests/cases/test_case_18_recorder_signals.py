"""Signals sent to the recorder: passed on to the program, or the end of the recording; the trace opens all the same.

Guard: recorder/signals.c: without on_forwarded SIGUSR1 killed the recorder and with it the program; with the time in
is_second left out, `timeout` ended the program before it could act on its SIGTERM. recorder/loop.c pass_signals:
without looking at what the program was sent itself, it got the SIGTERM of `timeout` twice and died of the second.
"""

import os
import pty
import shutil
import signal
import subprocess
import sys
import time

from cases import WorldCase, main
from vmvis import RECORD, Recording

# Says when it is ready, then what it is sent; ends with status 3 at SIGTERM, unless it was told to ignore it.
PROGRAM = """
import os, signal, sys, time
def handler(number, frame):
    if number == signal.SIGHUP and "hup" in sys.argv: os._exit(4)
    os.write(2, f"got {number}\\n".encode())
    if number == signal.SIGTERM and "ignore" not in sys.argv: sys.exit(3)
for number in (1, 10, 12, 14, 15, 26, 27, 29):
    signal.signal(number, handler)
os.write(2, b"ready\\n")
while True: time.sleep(0.05)
"""


class Program:
    def __init__(self, path, *arguments, before=()):
        argv = [*before, str(RECORD), "-q", "-o", str(path), "--", sys.executable, "-c", PROGRAM, *arguments]
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True)
        assert self.process.stderr.readline() == "ready\n"

    def send(self, number):
        self.process.send_signal(number)

    def expect(self, number):
        line = self.process.stderr.readline()
        assert line == f"got {number}\n", line

    def end(self):
        try:
            _, err = self.process.communicate(timeout=20)
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return self.process.returncode, err


class RecorderSignals(WorldCase):
    def test_terminated(self):
        path = self.fresh()
        program = Program(path)
        program.send(signal.SIGTERM)
        self.assertEqual(program.end(), (3, f"got {signal.SIGTERM}\n"))
        recording = Recording(path, None)
        self.assert_clean(recording)
        self.assertEqual(recording.info["exit"], {"code": 3})

    def test_passed_on(self):
        path = self.fresh()
        program = Program(path)
        for number in (10, 12, 14, 26, 27, 29, 1):  # USR1, USR2, ALRM, VTALRM, PROF, IO, HUP
            program.send(number)
            program.expect(number)
        time.sleep(0.3)
        program.send(signal.SIGINT)  # the terminal's: the program has it from there
        program.send(signal.SIGQUIT)
        program.send(signal.SIGPIPE)
        time.sleep(0.1)
        self.assertIsNone(program.process.poll())
        os.killpg(program.process.pid, signal.SIGKILL)
        self.assertEqual(program.end()[0], -signal.SIGKILL)

    def test_second_one_ends_the_recording(self):
        path = self.fresh()
        program = Program(path, "ignore")
        program.send(signal.SIGTERM)
        program.expect(signal.SIGTERM)
        time.sleep(0.4)
        program.send(signal.SIGTERM)
        status, _ = program.end()
        self.assertEqual(status, 128 + signal.SIGTERM)
        self.assert_clean(Recording(path, None))

    def test_many_in_a_row(self):
        path = self.fresh()
        program = Program(path, "ignore")
        for _ in range(50):
            program.send(signal.SIGTERM)
            time.sleep(0.02)
        self.assertEqual(program.end()[0], 128 + signal.SIGTERM)
        self.assert_clean(Recording(path, None))

    def test_timeout(self):
        if not shutil.which("timeout"):
            self.skipTest("timeout is not installed")
        path = self.fresh()
        program = Program(path, before=("timeout", "1"))
        status, err = program.end()
        self.assertEqual(status, 124)
        self.assertIn(f"got {signal.SIGTERM}\n", err)
        recording = Recording(path, None)
        self.assert_clean(recording)
        self.assertEqual(recording.info["exit"], {"code": 3})

    def test_terminal_closed(self):
        path = self.fresh()
        pid, terminal = pty.fork()
        if pid == 0:
            argv = [str(RECORD), "-q", "-o", str(path), "--", sys.executable, "-c", PROGRAM, "hup"]
            os.execv(argv[0], argv)
        said = b""
        while b"ready" not in said:
            said += os.read(terminal, 100)
        os.close(terminal)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.01)
        else:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self.fail("the recorder did not end")
        self.assertEqual(os.waitstatus_to_exitcode(status), 4)
        self.assert_clean(Recording(path, None))


if __name__ == "__main__":
    main()
