#!/usr/bin/env python3
"""Holds docs/guides.md and the tests together: each row of a guide names a test that is there, or says that the step is the reader's;
the rows that name `test_guides` are those for which tests/lab/guides/steps.py has checks in STEPS; each check in ON_MACHINES has a row that
names `vm.test_guide_storage`, which names no row without a check in either."""

import ast
import re

import tree

PAGE = "docs/guides.md"
STEPS = "tests/lab/guides/steps.py"
SHOWN_BY = {"STEPS": "test_guides", "ON_MACHINES": "vm.test_guide_storage"}
SECTION = re.compile(r"^## ")
MANIFEST = re.compile(r"\]\(\.\./manifests/guides/([\w-]+)\.yaml\)")
# `lab.test_pair`, `vm.test_storage`, `test_pair`: of the lab; `cli.test_env`; and suites of C++.
SCRIPT = re.compile(r"`(?:(lab|vm|cli)\.)?(test_\w+)`")
SUITE = re.compile(r"`([A-Z][a-z]\w*)`")
CPP_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),", re.MULTILINE)
VIRTUAL_MACHINES = "machines_or_skip("


def rows(text):
    """(line, guide, first cell, last cell) of each row of a guide's table."""
    guide = None
    for number, line in enumerate(text.splitlines(), 1):
        if SECTION.match(line):
            guide = None
        if found := MANIFEST.search(line):
            guide = found[1]
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if guide is None or not line.startswith("| ") or cells[0] == "Step of the guide":
            continue
        yield number, guide, cells[0], cells[-1] if len(cells) == 4 else None


def tests_of(root):
    """Suites of C++, and files of tests by name: "test_pair", "vm.test_storage", "cli.test_env"."""
    suites, scripts = set(), set()
    for path in tree.files(root, "_test.cpp"):
        suites.update(CPP_TEST.findall(tree.text(root, path)))
    for path in tree.files(root, ".py"):
        if not path.name.startswith("test_"):
            continue
        if path.parts[:2] == ("tests", "cli"):
            scripts.add(f"cli.{path.stem}")
        elif path.parts[:2] == ("tests", "lab"):
            is_machine = VIRTUAL_MACHINES in tree.text(root, path)
            scripts.update({f"vm.{path.stem}"} if is_machine else {path.stem, f"lab.{path.stem}"})
    return suites, scripts


def steps_of(root, table):
    """{(guide, step): (line, checks)} of a table, which is not run for that."""
    found = {}
    for node in ast.parse(tree.text(root, STEPS)).body:
        if not isinstance(node, ast.Assign) or [getattr(target, "id", "") for target in node.targets] != [table]:
            continue
        for guide, steps in zip(node.value.keys, node.value.values, strict=True):
            for step, checks in zip(steps.keys, steps.values, strict=True):
                found[guide.value, step.value] = (step.lineno, getattr(checks, "elts", [1]))
    return found


def check_row(where, last, suites, scripts):
    if last is None:
        yield f"{where}: wanted four columns"
        return
    named = [match[0].strip("`") for match in SCRIPT.finditer(last)]
    for name in named:
        if name not in scripts:
            yield f"{where}: no test is named {name}"
    for name in SUITE.findall(last):
        if name not in suites:
            yield f"{where}: no suite of tests is named {name}"
    if not named and not SUITE.search(last) and "**yours**" not in last:
        yield f"{where}: wanted the name of a test, or **yours**, found neither"


def check(root):
    text = tree.text(root, PAGE)
    suites, scripts = tests_of(root)
    found, shown = [], {name: {} for name in SHOWN_BY.values()}
    for number, guide, step, last in rows(text):
        found += check_row(f"{PAGE}:{number}", last, suites, scripts)
        for name, by_row in shown.items():
            if last and f"`{name}`" in last:
                by_row[guide, step] = number
    checked = {table: steps_of(root, table) for table in SHOWN_BY}
    for table, name in SHOWN_BY.items():
        # The machines are looked at for what containers have, too.
        known = {*checked["STEPS"], *checked[table]}
        found += [f"{PAGE}:{number}: names {name}, and {STEPS} has no check of {step!r} of {guide}"
                  for (guide, step), number in shown[name].items() if (guide, step) not in known]
        for (guide, step), (number, checks) in checked[table].items():
            if (guide, step) not in shown[name]:
                found.append(f"{STEPS}:{number}: no row of {guide} in {PAGE} with that text names {name}: {step!r}")
            if not checks:
                found.append(f"{STEPS}:{number}: wanted a check, found none")
    return found


