#!/usr/bin/env python3
"""Runs shellcheck over every shell script: by its first line, or by its name."""

import re
import subprocess

import tree

# SC2015: in `A && exit 1 || B` nothing of A is mistaken for B.
IGNORED = "SC2015"


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


BAD = {
    "a:2:4: note: Double quote": {"a": "#!/bin/sh\nrm $1\n"},
    "b.bash:2:1": {"b.bash": "# shellcheck shell=bash\ncd /tmp\n"},
    "wanted shell scripts": {"a.py": "#!/usr/bin/env python3\n"},
}
GOOD = {"a": '#!/bin/sh\nrm "$1"\n', "b.py": "rm = $1\n"}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
