#!/usr/bin/env python3
"""Checks that clang-format would change nothing in the C++ files."""

import subprocess
import sys

import tree

MAJOR = "14"  # other versions break lines elsewhere
STYLE = (tree.ROOT / ".clang-format").read_text(encoding="utf-8")


def program():
    for name in (f"clang-format-{MAJOR}", "clang-format"):
        try:
            version = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        except (FileNotFoundError, subprocess.CalledProcessError):
            continue
        if f"version {MAJOR}." in version:
            return name
    print(f"not checked: wanted clang-format {MAJOR}, found none")
    sys.exit(tree.SKIPPED)


def check(root):
    names = [str(name) for name in tree.files(root, ".h", ".cpp")]
    run = subprocess.run([program(), "--dry-run", "-Werror", "--ferror-limit=1", *names],
                         cwd=root, capture_output=True, text=True, check=False)
    lines = [line for line in run.stderr.splitlines() if ": error: " in line]
    if run.returncode != 0 and not lines:
        return [run.stderr]
    return [line.split(": error:")[0] + ": run clang-format -i on this file" for line in lines]


BAD = {
    "a.cpp:1:4: run clang-format": {".clang-format": STYLE, "a.cpp": "int  a;\n"},
    "deep/b.h:": {".clang-format": STYLE, "deep/b.h": "#pragma once\nint* a , b;\n"},
}
GOOD = {".clang-format": STYLE, "a.cpp": "int a;\n", "b.py": "a  =  1\n"}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
