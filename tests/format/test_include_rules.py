"""The layers keep apart, and the rule checker sees it when they do not."""

import tempfile
import unittest
from pathlib import Path

import include_rules
from vmvis import SOURCE

BREACHES = {
    "format/a.c": "#include <SDL2/SDL.h>",
    "format/b.c": '#include "recorder_only.h"',
    "format/ptrace.c": "#include <sys/ptrace.h>",
    "recorder/stop.c": "#include <sys/ptrace.h>",
    "recorder/elf1.c": "#include <libelf.h>",
    "recorder/elf2.c": "#include <gelf.h>",
    "recorder/regs.c": "struct user_regs_struct regs;",
    "viewer/ui/raster.c": "#include <SDL.h>",
    "viewer/timeline/t.c": '#include "view.h"',
    "viewer/views/v.c": '#include "recorder_only.h"',
    "viewer/decode/path.c": '#include "../timeline/model.h"',
    "samples/s.c": '#include "space.h"',
}
FINE = {
    "format/space.h": "#include <stdint.h>",
    "format/zstd.c": "#include <zstd.h>\n#include <xxhash.h>",
    "recorder/recorder_only.h": '#include "space.h"',
    "recorder/loop.c": "#include <sys/ptrace.h>",
    "recorder/arch/x86.c": "#include <sys/user.h>\nstruct user_regs_struct regs;",
    "viewer/views/view.h": '#include "space.h"',
    "viewer/timeline/model.h": "",
    "viewer/ui/platform.c": "#include <SDL.h>",
    "samples/truth.h": "",
    "samples/fine.c": '#include "truth.h"',
}


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


class IncludeRules(unittest.TestCase):
    def test_the_project_keeps_them(self):
        self.assertEqual(include_rules.check(SOURCE), [])

    def test_what_is_allowed_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(Path(folder), FINE)
            self.assertEqual(include_rules.check(Path(folder)), [])

    def test_each_breach_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(Path(folder), {**FINE, **BREACHES})
            found = "\n".join(include_rules.check(Path(folder)))
            for name in BREACHES:
                self.assertIn(name, found)

    def test_header_names_are_unique(self):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(Path(folder), {**FINE, "viewer/ui/space.h": ""})
            self.assertIn("space.h", "\n".join(include_rules.check(Path(folder))))


if __name__ == "__main__":
    unittest.main(verbosity=2)
