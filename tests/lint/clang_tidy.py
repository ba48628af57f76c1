#!/usr/bin/env python3
"""Runs the checks of .clang-tidy over reconciler/ and plugins/: clang_tidy.py BUILD_FOLDER [FILE…]

What was clean is remembered in the build folder by the digest of its preprocessed text (comments included, for
NOLINT) and of .clang-tidy, so that a second run looks only at what changed. --self-test: it can fail."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import tree

sys.path.append(str(tree.ROOT / "tests" / "support"))
import children  # noqa: E402

MAJOR = "14"  # other versions judge otherwise


def tidy_program():
    for name in (f"clang-tidy-{MAJOR}", "clang-tidy"):
        try:
            version = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        except (FileNotFoundError, subprocess.CalledProcessError):
            continue
        if f"version {MAJOR}." in version:
            return name
    print(f"not checked: wanted clang-tidy {MAJOR}, found none")
    sys.exit(tree.SKIPPED)


def sources(entry):
    """The files that are compiled by one entry: itself, and those that it includes when it stands for a folder."""
    names = {entry["file"]}
    if "/Unity/" in entry["file"]:
        names.update(re.findall(r'#include "([^"]+)"', pathlib.Path(entry["file"]).read_text(encoding="utf-8")))
    return names


def without_precompiled(entry):
    """The same entry without the precompiled header of another compiler."""
    command = re.sub(r" -include \S*cmake_pch\.hxx| -fpch-preprocess| -Winvalid-pch", "", entry["command"])
    return {**entry, "command": command}


def digest(entry):
    words = shlex.split(entry["command"])
    words[words.index("-o"):words.index("-o") + 2] = ["-E", "-C", "-P"]
    text = subprocess.run(words, cwd=entry["directory"], capture_output=True, check=True,
                          preexec_fn=children.die_with_parent).stdout
    return hashlib.sha256((tree.ROOT / ".clang-tidy").read_bytes() + text).hexdigest()


def judge(program, build, entry, clean):
    """clang-tidy's complaints about one file; empty: none."""
    key = digest(entry)
    if (clean / key).exists():
        return ""
    run = subprocess.run([program, "--quiet", "-p", str(build), entry["file"]],
                         capture_output=True, text=True, check=False, preexec_fn=children.die_with_parent)
    if run.returncode == 0:
        (clean / key).touch()
        return ""
    return run.stdout + re.sub(r"(?m)^\d+ warnings? (generated|treated).*\n", "", run.stderr)


def check(build, entries):
    program = tidy_program()
    clean = build / "clean"
    clean.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaint in pool.map(lambda entry: judge(program, build, entry, clean), entries)
                if complaint]


def self_test():
    text = ("#include <string>\n#include <utility>\n"
            "std::string Twice(std::string a) { std::string b = std::move(a); return a + b; }\n")
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        source = build / "moved.cpp"
        source.write_text(text, encoding="utf-8")
        (build / ".clang-tidy").write_bytes((tree.ROOT / ".clang-tidy").read_bytes())
        entry = {"directory": folder, "file": str(source), "command": f"c++ -std=c++20 -o moved.o -c {source}"}
        (build / "compile_commands.json").write_text(json.dumps([entry]), encoding="utf-8")
        for attempt in ("first", "second"):  # what is not clean is not remembered as clean
            found = check(build, [entry])
            if not any("bugprone-use-after-move" in complaint for complaint in found):
                sys.exit(f"self-test: wanted bugprone-use-after-move in the {attempt} run, found {found}")
        source.write_text(text.replace("return a + b", "return b"), encoding="utf-8")
        found = check(build, [entry])
        if found:
            sys.exit(f"self-test: wanted no complaint, found {found}")


def main():
    children.die_with_runner()
    children.give_way(600)
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) < 2:
        sys.exit("usage: clang_tidy.py BUILD_FOLDER [FILE…] | --self-test")
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = [str(pathlib.Path(name).resolve()) for name in sys.argv[2:]]
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    entries = [without_precompiled(entry) for entry in commands
               if (sources(entry) & set(wanted) if wanted else
                   any(name.startswith((f"{tree.ROOT}/reconciler/", f"{tree.ROOT}/plugins/")) for name in sources(entry)))]
    if not entries:
        sys.exit(f"wanted files below reconciler/ and plugins/ in {build}/compile_commands.json, found none")
    folder = build / "clang-tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    found = check(folder, entries)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
