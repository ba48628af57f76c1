#!/usr/bin/env python3
"""Writes docs/known-failures.md from docs/known-failures.yaml; with --check, compares instead. Either way it checks that
each row names codes and tests that exist, that one of the tests of a detected failure looks for one of its codes (in its
own body, or in what all tests of its file share), and that everything else has a reason; and it prints how many failures
each class has.
--self-test: the checks can fail."""

import collections
import pathlib
import re
import sys
import tempfile

import yaml

import tree

DATA = "docs/known-failures.yaml"
PAGE = "docs/known-failures.md"
CLASSES = {
    "detected": "found and named, as the tests show",
    "partly": "its effect is found, or only some of its causes",
    "undetectable": "nothing on a node shows it",
    "out of scope": "the program does nothing that it could break",
}
KEYS = {"id", "symptom", "class", "codes", "tests", "note"}
CPP_TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)
# One line, or all up to the brace in the first column; in Python all up to what is indented no further.
CPP_BODY = re.compile(CPP_TEST.pattern + r"(?:[^\n]*\}$|.*?^\}$)", re.MULTILINE | re.DOTALL)
PY_BODY = re.compile(r"^    def (test_\w+)\(.*?(?=^ {0,4}\S|\Z)", re.MULTILINE | re.DOTALL)
PY_CLASS = re.compile(r"^class (\w+)\(.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
# A symptom of verify is a code too; sources write it in this form.
SYMPTOM = re.compile(r'case (Symptom::k\w+):\s*return "([a-z0-9-]+)";')
REPORT = "reconciler/verify/report/report.cpp"
INTRO = """\
# Known failures

<!-- Written by tests/lint/known_failures.py from known-failures.yaml: change that, then run it. -->

What goes wrong with clusters of DGX Sparks, as their owners and NVIDIA reported it in public, and what `spark-reconcile` finds of it.
[diagnosis.md](diagnosis.md) has the meaning of each code, and `spark-reconcile explain CODE` prints it. A test is named by its suite and its
name, one of the lab by its file, class and method. A failure without a code is one that the program avoids, that a plan or `cabling` shows without one, or
that it does not take for a fault.

"""


def tests_of(root):
    """Files by test name."""
    found = {}
    for path in tree.files(root, "_test.cpp"):
        for suite, name in CPP_TEST.findall(tree.text(root, path)):
            found[f"{suite}.{name}"] = path
    for path in tree.files(root, ".py"):
        if not path.name.startswith("test_"):
            continue
        owner = ""
        for line in tree.text(root, path).splitlines():
            if match := re.match(r"class (\w+)\(", line):
                owner = match[1]
            elif match := re.match(r"    def (test_\w+)\(", line):
                found[f"{path.stem}.{owner}.{match[1]}"] = path
    return found


def words_of(root, code):
    """How a source may write that code."""
    symptoms = SYMPTOM.findall(tree.text(root, REPORT)) if (root / REPORT).exists() else []
    return [f'"{code}"', f"[{code}]", f" {code} ", f'"{code} '] + [name for name, text in symptoms if text == code]


def body_of(root, name, path):
    """What that test runs of its file: the file without the bodies of the other tests."""
    text = tree.text(root, path)
    if path.suffix == ".cpp":
        return CPP_BODY.sub(lambda test: test[0] if f"{test[1]}.{test[2]}" == name else "", text)
    _, owner, method = name.split(".")

    def keep(owned):
        return PY_BODY.sub(lambda test: test[0] if (owned[1], test[1]) == (owner, method) else "", owned[0])

    return PY_CLASS.sub(keep, text)


def check_row(root, row, codes, tests):
    """What is wrong with a row."""
    for key in sorted(set(row) - KEYS):
        yield f"no one knows the key {key}"
    if row.get("class") not in CLASSES:
        yield f"wanted one of {', '.join(CLASSES)} for class, found {row.get('class')}"
        return
    for code in row.get("codes", []):
        if code not in codes:
            yield f"there is no code {code}"
    known = [name for name in row.get("tests", []) if name in tests]
    for name in row.get("tests", []):
        if name not in tests:
            yield f"there is no test {name}"
    detected = row["class"] == "detected"
    if detected and not row.get("tests"):
        yield "wanted a test that shows it"
    if not detected and not row.get("note"):
        yield "wanted a note that says why"
    words = [word for code in row.get("codes", []) for word in words_of(root, code)]
    if detected and words and known:
        texts = [body_of(root, name, tests[name]) for name in known]
        if not any(word in text for word in words for text in texts):
            yield "none of its tests looks for one of its codes"


def rows_of(root):
    return [row for group in yaml.safe_load(tree.text(root, pathlib.PurePosixPath(DATA))) for row in group["rows"]]


def check(root):
    codes = {path.stem for path in tree.files(root, ".yaml") if str(path).startswith("schema/diagnosis/")}
    tests = tests_of(root)
    found, seen = [], set()
    for row in rows_of(root):
        found += [f"{DATA}: {row['id']}: {wrong}" for wrong in check_row(root, row, codes, tests)]
        if row["id"] in seen:
            found.append(f"{DATA}: {row['id']} is there twice")
        seen.add(row["id"])
    return found


def count(rows):
    counted = collections.Counter(row["class"] for row in rows)
    return {name: counted[name] for name in CLASSES}


def cell(text):
    return text.replace("|", "\\|")


def render(root):
    groups = yaml.safe_load(tree.text(root, pathlib.PurePosixPath(DATA)))
    rows = [row for group in groups for row in group["rows"]]
    page = INTRO + "| Class | Failures | Means |\n|---|---|---|\n"
    for name, number in count(rows).items():
        page += f"| {name} | {number} | {CLASSES[name]} |\n"
    page += f"| all | {len(rows)} | |\n"
    for group in groups:
        page += f"\n## {group['group']}\n\n| Failure | Class | Codes | Tests; or why not |\n|---|---|---|---|\n"
        for row in group["rows"]:
            shown = ", ".join(f"`{name}`" for name in row.get("tests", []))
            why = "; ".join(part for part in (shown, row.get("note", "")) if part)
            codes = ", ".join(f"`{code}`" for code in row.get("codes", []))
            page += f"| <a id=\"{row['id']}\"></a>{cell(row['symptom'])} | {row['class']} | {codes} | {cell(why)} |\n"
    return page


def make_tree(row):
    return {DATA: "- group: Links\n  rows:\n    - " + row.replace("\n", "\n      ") + "\n",
            "schema/diagnosis/links/no-carrier.yaml": "code: no-carrier\n",
            # The folder that a test is for may name the code; the test must.
            "reconciler/links/links.cpp": 'constexpr const char* kCode = "no-carrier";\n',
            "tests/unit/links/a_test.cpp": """\
TEST(Links, Short) { EXPECT_EQ(1, 1); }
TEST(Links, ADarkPortIsNamed) { EXPECT_EQ(code, "no-carrier"); }
TEST(Links, Long) {
  EXPECT_EQ(1, 1);
}
TEST_F(Other,
       ALongOne) {
  for (;;) {
  }
  EXPECT_EQ(code, "no-carrier");
}
""",
            "tests/unit/links/b_test.cpp": """\
std::string Find() { return "no-carrier"; }
TEST(Links, ByAHelper) {
  EXPECT_TRUE(Find());
}
""",
            "tests/lab/test_c.py": """\
class Pair(LabTest):
    def test_1_dark(self):
        assert '"no-carrier"' in found

    def test_2_bright(self):
        assert found == ""

class Ring(LabTest):
    def test_1_dark(self):
        assert found == ""
"""}


ROW = "id: dark\nsymptom: A port is dark\nclass: detected\ncodes: [no-carrier]\n"
GOOD = [*(f"{ROW}tests: [{name}]" for name in ("Links.ADarkPortIsNamed", "Other.ALongOne", "Links.ByAHelper",
                                               "test_c.Pair.test_1_dark", "Links.Long, Links.ADarkPortIsNamed")),
        "id: dark\nsymptom: A port is dark\nclass: out of scope\nnote: It is not ours."]
MESSAGE_ONLY = [ROW + f"tests: [{name}]" for name in ("Links.Short", "Links.Long", "test_c.Pair.test_2_bright", "test_c.Ring.test_1_dark")]
BAD = {"there is no code no-carier": ROW.replace("carrier", "carier") + "tests: [Links.ADarkPortIsNamed]",
       "there is no test Links.Gone": ROW + "tests: [Links.Gone]",
       "wanted a test that shows it": ROW,
       "wanted a note": "id: dark\nsymptom: A port is dark\nclass: undetectable",
       "for class, found maybe": "id: dark\nsymptom: A port is dark\nclass: maybe",
       "no one knows the key why": ROW + "tests: [Links.ADarkPortIsNamed]\nwhy: so"}


def self_test():
    unnamed = [("looks for one of its codes", row) for row in MESSAGE_ONLY]
    for word, row in [*BAD.items(), *unnamed, *((None, row) for row in GOOD)]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in make_tree(row).items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            found = check(root)
            if (word is None and found) or (word is not None and not any(word in line for line in found)):
                sys.exit(f"self-test: wanted {word or 'no complaint'}, found {found}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit()
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check | --self-test]")
    wrong = check(tree.ROOT)
    written = render(tree.ROOT)
    if not sys.argv[1:]:
        (tree.ROOT / PAGE).write_text(written, encoding="utf-8")
    elif tree.text(tree.ROOT, pathlib.PurePosixPath(PAGE)) != written:
        wrong.append(f"{PAGE} is not what {DATA} says: run tests/lint/known_failures.py")
    rows = rows_of(tree.ROOT)
    print(", ".join(f"{number} {name}" for name, number in count(rows).items()) + f"; {len(rows)} failures in all")
    if wrong:
        sys.exit("\n".join(wrong))
