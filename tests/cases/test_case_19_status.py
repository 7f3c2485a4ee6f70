"""Exit status, death by signal, programs that are missing or cannot be run.

Guard: recorder/main.c die_by and recorder/record.c take_result: where the status is not taken from the program's end,
every program seems to succeed.
"""

import os
import signal

from cases import WorldCase, main
from vmvis import RECORD, run


class Status(WorldCase):
    def test_as_alone(self):
        for argv in (["sh", "-c", "exit 3"], ["sh", "-c", "kill -ABRT $$"], ["sh", "-c", "kill -KILL $$"],
                     ["sh", "-c", "kill -SEGV $$"], ["sh", "-c", "(sleep 0.3; exit 9) & exit 4"]):
            with self.subTest(argv=argv):
                recording = self.compare(argv)
                code = recording.info["exit"]
                wanted = {"code": recording.alone.status} if recording.alone.status >= 0 else \
                    {"signal": -recording.alone.status}
                self.assertEqual(code, wanted)

    def refused(self, target, status, *words):
        path = self.fresh()
        result = run([RECORD, "-o", path, "--", target])
        self.assertEqual(result.status, status, result)
        self.assert_one_line(result.err, *words)
        self.assertFalse(path.exists(), "no trace of a program that never ran")

    def test_what_cannot_run(self):
        folder = self.fresh("x").parent
        (folder / "plain").write_text("hello\n")
        (folder / "bad").write_text("#!/no/such/interpreter\n")
        (folder / "bad").chmod(0o755)
        (folder / "elf").write_bytes(b"\x7fELF" + bytes(60))
        (folder / "elf").chmod(0o755)
        self.refused("./no-such-program", 127, "no-such-program")
        self.refused("no-such-program-in-path", 127, "not found")
        self.refused(folder, 126, folder)
        self.refused(folder / "plain", 126, "plain")
        self.refused(folder / "bad", 127, "bad")
        self.refused(folder / "elf", 126, "elf")

    def test_script_without_interpreter(self):
        script = self.fresh("script")
        script.write_text("echo from a script; exit 6\n")
        script.chmod(0o755)
        result = run([RECORD, "-q", "-o", self.fresh(), "--", script])
        self.assertEqual((result.status, result.out), (6, "from a script\n"))

    def test_a_former_trace_stays(self):
        path = self.fresh()
        path.write_bytes(b"former")
        run([RECORD, "-o", path, "--", "./no-such-program"])
        self.assertEqual(path.read_bytes(), b"former")


if __name__ == "__main__":
    main()
