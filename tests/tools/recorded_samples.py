"""Records all samples once for a test class, two at a time: most of a sample's time is spent asleep."""

from concurrent.futures import ThreadPoolExecutor

import samples
from vmvis import Case


class SampleCase(Case):
    """record_samples() in setUpClass, then self.recording(name) in each test."""

    recordings = {}

    @classmethod
    def record_sample(cls, name, *options):
        return cls.record(samples.command(name), *options, status=samples.status(name))

    @classmethod
    def record_samples(cls, names, *options):
        paths = {name: cls.fresh(f"{name}.vmv") for name in names}

        def record(name):
            return cls.record_to(paths[name], samples.command(name, "--checkpoints", "5"), *options,
                                 status=samples.status(name))

        with ThreadPoolExecutor(2) as pool:
            cls.recordings = {name: pool.submit(record, name) for name in names}

    def recording(self, name):
        """The recording of a sample; raises what went wrong with it."""
        return self.recordings[name].result()


def add_sample_tests(case, names, check):
    """One test a sample, so that each fails on its own: check(self, name, recording)."""
    for name in names:
        def test(self, name=name):
            check(self, name, self.recording(name))
        test.__name__ = f"test_{name}"
        setattr(case, test.__name__, test)
