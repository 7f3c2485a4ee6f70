"""MAP_FIXED over several mappings and holes, and calls that fail.

Guard: recorder/memcall.c memcall_exit emits a call by its result: where the entry is taken for the deed, the model
differs from the kernel after the first failing call.
"""

from cases import WorldCase, main, program


class Fixed(WorldCase):
    def test_the_model_follows(self):
        for source, options in self.each_source():
            recording = self.compare([program("case_26_fixed")], *options, env={"VMVIS_COMPARE": "1"})
            failed = [e for e in recording.events("mmap") if e["ret"] is not None and isinstance(e["ret"], int) and e["ret"] < 0]
            self.assertGreaterEqual(len(failed), 100)


if __name__ == "__main__":
    main()
