#!/usr/bin/env python3
"""Runs the checks of .clang-tidy over reconciler/ and plugins/, or over the files that are named: clang_tidy.py BUILD_FOLDER [FILE…]

Files are judged together, as far as the names in their unnamed namespaces allow it: most of the time goes into the headers, which each
file includes. What was clean is remembered in the build folder by the digest of its preprocessed text (comments included, for
NOLINT) and of .clang-tidy, so that a second run looks only at what changed. --self-test: it can fail."""

import concurrent.futures
import functools
import hashlib
import itertools
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
MOST_LINES = 6000  # of files that are judged together
FMT = {"-DFMT_SHARED", "-DFMT_HEADER_ONLY=1"}  # to link with, or all of it in its headers
# What a line at the beginning of a declaration declares, where it stands in no other scope than a namespace.
DECLARED = re.compile(r"(?!namespace|using namespace|template|static_assert)(?=[A-Za-z])(?:.*?\b)?"
                      r"(?:(?:struct|class|enum class|enum|using)\s+(?:\w+::)*(?P<type>\w+)|(?P<other>\w+)\s*(?:\(|\{|=(?!=)|\[|;))")


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
    """The same entry without the precompiled header of another compiler, and without what only the linker is interested in."""
    command = re.sub(r" -include \S*cmake_pch\.hxx| -fpch-preprocess| -Winvalid-pch| --param=ggc\S*| -ffunction-sections", "", entry["command"])
    return {**entry, "command": command}


def flags(entry):
    """The command without its file and what is made of it."""
    words = shlex.split(entry["command"])
    for option in ("-o", "-c"):
        at = words.index(option)
        del words[at:at + 2]
    return words


def without_repeated(entries):
    """Without those of files that another entry has too: programs of tests compile some again."""
    kept, seen = [], set()
    for entry in sorted(entries, key=lambda one: (-len(sources(one)), one["file"])):
        if not sources(entry) <= seen:
            kept.append(entry)
            seen |= sources(entry)
    return kept


def join_flags(some, others):
    """Flags for what has one or the other. None: they differ in more than macros, a macro has two values, or fmt would be used in
    two ways."""
    macros = {word for word in (*some, *others) if word.startswith("-D")}
    if [word for word in some if word not in macros] != [word for word in others if word not in macros] \
            or len(macros & FMT) > 1 or len({word.partition("=")[0] for word in macros}) < len(macros):
        return None
    return [*(word for word in some if word not in macros), *sorted(macros)]


def declared(text, hidden):
    """What a file declares, in its unnamed namespaces or elsewhere: the namespace around it, its name, and whether it is a type."""
    names, around, unnamed = set(), "", False
    for line in text.splitlines():
        if named := re.match(r"namespace ([\w:]+) \{", line):
            around = named[1]
        elif line == "namespace {":
            unnamed = True
        elif line == "}  // namespace":
            unnamed = False
        elif unnamed == hidden and (found := DECLARED.match(line)):
            names.add((around, found["type"] or found["other"], found["type"] is not None))
    return names


def public_names():
    """Of all headers, with their namespaces."""
    return {(around, name) for folder in ("reconciler", "plugins") for header in (tree.ROOT / folder).rglob("*.h")
            for around, name, _ in declared(header.read_text(encoding="utf-8"), hidden=False)}


def hides_public(names, public):
    """Whether one of these hidden names is a type in whose place another file would find a public name, there or further out."""
    return any(is_type and (outer, name) in public for around, name, is_type in names
               for outer in itertools.accumulate(around.split("::"), "{}::{}".format))


def join(entries, public):
    """Lists of entries that can be compiled as one file: in each none hides a name that another one needs."""
    groups = []
    for entry in sorted(entries, key=lambda one: one["file"]):
        texts = [pathlib.Path(name).read_text(encoding="utf-8") for name in sources(entry) if "/Unity/" not in name]
        names = set().union(*(declared(text, hidden=True) for text in texts))
        lines = sum(text.count("\n") for text in texts)
        hides = hides_public(names, public)
        for group in groups:
            joined = join_flags(group["flags"], flags(entry))
            if not hides and not group["hides"] and joined and not group["names"] & names \
                    and group["lines"] + lines <= MOST_LINES:
                break
        else:
            joined = flags(entry)
            group = {"hides": hides, "names": set(), "lines": 0, "entries": []}
            groups.append(group)
        group["flags"] = joined
        group["names"] |= names
        group["lines"] += lines
        group["entries"].append(entry)
    return [group["entries"] for group in groups]


