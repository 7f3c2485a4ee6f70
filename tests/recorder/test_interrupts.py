"""What the recorder's own interrupts and stops must not do to the program."""

import os
import pty
import select
import subprocess
import sys
import time

from vmvis import Case, RECORD, main, run

EVERY_FRAME = ("--interval", "5", "--budget", "none")

# A blocking write of 1 MiB to a slow reader is one write; MSG_WAITALL gives all or nothing.
TRANSFERS = """
import os, socket, time
size = 1 << 20
def slow_reader(read):
    got = 0
    while got < 40 * size:
        part = len(read(65536))
        if not part:
            break
        got += part
        for i in range(2000): pass
    os._exit(0)
r, w = os.pipe()
if os.fork() == 0:
    os.close(w)
    slow_reader(lambda n: os.read(r, n))
os.close(r)
data = bytes(size)
print("short writes", sum(os.write(w, data) != size for _ in range(40)))
os.close(w)
os.wait()
a, b = socket.socketpair()
if os.fork() == 0:
    b.close()
    for i in range(400):
        a.sendall(bytes(8192))
        for i in range(2000): pass
    os._exit(0)
a.close()
print("short receives", sum(len(b.recv(65536, socket.MSG_WAITALL)) != 65536 for _ in range(50)))
os.wait()
"""

# SIGSTOP sent right after fork reaches the child before its first instruction.
EARLY_STOP = """
import os, signal
for i in range(10):
    pid = os.fork()
    if pid == 0:
        while True: signal.pause()
    os.kill(pid, signal.SIGSTOP)
    pid, status = os.waitpid(pid, os.WUNTRACED)
    print(os.WIFSTOPPED(status), os.WSTOPSIG(status))
    os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGKILL)
    print(os.WTERMSIG(os.waitpid(pid, 0)[1]))
"""


class Interrupts(Case):
    def same(self, script, *options):
        program = [sys.executable, "-c", script]
        alone = run(program)
        result = self.record(program, *options).result
        self.assertEqual((result.status, result.out), (alone.status, alone.out))
        return result.out

    def test_transfers_are_whole(self):
        out = self.same(TRANSFERS, *EVERY_FRAME)
        self.assertEqual(out.split("\n")[:2], ["short writes 0", "short receives 0"])

    def test_stop_right_after_fork(self):
        self.same(EARLY_STOP)

    def test_terminal_stop_stops_the_recorder_too(self):
        """Ctrl-Z at a shell: its job is stopped; fg goes on with it."""
        trace = self.fresh("t.vmv")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        self.addCleanup(subprocess.run, ["kill", "-9", str(pid)], stderr=subprocess.DEVNULL)
        shown = b""

        def wait_for(text, seconds=20):
            nonlocal shown
            end = time.monotonic() + seconds
            while text not in shown:
                ready = select.select([terminal], [], [], max(0, end - time.monotonic()))[0]
                self.assertTrue(ready, f"{text!r} did not come; the terminal shows {shown[-400:]!r}")
                shown += os.read(terminal, 4096)
            shown = shown[shown.index(text) + len(text):]

        def say(line):
            os.write(terminal, line)

        say(b"PS1='ready> '\n")
        wait_for(b"ready> ")
        # one process: a shell that is stopped within vfork could not report it, alone neither
        script = "import sys, time; print('go' + 'ing', flush=True); time.sleep(1); sys.exit(7)"
        say(f'{RECORD} -q -o {trace} -- {sys.executable} -c "{script}"\n'.encode())
        wait_for(b"going")
        say(b"\x1a")
        wait_for(b"Stopped")
        say(b"fg\n")
        wait_for(b"fg")
        wait_for(b"ready> ")
        say(b"echo status=$?\n")
        wait_for(b"status=7")
        say(b"exit\n")
        os.close(terminal)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
