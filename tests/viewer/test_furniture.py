"""Arguments, environment and auxiliary vector, compared with what the program itself saw."""

import os

from vmvis import Case, main, number, run

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
static void put(const char *what, void *at, unsigned long value, const char *text) {
    printf("{\\"what\\":\\"%s\\",\\"at\\":\\"%p\\",\\"value\\":\\"0x%lx\\",\\"text\\":\\"%s\\"}\\n", what, at, value, text);
}
int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) put("argument", &argv[i], (unsigned long)argv[i], argv[i]);
    char **end = environ;
    for (; *end; end++) put("environment", end, (unsigned long)*end, strpbrk(*end, "\\"\\\\") ? "" : *end);
    unsigned long *aux = (unsigned long *)(end + 1);
    for (; aux[0]; aux += 2) {
        char type[8];
        snprintf(type, sizeof type, "%lu", aux[0]);
        put("auxiliary", aux, aux[1], type);
    }
    return 0;
}
"""
NAMES = {"3": "AT_PHDR", "6": "AT_PAGESZ", "7": "AT_BASE", "9": "AT_ENTRY", "11": "AT_UID", "25": "AT_RANDOM",
         "31": "AT_EXECFN", "33": "AT_SYSINFO_EHDR"}


class Furniture(Case):
    def test_what_the_program_saw(self):
        folder = self.fresh("a.c").parent
        (folder / "a.c").write_text(SOURCE)
        self.assertEqual(run(["gcc", "-w", "-O1", "-o", "program", "a.c"], cwd=folder).status, 0)
        recording = self.record([folder / "program", "one", "", "three four"], "-q", "--budget", "none",
                                env={"VMVIS_TEST": "a value"})
        seen = recording.truth("argument", "environment", "auxiliary")
        self.assertEqual([s["text"] for s in recording.truth("argument")][1:], ["one", "", "three four"])
        told = {}
        places = [s["at"] for s in seen] + [hex(number(s["value"]) + 1) for s in seen
                                            if s["what"] != "auxiliary" and len(s["text"]) > 2]
        for item in recording.ask("explain", places=places):
            told.setdefault(number(item["place"]), []).append(item)
        checked = set()
        for thing in seen:
            items = [i for i in told[number(thing["at"])] if i["topic"].startswith(thing["what"])]
            self.assertEqual(len(items), 1, (thing, told[number(thing["at"])]))
            if thing["what"] == "auxiliary":
                name = NAMES.get(thing["text"])
                if name:
                    self.assertIn(f"{name} is {thing['value']}", items[0]["text"])
                    checked.add(name)
                continue
            self.assertIn(thing["text"][:150], items[0]["text"])
            if len(thing["text"]) > 2:  # the text itself
                inside = [i for i in told[number(thing["value"]) + 1] if i["topic"] == thing["what"]]
                self.assertEqual(len(inside), 1, thing)
                self.assertIn(thing["text"][:150], inside[0]["text"])
        self.assertEqual(checked, set(NAMES.values()))
        self.assertTrue([s for s in seen if s["text"] == "VMVIS_TEST=a value"])

    def test_withheld(self):
        """Without the environment nothing of it is told, and no address of the stack is taken for it."""
        recording = self.record(["env"], "-q", "--budget", "none", "--no-env", env={"VMVIS_SECRET": "hidden"})
        stack = next(m for m in recording.ask("maps") if m["name"] == "[stack]")
        top = number(stack["end"])
        for item in recording.ask("explain", places=[hex(a) for a in range(top - 4096, top, 8)]):
            self.assertNotIn("hidden", item["text"])


if __name__ == "__main__":
    main()
