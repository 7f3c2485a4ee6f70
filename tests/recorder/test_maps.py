"""The mappings of every sample at five moments, under each source of fault records: `maps --at` equals what the sample
itself read from /proc/self/maps then, and what it read just before and after."""

import kernel
from procmaps import differences, from_trace, parse
from recorded_samples import SampleCase, add_sample_tests
from samples import SAMPLES
from vmvis import main


def check_moments(self, name, recording):
    moments = recording.truth("maps")
    self.assertGreaterEqual(len(moments), 5)
    for moment in moments:
        middle = (moment["before"] + moment["after"]) // 2
        shown = recording.ask("maps", "--pid", moment["pid"], "--at", recording.at(middle))
        different = differences(parse(moment["text"]), from_trace(shown))
        if different:
            self.fail("\n".join([f"{name}, moment {moment['n']} ({moment['at']}):", *different]))
    self.assert_clean(recording)


class Moments(SampleCase):
    mode = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not kernel.missing_for(cls.mode):
            cls.record_samples(SAMPLES, "--faults", cls.mode)

    def setUp(self):
        self.need_faults(self.mode)


class Records(Moments):
    mode = "records"


class Userfaultfd(Moments):
    mode = "uffd"


class Frames(Moments):
    mode = "frames"


for case in (Records, Userfaultfd, Frames):
    add_sample_tests(case, SAMPLES, check_moments)

if __name__ == "__main__":
    main()