def compile_together(entries, folder):
    """One entry for all of them, which the folder gets a file for."""
    if len(entries) == 1:
        return entries[0]
    joined = functools.reduce(join_flags, map(flags, entries))
    names = [entry["file"] for entry in entries]
    path = folder / f"together-{hashlib.sha256(repr(names).encode()).hexdigest()[:16]}.cpp"
    path.write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
    return {"directory": entries[0]["directory"], "file": str(path),
            # A local variable may have the name of another file's.
            "command": shlex.join([*joined, "-Wno-shadow", "-o", "together.o", "-c", str(path)])}


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


def halves(group):
    """A list of entries in two, or nothing where it cannot be divided."""
    return [group[:len(group) // 2], group[len(group) // 2:]] if len(group) > 1 else []


def parts(group):
    """A list of entries, and all that it is divided into."""
    return [group, *(part for half in halves(group) for part in parts(half))]


def judge_together(program, build, group, clean):
    """The same about a list of entries: half of them at a time, where they cannot be compiled as one file after all."""
    complaint = judge(program, build, compile_together(group, build), clean)
    if len(group) == 1 or "[clang-diagnostic-error]" not in complaint:
        return complaint
    return "".join(judge_together(program, build, half, clean) for half in halves(group))


def check(build, groups):
    program = tidy_program()
    clean = build / "clean"
    clean.mkdir(exist_ok=True)
    commands = [compile_together(part, build) for group in groups for part in parts(group)]
    (build / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaint in pool.map(lambda group: judge_together(program, build, group, clean), groups)
                if complaint]


def self_test():
    moved = ("#include <string>\n#include <utility>\nnamespace {\n"
             "std::string Twice(std::string a) { std::string b = std::move(a); return a + b; }\n}  // namespace\n"
             "std::string Get() { return Twice(\"a\"); }\n")
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        (build / ".clang-tidy").write_bytes((tree.ROOT / ".clang-tidy").read_bytes())
        (build / "plugins").mkdir()

        def write(name, text):
            source = build / "plugins" / f"{name}.cpp"
            source.write_text(text, encoding="utf-8")
            return {"directory": folder, "file": str(source), "command": f"c++ -std=c++20 -o {name}.o -c {source}"}

        bad = write("bad", moved)
        good = write("good", moved.replace("return a + b", "return b").replace("Get", "GetOther"))
        other = write("other", moved.replace("return a + b", "return b").replace("Get", "GetThird").replace("Twice", "Thrice")
                      + "namespace {\nstruct Third {};\n}  // namespace\n")
        for attempt in ("first", "second"):  # what is not clean is not remembered as clean
            for group in ([bad], [bad, other], [bad, good], [good, other, bad]):  # good and bad cannot be compiled together
                found = check(build, [group])
                if not any("bugprone-use-after-move" in complaint for complaint in found):
                    sys.exit(f"self-test: wanted bugprone-use-after-move in the {attempt} run, found {found}")
        for group in ([good], [good, other]):
            if found := check(build, [group]):
                sys.exit(f"self-test: wanted no complaint, found {found}")
        same, other_macro, other_value, other_fmt = ({**good, "command": good["command"].replace("-std", f"{macros} -std")} for macros in (
            "-DFMT_SHARED", "-DA=1", "-DA=2", "-DFMT_HEADER_ONLY=1"))
        for some, others, wanted in ((same, other_macro, ["-DA=1", "-DFMT_SHARED"]), (other_macro, other_value, None),
                                     (same, other_fmt, None)):
            joined = join_flags(flags(some), flags(others))
            if (joined and [word for word in joined if word.startswith("-D")]) != wanted:
                sys.exit(f"self-test: wanted the macros {wanted}, found {joined}")
        if (found := without_repeated([good, same, other])) != [good, other]:
            sys.exit(f"self-test: wanted each file once, found {found}")
        for public, wanted in ((set(), [[bad, other], [good]]), ({("", "Third")}, [[bad], [good], [other]])):
            if (found := join([bad, good, other], public)) != wanted:
                sys.exit(f"self-test: wanted the groups {wanted}, found {found}")


def main():
    children.die_with_runner()
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) < 2:
        sys.exit("usage: clang_tidy.py BUILD_FOLDER [FILE…] | --self-test")
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = [str(pathlib.Path(name).resolve()) for name in sys.argv[2:]]
    if not wanted:  # minutes
        children.give_way(1500)
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    judged = (f"{tree.ROOT}/reconciler/", f"{tree.ROOT}/plugins/", *wanted)
    entries = [without_precompiled(entry) for entry in commands if any(name.startswith(judged) for name in sources(entry))]
    if wanted and not any(sources(entry) & set(wanted) for entry in entries) or not entries:
        sys.exit(f"wanted {' or '.join(judged)} in {build}/compile_commands.json, found none")
    folder = build / "clang-tidy"
    folder.mkdir(exist_ok=True)
    groups = join(without_repeated(entries), public_names())
    if wanted:
        groups = [group for group in groups if any(sources(entry) & set(wanted) for entry in group)]
    found = check(folder, groups)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
