"""Makes docs/CASES.md from the docstrings of tests/cases; --check says whether it is in step (exit status 1 if not)."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "CASES.md"
HEAD = """# Situations that break tools of this kind

Each is run by a test, alone and under the recorder: output, exit status or signal, errno values and, where the case is
about time, times must be the same, and the trace must tell the truth. "Guard" names what makes it right and what the
test did with that taken out. Tests that cannot run as in the world imitate it, or are skipped with the reason: `ctest`
prints it. This table is made from the tests: `python3 tests/tools/cases_table.py`.

"""


def parts(path):
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    paragraphs = [" ".join(p.split()) for p in text.split("\n\n")]
    found = {"Guard": "", "Imitated": "", "Skipped": ""}
    for paragraph in paragraphs[1:]:
        word, _, rest = paragraph.partition(": ")
        if word in found:
            found[word] = (found[word] + " " + rest).strip()
    return paragraphs[0], found


def table():
    rows = []
    for path in sorted((ROOT / "tests" / "cases").glob("test_case_*.py")):
        number = int(re.match(r"test_case_(\d+)", path.stem)[1])
        title, found = parts(path)
        result = "runs"
        for word in ("Imitated", "Skipped"):
            if found[word]:
                result = f"{word.lower()}: {found[word]}"
        rows.append((number, f"| {number} | {title.rstrip('.')} | [{path.stem}](../tests/cases/{path.name}) "
                             f"| {found['Guard']} | {result} |"))
    rows.sort()
    kinds = {word: sum(f"| {word}:" in row for _, row in rows) for word in ("imitated", "skipped")}
    numbers = len({number for number, _ in rows})
    return (f"{HEAD}{len(rows)} tests of {numbers} cases: {len(rows) - sum(kinds.values())} run as in the world, "
            f"{kinds['imitated']} imitated, {kinds['skipped']} skipped here in part or whole.\n\n"
            "| case | situation | test | guard | result |\n| --- | --- | --- | --- | --- |\n"
            + "\n".join(row for _, row in rows) + "\n")


def main():
    if "--check" in sys.argv:
        if not TABLE.exists() or TABLE.read_text() != table():
            sys.exit("docs/CASES.md is not in step with tests/cases: run python3 tests/tools/cases_table.py")
        return
    TABLE.write_text(table())


if __name__ == "__main__":
    main()
