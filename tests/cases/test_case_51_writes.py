"""Every page that was written between two frames is found by the second.

Guard: recorder/track_scan.c re-arms what it finds in the same step (PM_SCAN_WP_MATCHING): without it a page once found is
found at every frame.
"""

from cases import BUSY, WorldCase, main, program
from vmvis import number


class Writes(WorldCase):
    def test_against_the_log(self):
        for source, options in self.each_source():
            recording = self.record([program("case_51_writes")], *options, *BUSY, timeout=60)
            area = number(recording.truth("area")[0]["addr"])
            frames = [f for f in recording.ask("frames") if f["why"] == "interval"]
            log = [(recording.time(w["before"]), recording.time(w["after"]), w["page"]) for w in recording.truth("write")]
            checked = 0
            # a frame's moment is when its threads stood still: writes around its pause are left out
            for before, frame in list(zip(frames, frames[1:]))[::4]:
                resumed = before["t"] + before["pause_ns"]
                written = {page for begun, done, page in log if resumed < begun and done < frame["t"]}
                if not written:
                    continue
                pages = recording.ask("pages", f"{area:#x},{256 * 4096}", "--at", f"frame:{frame['n']}")
                around = {page for begun, done, page in log if done >= before["t"] and begun <= frame["t"] + frame["pause_ns"]}
                seen = {(number(p["addr"]) - area) // 4096 + i for p in pages if p["written_at"] == frame["t"]
                        for i in range(p["len"] // 4096)}
                self.assertLessEqual(seen, around, "what nobody wrote is not said to be written")
                for page in written:
                    run = [p for p in pages if number(p["addr"]) <= area + page * 4096 < number(p["addr"]) + p["len"]]
                    self.assertEqual(len(run), 1)
                    self.assertIsNotNone(run[0]["written_at"], (source, frame, page))
                    self.assertGreaterEqual(run[0]["written_at"], before["t"], (source, frame["n"], page))
                    checked += 1
            self.assertGreater(checked, 20)


if __name__ == "__main__":
    main()
