"""A child made with CLONE_UNTRACED would have the filter and no tracer.

Guard: recorder/memcall.c clear_untraced takes the flag away: without it mmap fails with ENOSYS in the child.
"""

from cases import WorldCase, main, program


class Untraced(WorldCase):
    def test_it_is_followed(self):
        recording = self.compare([program("case_05_untraced")])
        self.assertIn("mmap errno 0", recording.alone.out)
        self.assertEqual(recording.info["processes"], 5)


if __name__ == "__main__":
    main()
