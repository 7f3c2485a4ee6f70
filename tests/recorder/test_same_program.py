"""Real programs behave under the recorder as they do alone, their traces are sound, and the mappings in the trace are
those that an independent reader of /proc saw at moments when nothing changed for 50 ms."""

import json
import re

from procmaps import Watcher, differences, from_trace, parse
from vmvis import Case, main, run, sample

SQL = """create table t(id integer primary key, a int, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<300000)
insert into t select x, (x*7919)%100003, 'row '||x from c;
create index i on t(a);
select count(*), sum(length(b)) from t where a between 100 and 50000;
select b from t order by a desc, id limit 3;
"""

PYTHON = """
import json, re, random
random.seed(2)
rows = [{'id': i, 'name': 'n%d' % i, 'v': [random.random() for _ in range(8)]} for i in range(12000)]
text = json.dumps(rows)
again = json.loads(text)
again.sort(key=lambda row: row['v'][3])
print(len(text), len(re.findall(r'"n[0-9]*7"', text)), again[0]['id'])
"""


def c_source(functions):
    """A file that gives a compiler something to do."""
    lines = ["#include <stdio.h>"]
    for i in range(functions):
        lines.append(f"static int f{i}(int a, int b) {{ int s = 0; for (int i = 0; i < a; i++) {{ s += (i ^ b) * "
                     f"{i % 97 + 1}; if (s % {i % 13 + 2} == 0) s -= b; else s ^= i << {i % 5}; }} return s; }}")
    calls = "".join(f" s += f{i}({i % 50}, {i % 7});" for i in range(functions))
    lines.append(f'int main(void) {{ int s = 0;{calls} printf("%d\\n", s); return 0; }}')
    return "\n".join(lines) + "\n"


def shape(text):
    """The output of a sample without what differs from run to run: addresses, times, ids, the order of threads."""
    volatile = {"addr", "stack", "t", "tid", "pid", "before", "after", "ret", "hint", "text"}
    lines = [json.loads(line) for line in text.splitlines()]
    return sorted(json.dumps({k: v for k, v in line.items() if k not in volatile}) for line in lines)


class SameProgram(Case):
    moments_compared = 0

    def check(self, program, *, stdin=b"", same=lambda text: text, timeout=60):
        """Runs program alone and recorded. Both outputs, errors and exit statuses must be the same."""
        alone = run(program, stdin=stdin, cwd=self.folder, timeout=timeout)
        watcher = Watcher()
        recording = self.record(program, "-q", status=alone.status, stdin=stdin, cwd=self.folder, watch=watcher,
                                timeout=timeout)
        self.assertEqual(same(recording.result.out), same(alone.out))
        self.assertEqual(recording.result.err, alone.err)
        self.assert_clean(recording)
        SameProgram.moments_compared += self.compare_moments(recording, watcher.finish())
        return recording

    def compare_moments(self, recording, moments):
        """The reader saw the text at some moment of its read: the trace must say the same of one."""
        for moment in moments:
            times = ((moment.before + moment.after) // 2, moment.before, moment.after)
            different = [self.shown_maps(recording, moment, at) for at in times]
            if all(different):
                self.fail("\n".join([f"pid {moment.pid} at {recording.at(moment.before)}:", *different[0]]))
        return len(moments)

    def shown_maps(self, recording, moment, at):
        """What differs; empty if nothing does."""
        shown = recording.ask("maps", "--pid", moment.pid, "--at", recording.at(at))
        return differences(parse(moment.text), from_trace(shown))

    def test_sqlite(self):
        self.check(["sqlite3", ":memory:"], stdin=SQL.encode())

    def test_python(self):
        self.check(["python3", "-c", PYTHON])

    def test_gcc(self):
        source = self.folder / "big.c"
        source.write_text(c_source(600))
        recording = self.check(["gcc", "-O1", "-c", str(source), "-o", str(self.folder / "big.o")])
        self.assertGreaterEqual(recording.info["processes"], 3)
        pids = {event["child"] for event in recording.events("fork")}
        programs = [event["path"] for pid in pids for event in recording.events("exec", pid=pid)]
        self.assertTrue(any("cc1" in path for path in programs), programs)

    def test_bash(self):
        recording = self.check(["bash", "-c", "for i in 1 2 3; do ls / | wc -l; done"])
        self.assertEqual(recording.info["processes"], 7)

    def test_threads(self):
        recording = self.check([sample("threads"), "--checkpoints", "5"], same=shape)
        self.assertGreaterEqual(recording.info["threads"], 5)

    def test_short_output_to_both_streams(self):
        self.check(["sh", "-c", "echo out; echo err >&2; exit 5"])

    def test_the_recorder_says_one_line_about_what_it_did(self):
        recording = self.record(["sh", "-c", "echo said >&2"])
        lines = recording.result.err.splitlines()
        self.assertIn("said", lines)
        self.assertTrue(re.search(r"\d", lines[-1]), recording.result)
        self.assertIn(recording.path.name, recording.result.err)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        print(f"moments compared with an independent reader: {cls.moments_compared}")


if __name__ == "__main__":
    main()
