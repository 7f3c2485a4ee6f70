"""What the recorder passes on: exit statuses, signals, standard input and output; and what it does with its files."""

import json
import os
import signal
import sys
import time

from vmvis import MS, RECORD, Case, Trace, main, run, sample


class Statuses(Case):
    def test_exit_status_of_the_program(self):
        for code in (0, 1, 42, 125, 255):
            self.record(["sh", "-c", f"exit {code}"], status=code)

    def test_the_trace_knows_the_exit_status(self):
        self.assertEqual(self.record(["sh", "-c", "exit 42"], status=42).info["exit"], {"code": 42})
        self.assertEqual(self.record(["sh", "-c", "kill -TERM $$"], status=-15).info["exit"], {"signal": 15})

    def test_a_deadly_signal_kills_the_recorder_too(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGABRT, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(signal=number.name):
                self.record(["sh", "-c", f"kill -{number.value} $$"], status=-number)

    def test_status_of_a_process_that_exits_from_another_thread(self):
        code = ("import os, threading, time\n"
                "threading.Thread(target=lambda: os._exit(17)).start()\ntime.sleep(5)")
        self.record([sys.executable, "-c", code], status=17)

    def test_help_and_version(self):
        for option in ("--help", "--version"):
            result = run([RECORD, option])
            self.assertEqual((result.status, result.err), (0, ""), result)
            self.assertIn("vmvis-record", result.out)

    def test_wrong_options_cost_one_line(self):
        for options in (["--nonsense"], ["--faults", "magic", "--", "true"], ["--interval", "-3", "--", "true"], []):
            with self.subTest(options=options):
                result = run([RECORD, *options], cwd=self.folder)
                self.assertNotEqual(result.status, 0)
                self.assertEqual(len(result.err.splitlines()), 1, result)


class Streams(Case):
    def test_standard_input_reaches_the_program(self):
        self.assertEqual(self.record(["cat"], stdin=b"one\ntwo\n").result.out, "one\ntwo\n")

    def test_arguments_and_environment(self):
        program = ["sh", "-c", 'echo "$0|$1|$VMVIS_TEST"', "a b", "--interval"]
        result = self.record(program, env={"VMVIS_TEST": "x"}).result
        self.assertEqual(result.out, "a b|--interval|x\n")

    def test_program_is_in_info(self):
        recording = self.record(["sh", "-c", "true", "an argument"])
        self.assertEqual(recording.info["program"], ["sh", "-c", "true", "an argument"])

    def test_open_files_are_not_inherited(self):
        """The program sees the descriptors that it would see alone."""
        program = ["ls", "/proc/self/fd"]
        self.assertEqual(self.record(program).result.out, run(program).out)

    def test_signal_mask_and_ignored_signals(self):
        program = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        self.assertEqual(self.record(program).result.out, run(program).out)

    def test_trace_on_standard_output(self):
        result = run([RECORD, "-q", "-o", "-", "--", "sh", "-c", "echo said"])
        self.assertEqual((result.status, result.err), (0, "said\n"))
        path = self.fresh()
        path.write_bytes(result.raw_out)
        self.assert_clean(Trace(path))


class Files(Case):
    def test_an_existing_trace_is_kept_once(self):
        path = self.fresh()
        old = path.with_name(path.name + ".old")
        path.write_text("first")
        self.record_to(path, ["true"])
        self.assertEqual(old.read_text(), "first")
        second = path.read_bytes()
        self.record_to(path, ["true"])
        self.assertEqual(old.read_bytes(), second)
        self.assertEqual(sorted(os.listdir(path.parent)), [path.name, old.name])

    def test_anything_but_a_regular_file_is_opened_as_it_is(self):
        link = self.fresh("null")
        link.symlink_to("/dev/null")
        result = run([RECORD, "-o", link, "--", "true"])
        self.assertEqual(result.status, 0, result)
        self.assertTrue(link.is_symlink())
        self.assertEqual(os.listdir(link.parent), ["null"])

    def test_only_the_owner_may_read_a_trace(self):
        path = self.record(["true"]).path
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_default_name(self):
        folder = self.fresh().parent
        result = run([RECORD, "--", "true"], cwd=folder)
        self.assertEqual((result.status, os.listdir(folder)), (0, ["trace.vmv"]), result)

    def test_full_disk_does_not_disturb_the_program(self):
        result = run([RECORD, "-o", "/dev/full", "--", "sh", "-c", "echo said; exit 3"])
        self.assertEqual((result.status, result.out), (3, "said\n"), result)
        self.assertEqual(len([line for line in result.err.splitlines() if "/dev/full" in line]), 1, result)

    def test_a_folder_that_does_not_exist(self):
        result = run([RECORD, "-o", self.folder / "none" / "t.vmv", "--", "sh", "-c", "echo said"])
        self.assertEqual((result.status, result.out), (125, ""), result)
        self.assert_one_line(result.err, "none/t.vmv")


class Once:
    """Sends a signal to the recorder when it has run for a while."""

    def __init__(self, number, seconds):
        self.number, self.seconds, self.start = number, seconds, None

    def __call__(self, recorder):
        self.start = self.start or time.monotonic()
        if self.number and time.monotonic() - self.start > self.seconds:
            os.kill(recorder, self.number)
            self.number = None


class Interrupted(Case):
    def test_sigterm_is_passed_on(self):
        program = ["sh", "-c", "trap 'echo caught; exit 7' TERM; while :; do sleep 0.05; done"]
        recording = self.record(program, status=7, watch=Once(signal.SIGTERM, 0.5))
        self.assertEqual(recording.result.out, "caught\n")
        self.assert_clean(recording)

    def test_a_killed_recorder_leaves_a_trace_that_opens(self):
        recording = self.record([sample("variable"), "--changes", "40"], status=-9, watch=Once(signal.SIGKILL, 1.5))
        info = recording.run("info", "--json")
        self.assertEqual((info.status, len(info.err.splitlines())), (0, 1), info)
        shown = json.loads(info.out)
        self.assertIs(shown["complete"], False)
        self.assertGreater(shown["duration_ns"], 1200 * MS)
        self.assertTrue(recording.one("verify")["ok"])

    def test_a_killed_recorder_takes_the_program_along(self):
        recording = self.record(["sh", "-c", "echo $$ > pid; sleep 30"], status=-9, cwd=self.folder,
                                watch=Once(signal.SIGKILL, 0.7))
        pid = int((self.folder / "pid").read_text())
        end = time.monotonic() + 5  # the kernel kills it once the recorder is gone, not at the same moment
        while os.path.exists(f"/proc/{pid}/exe") and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), f"{pid} still runs: {recording.result}")


if __name__ == "__main__":
    main()
