#!/usr/bin/env python3
"""Checks that schema/diagnosis/ has a file for each code that a plan or a report can have, and for no other; that the file
names the command that reports it; and that a code of a plan begins with the name of the folder that it comes from."""

import re

import tree

CATALOGUE = "schema/diagnosis/"
# Folders with diagnostics of a plan, and what their codes begin with; None: the folder's name.
FOLDERS = {"reconciler/fabric/": "fabric", "reconciler/planning/": "plan", "plugins/common/": "plan",
           "plugins/": None}
PLAN = re.compile(r'(?:\bcode = |\bBlock\(\*?\w+,\s*|\bMakeBlocked\(\w+, \w+,\s*)"([^"]*)"')
# Findings of verify: the literals that become their codes, one pattern for each way of making one.
VERIFY_FOLDER = "reconciler/verify/"
VERIFY = [re.compile(pattern) for pattern in (
    r'return \{\s*"([a-z0-9-]+)",\s*(?:\{|List|nodes|slow|firewalls|fmt)',
    r'\bCause\s*\{\s*"([a-z0-9-]+)",',
    r'\bFinding \w+\{\.code = "([a-z0-9-]+)",',
    r'std::move\(check\),\s*\{"([a-z0-9-]+)"',
    r'\.cause = \{"([a-z0-9-]+)"',
    r'\b(?:DraftFinding|AddGroupedFindings)\([^"]*"([a-z0-9-]+)"',
    r'\{"[^"]*",\s*"([a-z0-9-]+)",\s*"')]
# Symptoms that are codes: those with a row in a table of the diagnosis.
DIAGNOSIS = "reconciler/verify/diagnosis/"
SYMPTOM_ROW = re.compile(r'\{\s*Symptom::(k\w+),\s*"')
SYMPTOM_TEXT = re.compile(r'case Symptom::(k\w+):\s*return "([a-z0-9-]+)";')


def prefix(name):
    for folder, word in FOLDERS.items():
        if name.startswith(folder):
            return word or name.removeprefix(folder).split("/")[0]
    return None


def plan_codes(root, found):
    codes = set()
    for path in tree.files(root, ".h", ".cpp"):
        word = prefix(str(path))
        if word is None:
            continue
        for code in PLAN.findall(tree.text(root, path)):
            codes.add(code)
            if not re.fullmatch(rf"{word}(-[a-z0-9]+)+", code):
                found.append(f"{path}: wanted a code like {word}-some-words, found {code}")
    return codes


def verify_codes(root):
    codes, rows, texts = set(), set(), {}
    for path in tree.files(root, ".h", ".cpp"):
        if not str(path).startswith(VERIFY_FOLDER):
            continue
        text = tree.text(root, path)
        for pattern in VERIFY:
            codes.update(pattern.findall(text))
        if str(path).startswith(DIAGNOSIS):
            rows.update(SYMPTOM_ROW.findall(text))
        texts.update(SYMPTOM_TEXT.findall(text))
    return codes | {texts[row] for row in rows if row in texts}


def check(root):
    found = []
    emitted = {"plan": plan_codes(root, found), "verify": verify_codes(root)}
    files = {path.stem: path for path in tree.files(root, ".yaml") if str(path).startswith(CATALOGUE)}
    for command, codes in emitted.items():
        for code in sorted(codes):
            if code not in files:
                found.append(f"{CATALOGUE}: wanted a file for {code}, found none")
            elif not re.search(rf"^reported_by: \[.*\b{command}\b.*\]$", tree.text(root, files[code]), re.MULTILINE):
                found.append(f"{files[code]}: wanted {command} in reported_by")
    for code in sorted(set(files) - emitted["plan"] - emitted["verify"]):
        found.append(f"{files[code]}: nothing reports {code}")
    return found


PLAN_FILE = "reported_by: [validate, plan]\n"
VERIFY_FILE = "reported_by: [verify]\n"
GOOD = {"schema/diagnosis/netplan/netplan-a.yaml": PLAN_FILE, "schema/diagnosis/plan/plan-b.yaml": PLAN_FILE,
        "schema/diagnosis/links/no-carrier.yaml": VERIFY_FILE, "schema/diagnosis/rdma/one-rail.yaml": VERIFY_FILE,
        "plugins/netplan/a.cpp": '{.code = "netplan-a"}\n', "reconciler/planning/b.cpp": 'Block(*change, "plan-b", why);\n',
        "reconciler/verify/report/report.cpp": 'case Symptom::kNoCarrier:\n  return "no-carrier";\n'
                                               'case Symptom::kOther:\n  return "other";\n',
        "reconciler/verify/diagnosis/facts.cpp": '{Symptom::kNoCarrier, "cause"},\n',
        "reconciler/verify/rdma/judge/causes.cpp": 'return {"one-rail", ListBoth(transfer),\n'}
BAD = {
    "a file for ssh-c": {**GOOD, "plugins/ssh/c.cpp": '.code = "ssh-c"'},
    "a file for plan-c": {**GOOD, "reconciler/planning/c.cpp": 'return MakeBlocked(resource, plugin,\n    "plan-c", why);'},
    "nothing reports plan-b": {**GOOD, "reconciler/planning/b.cpp": ""},
    "nothing reports no-carrier": {**GOOD, "reconciler/verify/diagnosis/facts.cpp": ""},
    "a file for other": {**GOOD, "reconciler/verify/diagnosis/ssh.cpp": '{Symptom::kOther, "x"}'},
    "a file for detour": {**GOOD, "reconciler/verify/rdma/judge/speed.cpp": 'return Cause{"detour", nodes'},
    "wanted verify in reported_by": {**GOOD, "schema/diagnosis/rdma/one-rail.yaml": PLAN_FILE},
    "wanted a code like ssh-some-words, found netplan-a": {**GOOD, "plugins/ssh/c.cpp": '.code = "netplan-a"'},
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
