"""Programs that cannot be run and files that are no traces: one line that names the thing and the remedy, and a status."""

import json
import os
import struct

from vmvis import INSPECT, RECORD, REPLAY, Case, main, run, sample

HEADER = 64  # bytes
MAJOR_AT = 8  # u16, after the magic


class BadProgram(Case):
    def check(self, program, status, *words):
        path = self.fresh()
        result = run([RECORD, "-o", path, "--", *program])
        self.assertEqual(result.status, status, result)
        self.assertEqual(result.out, "")
        self.assert_one_line(result.err, *words)

    def test_missing(self):
        self.check(["no-such-program-at-all"], 127, "no-such-program-at-all")
        self.check([self.folder / "nothing"], 127, self.folder / "nothing")

    def test_not_executable(self):
        text = self.fresh("text")
        text.write_text("just text\n")
        text.chmod(0o644)
        self.check([text], 126, text)

    def test_folder(self):
        self.check([self.folder], 126, self.folder)

    def test_of_an_unknown_kind(self):
        text = self.fresh("garbage")
        text.write_bytes(b"\x7fELF garbage" * 9)
        text.chmod(0o755)
        self.check([text], 126, text)

    def test_an_earlier_trace_survives_a_program_that_never_started(self):
        path = self.fresh()
        path.write_text("precious")
        run([RECORD, "-o", path, "--", "no-such-program-at-all"])
        kept = [p.read_text(errors="replace") for p in path.parent.iterdir()]
        self.assertIn("precious", kept)


class BadTrace(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.good = cls.record([sample("mmap_churn")])
        cls.bytes = cls.good.path.read_bytes()

    def written(self, content, name="t.vmv"):
        path = self.fresh(name)
        path.write_bytes(content)
        return path

    def refused(self, path, *words):
        """By every program, with status 3 and one line that names the file."""
        for command in ("info", "verify", "events", "maps"):
            result = run([INSPECT, command, path])
            self.assertEqual((result.status, result.out), (3, ""), result)
            self.assert_one_line(result.err, path, *words)
        picture = path.with_name("picture.png")
        result = run([REPLAY, "--screenshot", picture, path])
        self.assertEqual(result.status, 3, result)
        self.assert_one_line(result.err, path, *words)
        self.assertFalse(picture.exists())

    def test_empty(self):
        self.refused(self.written(b""), "empty")

    def test_cut_within_its_header(self):
        for length in (1, 7, 8, 20, HEADER - 1):
            with self.subTest(length=length):
                self.refused(self.written(self.bytes[:length]))

    def test_of_another_kind(self):
        for content in (b"hello, this is text\n" * 50, open("/bin/sh", "rb").read(), b"\0" * 4096):
            self.refused(self.written(content))

    def test_newer_major_version(self):
        newer = bytearray(self.bytes)
        major = struct.unpack_from("<H", newer, MAJOR_AT)[0]
        self.assertEqual(major, int(str(self.good.info["format"]).split(".")[0]))
        struct.pack_into("<H", newer, MAJOR_AT, major + 1)
        self.refused(self.written(bytes(newer)), str(major + 1))

    def test_missing_file(self):
        path = self.folder / "none.vmv"
        for program in ([INSPECT, "info", path], [REPLAY, "--screenshot", self.folder / "p.png", path]):
            result = run(program)
            self.assertEqual(result.status, 3, result)
            self.assert_one_line(result.err, path)

    def test_folder(self):
        result = run([INSPECT, "info", self.folder])
        self.assertEqual(result.status, 3, result)
        self.assert_one_line(result.err, self.folder)

    def test_cut_later(self):
        """Opens up to the cut, says so in one line, and is sound up to there."""
        size = len(self.bytes)
        whole = len(self.good.events())
        for length in (size - 1, size - 30, size * 9 // 10, size // 2):
            with self.subTest(length=length, of=size):
                path = self.written(self.bytes[:length])
                result = run([INSPECT, "info", "--json", path])
                self.assertEqual(result.status, 0, result)
                self.assertIs(json.loads(result.out)["complete"], False)
                self.assert_one_line(result.err, path)
                verdict = run([INSPECT, "verify", "--json", path])
                self.assertEqual((verdict.status, json.loads(verdict.out)["ok"]), (0, True), verdict)
                events = run([INSPECT, "events", "--json", path])
                self.assertEqual(events.status, 0)
                self.assertLessEqual(len(events.out.splitlines()), whole)

    def test_cut_later_opens_in_the_window_too(self):
        path = self.written(self.bytes[:len(self.bytes) * 9 // 10])
        picture = path.with_name("picture.png")
        result = run([REPLAY, "--screenshot", picture, path])
        self.assertEqual(result.status, 0, result)
        self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_damage_is_found_and_placed(self):
        damaged = bytearray(self.bytes)
        for offset in range(len(damaged) // 3, len(damaged) // 3 + 40):
            damaged[offset] ^= 0xff
        result = run([INSPECT, "verify", "--json", self.written(bytes(damaged))])
        self.assertEqual(result.status, 3, result)
        verdict = json.loads(result.out)
        self.assertIs(verdict["ok"], False)
        self.assertLess(verdict["errors"][0]["offset"], len(damaged) // 3 + 40)


class Usage(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.good = cls.record(["true"])

    def test_wrong_use_is_status_2(self):
        path = self.good.path
        for arguments in ([], ["info"], ["nonsense", path], ["maps", path, "--at"], ["maps", path, "--at", "soon"],
                          ["maps", path, "--nonsense"], ["read", path, "0x10,many"], ["events", path, "--event", "x"]):
            with self.subTest(arguments=arguments):
                result = run([INSPECT, *arguments])
                self.assertEqual((result.status, result.out), (2, ""), result)
                self.assertGreaterEqual(len(result.err.splitlines()), 1)

    def test_no_such_thing_is_status_1(self):
        path = self.good.path
        for arguments in (["maps", path, "--pid", "1"], ["maps", path, "--at", "mark:none"],
                          ["maps", path, "--at", "frame:99999"], ["read", path, "map:no-such-name"]):
            with self.subTest(arguments=arguments):
                result = run([INSPECT, *arguments])
                self.assertEqual((result.status, result.out), (1, ""), result)
                self.assertEqual(len(result.err.splitlines()), 1, result)

    def test_a_reader_that_goes_away(self):
        result = run(["sh", "-c", f"'{INSPECT}' events '{self.good.path}' | head -1"])
        self.assertEqual((result.status, result.err), (0, ""), result)
        self.assertEqual(os.path.getsize(self.good.path), self.good.info["file_bytes"])


if __name__ == "__main__":
    main()
