#!/usr/bin/env python3
"""Checks that names, messages, comments and documents use the words of docs/glossary.md: it finds the words that the
project once had for the same things, in the parts of names (CamelCase, snake_case, files) as well as in sentences."""

import fnmatch
import re

import tree

SUFFIXES = (".bash", ".cmake", ".cpp", ".h", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml")
BACK = r"(?: (?!(?:and|or|to|from)\b)[a-z]+){0,2} back"
# A pattern over words in lower case, and what is written instead.
WORDS = {
    r"adapters?": "HCA",
    r"anew": "again",
    r"(?:every|any|some|no)body": "no one, someone; better the program or the node that is meant",
    r"asks?|asked|asking": "require, query, request, prompt",
    r"at work": "running",
    r"by (?:itself|themselves)": "on its own; automatically; alone",
    r"casebook|climb(?:s|ed)?|ladder|rungs?": "level",
    r"forg[eo]t(?:s|ten)?": "drop, remove",
    r"(?:gives?|gave|given|hands?|handed|handing|giving)" + BACK: "prune",
    r"lends?|lending|lent": "give, temporary",
    r"mend(?:s|ed|ing)?": "repair, correct",
    r"picks?|picked": "choose",
    r"talks?|talked|talking": "report; exchange",
    r"(?:takes?|took|taken|taking)" + BACK: "revert",
    r"tells?|told|telling|untold": "report, show, determine",
    r"transactions?": "apply",
    r"troubles?|troubled": "finding, error",
    r"under(?:-| )?way": "running",
    r"undo|undoes|undoing|undone": "revert",
    r"withdraw[ns]?|withdrew": "prune",
    r"world": "state, files",
    r"without a word": "without a message, silently",
}
# File, pattern of the line, reason. A line that a pattern matches is not looked at.
ALLOWED = [
    ("*", r"valijson|NlohmannJsonAdapter|\bAdapter\(", "valijson calls its readers adapters"),
    ("*", r"Undo:|[.]undo\b|\bFormatUndo\b|\bundo =", "how the last line of an apply names the command that returns"),
    ("reconciler/fabric/roofline.cpp", r"Transactions cost headers", "PCIe transactions"),
    ("tests/unit/fabric/*", r"PcieItsTransactions", "PCIe transactions"),
    ("tests/*", r"user: nobody|User nobody|[\"']nobody[\"']|nobody-of-that-name", "a user's or a node's name"),
    ("packaging/CMakeLists.txt", r"WORLD_READ", "CMake's name for others than owner and group"),
    ("tests/lab/lib/root.bash", r"systemd-ask-password", "a unit's name"),
]
SKIPPED = ("LICENSE", "docs/glossary.md", "tests/lint/vocabulary.py")
GAP = r"(?:\s+(?:(?://|#|\*)\s*)?|\s*\"\s*\")"  # a blank, or a line's end in a comment or between two literals
PATTERNS = [(re.compile(r"\b(?:" + words.replace(" ", GAP) + r")\b"), use) for words, use in WORDS.items()]
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def split(text):
    """The text with its names in words, in lower case; line ends stay."""
    return CAMEL.sub(" ", text).replace("_", " ").lower()


def strip(name, text):
    """Without the lines that are allowed."""
    some = [re.compile(pattern) for place, pattern, _ in ALLOWED if fnmatch.fnmatch(str(name), place)]
    return "\n".join("" if any(one.search(line) for one in some) else line for line in text.split("\n"))


def check(root):
    found = []
    for name in tree.files(root):
        if str(name) in SKIPPED or (name.suffix and not str(name).endswith(SUFFIXES)):
            continue
        for place, text in ((f"{name}", strip(name, tree.text(root, name))), (f"{name} (its name)", str(name))):
            words = split(text)
            for pattern, use in PATTERNS:
                for hit in pattern.finditer(words):
                    line = f":{words.count(chr(10), 0, hit.start()) + 1}" if place == str(name) else ""
                    said = re.sub(r"[\s/#*\"]+", " ", hit.group(0))
                    found.append(f"{place}{line}: \"{said}\" is not in the glossary's words: {use}")
    return found


BAD = {
    'a.cpp:1: "told"': {"a.cpp": "bool ToldTwice();\n"},
    'b.h:1: "at work"': {"b.h": "// Another apply is at\n// work.\n"},
    'b.cpp:1: "taken back"': {"b.cpp": "// the plan is taken back\n"},
    'c.py:1: "take it back"': {"c.py": "def test_the_nodes_take_it_back(self):\n"},
    'd.json:1: "rung"': {"d.json": "{\"rung\": 1}\n"},
    'deep/the_ladder.sh (its name): "ladder"': {"deep/the_ladder.sh": ":\n"},
    'e.md:1: "nobody"': {"e.md": "Nobody knows.\n"},
    'g.cpp:1: "under-way"': {"g.cpp": 'const char* kCode = "apply-under-way";\n'},
    'g.h:1: "under way"': {"g.h": "// An apply is under\n// way.\n"},
    'f.cpp:1: "adapters"': {"f.cpp": "std::string ListAdapters();\n"},
}
GOOD = {
    "a.cpp": "// The task is basking in the background; give it more, and go back to the start.\nint TaskId();\n",
    "b.cpp": "using Adapter = valijson::adapters::NlohmannJsonAdapter;\n",
    "tests/c.py": "USER = 'access: {user: nobody}'\n",
    "docs/glossary.md": "*Not*: undo, take back, adapter.\n",
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