HEAD = "## A guide\n[a](../manifests/guides/a.yaml).\n\n| Step of the guide | In | Plugin | Shown by |\n|---|---|---|---|\n"
TREE = {"tests/lab/test_pair.py": "", "tests/lab/guides/test_guides.py": "", "tests/lab/test_storage.py": "machines_or_skip()\n", "tests/lab/guides/test_guide_storage.py": "machines_or_skip()\n",
        "tests/cli/test_env.py": "", "tests/unit/a_test.cpp": "TEST(Nccl, IsRead) {}\n", STEPS: "STEPS = {}\n"}
STEP = "STEPS = {'a': {'step `x`': [shows('x')]}}\n"
MACHINE_STEP = STEP + "ON_MACHINES = {'a': {'step `z`': [shows('z')]}}\n"
BAD = {
    "docs/guides.md:6: no test is named test_pear": {**TREE, PAGE: HEAD + "| step | key | netplan | `test_pear` |\n"},
    "docs/guides.md:6: no test is named vm.test_pair": {**TREE, PAGE: HEAD + "| step | key | netplan | `vm.test_pair` |\n"},
    "docs/guides.md:6: no test is named cli.test_pair": {**TREE, PAGE: HEAD + "| step | key | netplan | `cli.test_pair` |\n"},
    "docs/guides.md:6: no suite of tests is named Mccl": {**TREE, PAGE: HEAD + "| step | key | netplan | `Mccl` |\n"},
    "docs/guides.md:6: wanted the name of a test": {**TREE, PAGE: HEAD + "| step | key | netplan | **refused**: no |\n"},
    "docs/guides.md:6: wanted four columns": {**TREE, PAGE: HEAD + "| step | key | `test_pair` |\n"},
    "docs/guides.md:6: names test_guides, and tests/lab/guides/steps.py has no check of 'step `y`' of a":
        {**TREE, STEPS: STEP, PAGE: HEAD + "| step `y` | key | netplan | `test_guides` |\n"},
    "tests/lab/guides/steps.py:1: no row of a in docs/guides.md with that text names test_guides: 'step `x`'":
        {**TREE, STEPS: STEP, PAGE: HEAD + "| step `x` | key | netplan | `test_pair` |\n"},
    "docs/guides.md:6: names vm.test_guide_storage, and tests/lab/guides/steps.py has no check of 'step `y`' of a":
        {**TREE, STEPS: MACHINE_STEP, PAGE: HEAD + "| step `y` | key | storage | `vm.test_guide_storage` |\n"},
    "tests/lab/guides/steps.py:2: no row of a in docs/guides.md with that text names vm.test_guide_storage: 'step `z`'":
        {**TREE, STEPS: MACHINE_STEP, PAGE: HEAD + "| step `z` | key | storage | `vm.test_storage` |\n"},
    "tests/lab/guides/steps.py:1: wanted a check, found none":
        {**TREE, STEPS: "STEPS = {'a': {'step': []}}\n", PAGE: HEAD + "| step | key | netplan | `test_guides` |\n"},
}
GOOD = {
    **TREE, STEPS: MACHINE_STEP, PAGE: "| a | `test_none` |\n\n" + HEAD + "| step `x` | key | nccl | `test_guides`, `vm.test_guide_storage` |\n"
    "| step `z` | key | storage | `vm.test_guide_storage`, `lab.test_pair` |\n"
    "| b | none | none | `vm.test_storage`, `cli.test_env` |\n| c | `none` | none | **yours**; `Nccl`, not `NCCL_DEBUG` |\n"
    "| d | none | none | **yours** |\n",
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
