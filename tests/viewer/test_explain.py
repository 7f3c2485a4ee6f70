"""The texts of docs/explain/, and that all that is met in traces of the samples has one."""

import re

from vmvis import SOURCE, Case, main, number, sample

FOLDER = SOURCE / "docs" / "explain"
SAMPLES = (["null_crash"], ["threads"], ["named_regions"], ["shared_memory"], ["file_map"], ["mprotect_guard"],
           ["heap_growth"], ["madvise_dontneed"], ["stack_growth"])
VALUES = {"above", "below", "bin", "bound_at", "captured_at", "chunk", "corrupt", "file", "first_touch", "line", "name", "number",
          "object", "offset", "resident", "section", "size", "symbol", "symbol_size", "target", "target_symbol", "text", "type", "value",
          "written_at"}


def texts():
    found = {}
    for path in sorted(FOLDER.glob("*.md")):
        match = re.fullmatch(r"# (.+)\nsee: (.+)\n\n(.+)\n", path.read_text(), re.S)
        assert match, f"{path.name}: title, links, text"
        found[path.stem] = (match[1], match[2].split(", "), " ".join(match[3].split()))
    return found


class Texts(Case):
    def test_form(self):
        seen, all_texts = {}, texts()
        self.assertGreaterEqual(len(all_texts), 70)
        for name, (title, links, text) in all_texts.items():
            for link in links:
                self.assertIn(link, all_texts, name)
                self.assertNotEqual(link, name)
            self.assertLessEqual(set(re.findall(r"\{(\w+)\}", title + text)), VALUES, name)
            self.assertEqual(text.count("[["), text.count("]]"), name)
            sentences = re.split(r"(?<=[.!?])\s+", re.sub(r"\[\[|\]\]", "", text))
            self.assertLessEqual(len(sentences), 8, name)
            for sentence in sentences:
                self.assertNotIn(sentence, seen, (name, seen.get(sentence)))
                seen[sentence] = name

    def test_they_are_in_the_program(self):
        trace = self.record([sample("threads")], "-q")
        for name, (title, links, text) in texts().items():
            told = trace.one("explain", f"topic:{name}")
            self.assertEqual((told["title"], told["links"], told["text"]), (title, links, text), name)


class Places(Case):
    def test_everything_met_has_a_text(self):
        topics = set()
        for command in SAMPLES:
            trace = self.record([sample(command[0]), *command[1:]], "-q", "--interval", "10", status=None)
            frames = [f["n"] for f in trace.ask("frames")]
            for at in ["end", *(f"frame:{frames[len(frames) * k // 6]}" for k in range(1, 6))]:
                places = [m["start"] for m in trace.ask("maps", "--at", at)]
                sections = trace.ask("sections", "--at", at)
                places += [s["addr"] for s in sections if s["size"]]
                told = {}
                for item in trace.ask("explain", "--at", at, places=places):
                    told.setdefault(item["place"], []).append(item)
                    topics.add(item["topic"])
                    for word in ("{", "[[", "unknown."):
                        self.assertNotIn(word, item["text"], item)
                for mapping in trace.ask("maps", "--at", at):
                    self.assertTrue([i for i in told[mapping["start"]] if i["topic"].startswith("region-")], mapping)
                    self.assertTrue([i for i in told[mapping["start"]] if i["topic"].startswith("page-")], mapping)
                for section in sections:
                    if section["size"]:
                        names = [i["topic"] for i in told[section["addr"]]]
                        self.assertTrue([n for n in names if n.startswith("section-")], section)
                        if not section["name"].startswith((".alt", "__libc", ".relro_padding")):
                            self.assertNotIn("section-other", names, section)
        for topic in ("region-heap", "region-stack", "region-thread-stack", "region-library", "region-program",
                      "region-shared", "region-vdso", "region-vvar", "stack-guard", "got",
                      "symbol-function", "symbol-object", "chunk-in-use", "page-resident", "page-absent", "page-file"):
            self.assertIn(topic, topics)

    def test_values(self):
        trace = self.record([sample("null_crash")], "-q", "--budget", "none", status=None)
        heap = trace.ask("heap", "--at", "end")
        block = next(c for c in heap if c["state"] == "in-use")
        told = trace.ask("explain", hex(number(block["addr"])), "--at", "end")[0]
        self.assertEqual(told["topic"], "chunk-in-use")
        self.assertIn(f"these {block['size'] - 8} bytes", told["text"])
        self.assertIn(block["chunk"], told["text"])
        nothing = trace.ask("explain", "0x1000")
        self.assertEqual([i["topic"] for i in nothing], ["region-unmapped"])


if __name__ == "__main__":
    main()
