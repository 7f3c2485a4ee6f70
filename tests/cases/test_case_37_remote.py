"""Memory that others write: io_uring, aio, O_DIRECT, process_vm_writev, /proc/PID/mem.

Guard: recorder/kernel.h asks for WP_ASYNC, where the kernel resolves its own writes: with synchronous write-protection
of a user-mode-only userfaultfd these calls return EFAULT.
"""

from cases import BUSY, WorldCase, main, program


class Remote(WorldCase):
    def test_same_results(self):
        data = self.fresh("data")
        data.write_bytes(b"\5" * 65536)
        for source, options in self.each_source():
            argv = [program("case_37_remote"), data]
            if source == "uffd":
                argv.append("touched")  # a write through /proc/PID/mem to a page never touched cannot wait for us
            recording = self.compare(argv, *options, *BUSY, timeout=60)
            self.assertNotIn('"right":0', recording.alone.out)


if __name__ == "__main__":
    main()
