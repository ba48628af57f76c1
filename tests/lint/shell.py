#!/usr/bin/env python3
"""Runs shellcheck over every shell script: by its first line, or by its name. And shell for the nodes lies in .sh files,
which it reads, and not in strings of C++, which no linter does."""

import re
import subprocess

import tree

# SC2015: in `A && exit 1 || B` nothing of A is mistaken for B.
IGNORED = "SC2015"

# Shell for the nodes, of any POSIX shell: not what a script of the project's own may use.
EMBEDDED = ("reconciler/", "plugins/")
DIRECTIVE = "# shellcheck shell=dash\n"

RAW = re.compile(r'R"([^()\\\s]*)\((.*?)\)\1"', re.DOTALL)
CALLED = re.compile(r'"sh", "-c", (?:std::string\()?(\w+)')
# Texts of several lines that are no shell.
USAGES = ("reconciler/spark_verify/protocol/options.cpp", "reconciler/spark_verify/protocol/nccl_options.cpp")


def is_script(root, name):
    first = tree.text(root, name).split("\n", 1)[0]
    return name.suffix in (".sh", ".bash") or re.match(r"#! ?/(usr/)?bin/(env )?(ba|da)?sh\b", first) is not None


def check(root):
    scripts = [str(name) for name in tree.files(root) if is_script(root, name)]
    if not scripts:
        return ["wanted shell scripts, found none"]
    run = subprocess.run(["shellcheck", "--external-sources", "--format=gcc", f"--exclude={IGNORED}", *scripts],
                         cwd=root, capture_output=True, text=True, check=False)
    return [run.stdout + run.stderr] if run.returncode != 0 else []


def check_embedded(root):
    found = []
    for name in map(str, tree.files(root, ".sh", ".cpp", ".h")):
        if not name.startswith(EMBEDDED) or name in USAGES:
            continue
        text = tree.text(root, name)
        if name.endswith(".sh"):
            if not text.startswith(DIRECTIVE):
                found.append(f"{name}:1: wanted {DIRECTIVE.strip()!r} as the first line")
            continue
        for raw in RAW.finditer(text):
            if "\n" in raw[2]:
                line = text.count("\n", 0, raw.start()) + 1
                found.append(f"{name}:{line}: a text of several lines: shell belongs in a .sh file beside it")
        for call in CALLED.finditer(text):
            if not call[1].endswith("Sh"):
                line = text.count("\n", 0, call.start()) + 1
                found.append(f"{name}:{line}: sh runs {call[1]}, which is no .sh file")
    return found


BAD = {
    "a:2:4: note: Double quote": {"a": "#!/bin/sh\nrm $1\n"},
    "b.bash:2:1": {"b.bash": "# shellcheck shell=bash\ncd /tmp\n"},
    "c.sh:1: wanted '# shellcheck shell=dash'": {"plugins/c.sh": "#!/bin/sh\ntrue\n"},
    "reconciler/d.cpp:2: a text of several lines": {
        "e": "#!/bin/sh\n", "reconciler/d.cpp": '#include <a>\nauto a = R"sh(cd /\nrm "$1"\n)sh";\n'},
    "reconciler/f.h:1: a text of several lines": {"e": "#!/bin/sh\n", "reconciler/f.h": 'auto a = f(R"(cd /\n)");\n'},
    "plugins/g.cpp:1: sh runs kScript, which is no .sh file": {
        "e": "#!/bin/sh\n", "plugins/g.cpp": 'auto a = {"sh", "-c", std::string(kScript)};\n'},
    "wanted shell scripts": {"a.py": "#!/usr/bin/env python3\n"},
}
GOOD = {
    "a": '#!/bin/sh\nrm "$1"\n',
    "b.py": "rm = $1\n",
    "plugins/c.sh": '# shellcheck shell=dash\nrm "$1"\n',
    "plugins/c.cpp": 'auto a = R"(one line)";\nauto b = R"({"a": 1})";\n',
    "plugins/d.cpp": 'auto a = {"sh", "-c", std::string(kAccountSh), "sh"};\n',
    "tests/d.cpp": 'auto a = R"(cd /\nrm a\n)";\n',
    USAGES[0]: 'auto a = R"(usage\n)";\n',
}

if __name__ == "__main__":
    tree.main(lambda root: check(root) + check_embedded(root), BAD, GOOD)
