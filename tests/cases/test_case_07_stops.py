"""Group-stops: SIGSTOP, SIGTSTP and their like to processes of several threads, and SIGCONT.

Guard: recorder/loop.c on_group_stop, which lets the threads listen: with PTRACE_CONT instead they ran on. recorder/frame.c
add_from_proc: with the state of /proc taken for theirs no thread of the trace was ever stopped; add_thread: with sleepers
left at what was known of them only the others were. recorder/mend.c mend_settle: without it in a third of the runs
epoll_wait, recv and their like gave no EINTR after a stop.
"""

import os

from cases import BUSY, WorldCase, main, program

ROUNDS = 500 if os.environ.get("VMVIS_LONG") else 50


class Stops(WorldCase):
    def test_all_ways(self):
        for source, options in self.each_source():
            with self.subTest(source=source):
                recording = self.compare([program("case_07_stops"), ROUNDS], *options, *BUSY, timeout=60)
                self.assertNotIn("RAN", recording.alone.out)
                self.assertNotIn("ACTED", recording.alone.out)
                self.assertEqual(recording.alone.out.count("all stood"), 4)

    def test_calls_broken_off(self):
        """Stopping breaks off the same calls as alone, also where a frame comes before the threads are back."""
        for _ in range(20 if os.environ.get("VMVIS_LONG") else 6):
            self.compare([program("case_12_waits"), "stopped"], *BUSY, clean=False)

    def test_states_of_threads(self):
        """What stood is said to have stood, and goes on again."""
        recording = self.compare([program("case_07_stops"), ROUNDS], *BUSY)
        child = next(event["child"] for event in recording.events("fork"))
        states = []
        for event in recording.ask("frames", "--pid", child):
            threads = recording.ask("threads", "--at", f"{event['t']}ns", "--pid", child)
            states.append({thread["state"] for thread in threads if thread["state"] != "gone"})
        self.assertIn({"stopped"}, states)  # all of them
        stood = states.index({"stopped"})
        self.assertTrue(any("stopped" not in later for later in states[stood:]), states)


if __name__ == "__main__":
    main()
