#!/usr/bin/env python3
"""Checks that docs/diagnostics.md lists the codes of the program's diagnostics: each once, sorted, no other, and that a
code begins with the name of the folder that it comes from."""

import re
from pathlib import Path

import tree

PAGE = "docs/diagnostics.md"
# Folders with diagnostics, and what their codes begin with; None: the folder's name.
FOLDERS = {"reconciler/fabric/": "fabric", "reconciler/planning/": "plan", "plugins/common/": "plan",
           "plugins/": None}
CODE = re.compile(r'(?:\bcode = |\bBlock\(\*?\w+,\s*|\bMakeBlocked\(\w+, \w+,\s*)"([^"]*)"')
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def prefix(name):
    for folder, word in FOLDERS.items():
        if name.startswith(folder):
            return word or name.removeprefix(folder).split("/")[0]
    return None


def check(root):
    found, used = [], set()
    for path in tree.files(root, ".h", ".cpp"):
        word = prefix(str(path))
        if word is None:
            continue
        for code in CODE.findall(tree.text(root, path)):
            used.add(code)
            if not re.fullmatch(rf"{word}(-[a-z0-9]+)+", code):
                found.append(f"{path}: wanted a code like {word}-some-words, found {code}")
    rows = ROW.findall(tree.text(root, Path(PAGE)))
    if rows != sorted(set(rows)):
        found.append(f"{PAGE}: wanted each code once, sorted")
    found += [f"{PAGE}: lacks {code}" for code in sorted(used - set(rows))]
    found += [f"{PAGE}: nothing says {code}" for code in sorted(set(rows) - used)]
    return found


GOOD = {PAGE: "| `netplan-a` | x |\n| `plan-b` | x |\n", "plugins/netplan/a.cpp": '{.code = "netplan-a"}\n',
        "reconciler/planning/b.cpp": 'Block(*change, "plan-b", why);\n', "reconciler/verify/c.cpp": '.code = "c"\n'}
BAD = {
    "lacks ssh-c": {**GOOD, "plugins/ssh/c.cpp": '.code = "ssh-c"'},
    "lacks plan-c": {**GOOD, "reconciler/planning/c.cpp": 'return MakeBlocked(resource, plugin,\n    "plan-c", why);'},
    "nothing says plan-b": {**GOOD, "reconciler/planning/b.cpp": ""},
    "wanted each code once, sorted": {**GOOD, PAGE: "| `plan-b` | x |\n| `netplan-a` | x |\n"},
    "wanted a code like ssh-some-words, found netplan-a": {**GOOD, "plugins/ssh/c.cpp": '.code = "netplan-a"'},
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
