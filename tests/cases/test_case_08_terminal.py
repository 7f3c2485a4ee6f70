"""The terminal: bash, vi and less in a pseudo-terminal, Ctrl-C to the program and not to the recorder, Ctrl-Z and fg.

Guard: recorder/forward.c tracer_stop_with_program: without it the shell waits for ever after Ctrl-Z; will_not_stop:
without it a Ctrl-Z that the program ignored stopped the recorder at the program's next stop of any kind, for ever.
recorder/signals.c: with SIGINT left to its default Ctrl-C ended the recorder and with it the program; with on_stop and
on_continue not passing on what was sent to the recorder alone, a parent could not stop and continue the program.
"""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from cases import WorldCase, main
from vmvis import RECORD, Recording

PATIENCE = 20
INTERRUPTED = """
import signal, sys, time
count = 0
def handler(number, frame):
    global count
    count += 1
    print("interrupt", count, flush=True)
    if count == 3: sys.exit(5)
signal.signal(signal.SIGINT, handler)
print("ready", flush=True)
while True: time.sleep(0.02)
"""

# Says its number, then each SIGCONT; ignores Ctrl-Z where told to.
STOPPED = """
import os, signal, sys, time
if "ignore" in sys.argv: signal.signal(signal.SIGTSTP, signal.SIG_IGN)
signal.signal(signal.SIGCONT, lambda *_: os.write(1, b"continued\\n"))
os.write(1, b"ready %d\\n" % os.getpid())
memory, end = bytearray(1 << 20), time.monotonic() + 20
while time.monotonic() < end:
    memory[::4096] = os.urandom(256)
    time.sleep(0.02)
"""


class Terminal:
    """A program that leads a session on a terminal of its own."""

    def __init__(self, argv, env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", "PS1": "$ ", "LESS": "", "HISTFILE": "/dev/null", **(env or {})})
            os.execvp(argv[0], argv)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} did not come: {self.seen[-500:]!r}")
            try:
                self.seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the terminal ended before {pattern!r} came: {self.seen[-500:]!r}")
        self.seen = self.seen[found.end():]
        return found

    def end(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.02)[0]:
                try:
                    self.seen += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"it did not end: {self.seen[-500:]!r}")


