"""Signals sent to the recorder: passed on to the program, or the end of the recording; the trace opens all the same.

Guard: recorder/signals.c launched_handler: with a list of common signals in its place one of 34 to 64, SIGABRT and
SIGSYS killed the recorder and with it the program, without an end in the trace, and SIGINT and SIGQUIT were lost;
is_from_kernel_for_us: without it the alarm that a program was started with never came, nor the end of the terminal;
signals_catch: with signals left blocked that were so at the start, frames and SIGTERM never came; end_if_stuck: without
it only SIGKILL ended a recorder whose trace nobody reads. recorder/forward.c has_it: without it the program got the
SIGTERM of `timeout` twice; count_requests: with all requests within a fifth of a second, or those that came together,
taken for one, two SIGTERMs in a row did not end the recording; send: without the processes that are left SIGTERM was
lost once the first one had ended.
"""

import os
import pty
import shutil
import signal
import subprocess
import sys
import time

from cases import WorldCase, main, program
from vmvis import RECORD, Recording

# Says when it is ready, then what it is sent; ends with status 3 at SIGTERM, unless it was told to ignore it.
PROGRAM = """
import os, signal, sys, time
def handler(number, frame):
    if number == signal.SIGHUP and "hup" in sys.argv: os._exit(4)
    os.write(2, b"got %d\\n" % number)
    if "slow" in sys.argv: time.sleep(0.5)
    if number == signal.SIGTERM and "ignore" not in sys.argv: os._exit(3)
for number in range(1, 65):
    if number not in (9, 17, 19, 32, 33): signal.signal(number, handler)
os.write(2, b"ready\\n")
memory, end = bytearray(1 << 20), time.monotonic() + 20
while time.monotonic() < end:
    memory[::4096] = os.urandom(256)
    time.sleep(0.02)
"""
SI_QUEUE = -1
NOT_PASSED_ON = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGURG, 32, 33}


class Program:
    def __init__(self, case, path, *arguments, before=(), command=(sys.executable, "-c", PROGRAM), inherits=None):
        argv = [*before, str(RECORD), "-q", "-o", str(path), "--", *command, *arguments]
        self.process = subprocess.Popen(argv, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True, preexec_fn=inherits)
        case.addCleanup(self.kill)
        assert self.process.stderr.readline() == "ready\n"

    def send(self, number):
        self.process.send_signal(number)

    def expect(self, number):
        line = self.process.stderr.readline()
        assert line == f"got {int(number)}\n", f"{number}: {line}"

    def kill(self):
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()

    def end(self):
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


class RecorderSignals(WorldCase):
    def test_terminated(self):
        path = self.fresh()
        started = Program(self, path)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end(), (3, "got 15\n"))
        recording = Recording(path, None)
        self.assert_clean(recording)
        self.assertEqual(recording.info["exit"], {"code": 3})

    def test_passed_on(self):
        path = self.fresh()
        started = Program(self, path)
        for number in range(1, 65):
            if number in NOT_PASSED_ON or number == signal.SIGTERM:
                continue
            if number in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
                continue  # the terminal's: test_case_08_terminal.py
            started.send(number)
            started.expect(number)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end(), (3, "got 15\n"))
        self.assert_clean(Recording(path, None))

    def test_none_is_silent_death(self):
        """Also signals that are not passed on leave the recorder alive."""
        path = self.fresh()
        started = Program(self, path)
        for number in (signal.SIGCHLD, signal.SIGURG):
            started.send(number)
        time.sleep(0.1)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end()[0], 3)
        self.assert_clean(Recording(path, None))

    def test_values_and_numbers_of_real_time_signals(self):
        recording = self.record([program("case_18_values")], "-q")
        expected = [f"35/{SI_QUEUE}/{42 + n}" for n in range(3)] + [f"12/{SI_QUEUE}/45"] + [f"35/{SI_QUEUE}/7"] * 5
        self.assertEqual(recording.result.out.split(), expected)
        self.assert_clean(recording)

    def test_second_one_ends_the_recording(self):
        for pause in (0.01, 0.1, 0.4):
            with self.subTest(pause=pause):
                path = self.fresh()
                started = Program(self, path, "ignore")
                started.send(signal.SIGTERM)
                time.sleep(pause)
                started.send(signal.SIGTERM)
                self.assertEqual(started.end()[0], 128 + signal.SIGTERM)
                self.assert_clean(Recording(path, None))

    def test_hangups_do_not_end_it(self):
        path = self.fresh()
        started = Program(self, path)
        for _ in range(3):
            started.send(signal.SIGHUP)
            started.expect(signal.SIGHUP)
            time.sleep(0.25)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end(), (3, "got 15\n"))
        self.assert_clean(Recording(path, None))

    def test_blocked_and_ignored_at_the_start(self):
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
        path = self.fresh()
        started = Program(self, path, inherits=block)
        time.sleep(0.5)
        started.send(signal.SIGTERM)  # waits: the program has it blocked
        time.sleep(0.3)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end()[0], 128 + signal.SIGTERM)
        recording = Recording(path, None)
        self.assert_clean(recording)
        kinds = [event["why"] for event in recording.ask("frames")]
        self.assertGreater(kinds.count("interval"), 3)

    def test_alarm_of_the_caller(self):
        """As `perl -e 'alarm 1; exec @ARGV'` limits the time of a program."""
        path = self.fresh()
        started = Program(self, path, command=("sh", "-c", "echo ready >&2; exec sleep 20"),
                          inherits=lambda: signal.setitimer(signal.ITIMER_REAL, 1))
        self.assertEqual(started.end()[0], -signal.SIGALRM)
        recording = Recording(path, None)
        self.assert_clean(recording)
        self.assertEqual(recording.info["exit"], {"signal": signal.SIGALRM})

    def test_when_the_first_process_has_ended(self):
        path = self.fresh()
        started = Program(self, path, command=("sh", "-c", "sleep 60 & echo ready >&2; exit 6"))
        time.sleep(0.5)
        started.send(signal.SIGTERM)
        self.assertEqual(started.end()[0], 6)
        self.assert_clean(Recording(path, None))

    def test_nobody_reads_the_trace(self):
        unread, end = os.pipe()
        argv = [str(RECORD), "-q", "-i", "5", "--budget", "none", "-o", "-", "--", sys.executable, "-c",
                "import os\nwhile True: memory = os.urandom(1 << 22)"]
        with subprocess.Popen(argv, stdout=end, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            os.close(end)
            time.sleep(1.5)
            process.send_signal(signal.SIGTERM)
            time.sleep(3.5)
            process.send_signal(signal.SIGTERM)
            try:
                self.assertEqual(process.wait(10), 128 + signal.SIGTERM)
            finally:
                process.kill()
                os.close(unread)

    def test_many_in_a_row(self):
        path = self.fresh()
        started = Program(self, path, "ignore")
        for _ in range(50):
            started.send(signal.SIGTERM)
            time.sleep(0.02)
        self.assertEqual(started.end()[0], 128 + signal.SIGTERM)
        self.assert_clean(Recording(path, None))

    def test_timeout(self):
        if not shutil.which("timeout"):
            self.skipTest("timeout is not installed")
        path = self.fresh()
        started = Program(self, path, "slow", before=("timeout", "1"))
        status, err = started.end()
        self.assertEqual(status, 124)
        self.assertEqual(err.count(f"got {int(signal.SIGTERM)}\n"), 1)
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