class TheTerminal(WorldCase):
    def recorded(self, *argv):
        self.path = self.fresh()
        return [str(RECORD), "-q", "-i", "5", "-o", str(self.path), "--", *argv]

    def both(self, argv, play):
        """Plays the same alone and recorded."""
        with Terminal(argv) as terminal:
            alone = play(terminal)
        with Terminal(self.recorded(*argv)) as terminal:
            self.assertEqual(play(terminal), alone)
        self.assert_clean(Recording(self.path, None))

    def need(self, name):
        if not shutil.which(name):
            raise unittest.SkipTest(f"{name} is not installed")

    def test_interrupt(self):
        def play(terminal):
            terminal.expect("ready")
            for count in range(1, 4):
                terminal.type("\x03")
                terminal.expect(f"interrupt {count}")
            return terminal.end()
        self.both([sys.executable, "-c", INTERRUPTED], play)

    def test_interrupt_kills(self):
        def play(terminal):
            terminal.expect("ready")
            terminal.type("\x03")
            return terminal.end()
        self.both(["sh", "-c", "echo ready; exec sleep 60"], play)

    def test_bash(self):
        self.need("bash")

        def play(terminal):
            terminal.expect(r"\$ ")
            terminal.type("echo one $((40 + 2))\n")
            terminal.expect(r"one 42\r\n")
            terminal.type("sleep 60\n")
            time.sleep(0.3)
            terminal.type("\x1a")
            terminal.expect("Stopped")
            terminal.type("jobs; bg; kill %1; wait %1; echo status $?\n")
            terminal.expect(r"status 143\r\n")
            terminal.type("cat\n")
            time.sleep(0.2)
            terminal.type("echoed\n")
            terminal.expect("echoed\r\nechoed")
            terminal.type("\x03")
            terminal.expect(r"\$ ")
            terminal.type("sleep 0.1 & wait; exit 6\n")
            return terminal.end()
        self.both(["bash", "--norc", "--noprofile", "-i"], play)

    def test_stopped_and_continued_by_the_shell(self):
        self.need("bash")

        def play(terminal, command):
            terminal.expect(r"\$ ")
            terminal.type(command + "\n")
            terminal.expect("ready")
            for _ in range(3):
                terminal.type("\x1a")
                terminal.expect("Stopped")
                time.sleep(0.1)
                terminal.type("fg\n")
                terminal.expect("sleep|record|python|sh -c")
                time.sleep(0.2)
            terminal.type("\x03")
            terminal.expect(r"\$ ")
            terminal.type("echo status $?; exit 6\n")
            status = terminal.expect(r"status (\d+)\r\n")[1]
            return status, terminal.end()
        command = "sh -c 'echo read''y; exec sleep 60'"
        shell = ["bash", "--norc", "--noprofile", "-i"]
        with Terminal(shell) as terminal:
            alone = play(terminal, command)
        self.path = self.fresh()
        with Terminal(shell) as terminal:
            recorded = play(terminal, f"{RECORD} -q -i 5 -o {self.path} -- {command}")
        self.assertEqual(recorded, alone)
        self.assert_clean(Recording(self.path, None))

    def test_stopped_later_by_another(self):
        """A Ctrl-Z that the program ignored is over: a later stop of the program is not the recorder's."""
        def play(terminal):
            child = int(terminal.expect(r"ready (\d+)")[1])
            terminal.type("\x1a")
            time.sleep(0.2)
            os.kill(child, signal.SIGSTOP)
            time.sleep(0.2)
            os.kill(child, signal.SIGCONT)
            terminal.expect("continued")
            terminal.type("\x03")
            return terminal.end()
        self.both([sys.executable, "-c", STOPPED, "ignore"], play)

    def test_stopped_and_continued_by_the_parent(self):
        """As by one that knows nothing of the recorder: what it started stops and goes on."""
        def play(argv):
            # a group of its own, but not an orphaned one, in which SIGTSTP does nothing
            group = {"preexec_fn": lambda: os.setpgid(0, 0)}
            with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **group) as started:
                self.addCleanup(started.kill)
                started.stdout.readline()
                seen = []
                for _ in range(3):
                    os.kill(started.pid, signal.SIGTSTP)
                    seen.append(os.WIFSTOPPED(self.wait_for_change(started.pid, os.WUNTRACED)))
                    os.kill(started.pid, signal.SIGCONT)
                    seen.append(os.WIFCONTINUED(self.wait_for_change(started.pid, os.WCONTINUED)))
                    seen.append(started.stdout.readline())
                os.kill(started.pid, signal.SIGTERM)
                return seen, started.wait(PATIENCE)
        argv = [sys.executable, "-c", STOPPED]
        alone = play(argv)
        self.assertEqual(alone, ([True, True, "continued\n"] * 3, -signal.SIGTERM))
        self.assertEqual(play(self.recorded(*argv)), alone)
        self.assert_clean(Recording(self.path, None))

    def wait_for_change(self, pid, options):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found, status = os.waitpid(pid, options | os.WNOHANG)
            if found:
                return status
            time.sleep(0.005)
        self.fail("its parent saw no change")

    def test_reads_in_the_background(self):
        """SIGTTIN stops the job, program and recorder; fg goes on."""
        self.need("bash")
        self.path = self.fresh()
        with Terminal(["bash", "--norc", "--noprofile", "-i"]) as terminal:
            terminal.expect(r"\$ ")
            terminal.type(f"{RECORD} -q -i 5 -o {self.path} -- cat &\n")
            terminal.expect(r"\$ ")
            time.sleep(0.4)
            terminal.type("\n")
            terminal.expect("Stopped")
            terminal.type("fg\n")
            time.sleep(0.2)
            terminal.type("typed\n")
            terminal.expect("typed\r\ntyped\r\n")
            terminal.type("\x04")
            terminal.type("exit 6\n")
            self.assertEqual(terminal.end(), 6)
        self.assert_clean(Recording(self.path, None))

    def test_less(self):
        self.need("less")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "lines")
            file.write_text("".join(f"line {n} of it\n" for n in range(1000)))

            def play(terminal):
                terminal.expect("line 5 of it")
                terminal.type(" ")
                terminal.expect("line 30 of it")
                terminal.type("G")
                terminal.expect("line 999 of it")
                terminal.type("q")
                return terminal.end()
            self.both(["less", str(file)], play)

    def test_vi(self):
        self.need("vi")
        with tempfile.TemporaryDirectory() as folder:
            texts = []

            def play(terminal):
                file = Path(folder, "text")
                terminal.expect("text")
                time.sleep(0.3)
                terminal.type("ihello from vi\x1b")
                time.sleep(0.2)
                terminal.type(":wq\r")
                status = terminal.end()
                texts.append(file.read_text())
                file.unlink()
                return status
            self.both(["vi", str(Path(folder, "text"))], play)
            self.assertEqual(texts, ["hello from vi\n"] * 2)


if __name__ == "__main__":
    main()
