#!/usr/bin/env python3
"""Checks that schema/diagnosis/ has a file for each code that a plan or a report can have, and for no other; that the file
names the command that reports it; and that a code of a plan begins with the name of the folder that it comes from."""

import re

import tree

CATALOGUE = "schema/diagnosis/"
# Folders with diagnostics of a plan and errors of the manifest, and what their codes begin with; None: the folder's name.
FOLDERS = {"reconciler/fabric/": ("fabric", "manifest"), "reconciler/planning/": ("plan",), "plugins/common/": ("plan",),
           "reconciler/manifest/": ("manifest",), "reconciler/yaml/": ("manifest",),
           "reconciler/verify/report/section.cpp": ("manifest",), "plugins/": None}
# How a code of a plan or of an error is written, and with which severities: a pattern for each way.
SEVERITY = r"\.severity = ([^;{}]*?),\s*"
CODE = r'"([^"]*)"'
WAYS = [
    (SEVERITY + r"\.code = " + CODE, None),                                 # a Diagnostic: as it says
    (r"(?<![\w.])(?<!, )\.code = " + CODE + r",\s*\.message", "informs"),    # without one it informs
    (r"\.code = " + CODE + r",\s*\.why", "blocks-change"),                  # an Obstacle
    (r"\b(?:Block\(\*?\w+|MakeBlocked\(\w+, \w+),\s*" + CODE, "blocks-change"),
    (r"\b(?:MakeManifestError|add|Add|make_error)\(\s*" + CODE + ",", "blocks"),  # an error of the manifest
    (r"\bMistake\{\s*" + CODE, "blocks"),
]
# Functions that choose a code for their callers: `code = "…";` in that file.
CHOSEN = {"plugins/netplan/adopt/claims.cpp": {"warns", "blocks-change"}, "plugins/nccl/nccl.cpp": {"blocks"}}
NAMES = {"Severity::kBlocks": "blocks", "Severity::kWarns": "warns", "Severity::kInforms": "informs"}
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


def prefixes(name):
    for folder, words in FOLDERS.items():
        if name.startswith(folder):
            return words or (name.removeprefix(folder).split("/")[0],)
    return None


def severities(name, text):
    """Pairs of a code in that file and a severity that it is reported with."""
    with_severity = set()
    for found in re.finditer(WAYS[0][0], text):
        with_severity.add(found.start(2))
        for word in re.findall(r"Severity::k\w+", found[1]):
            yield found[2], NAMES[word]
    for pattern, severity in WAYS[1:]:
        for found in re.finditer(pattern, text):
            if found.start(1) not in with_severity:
                yield found[1], severity
    for code in re.findall(r"(?<!\.)\bcode = " + CODE + ";", text):
        for severity in CHOSEN.get(name, ["no known severity"]):
            yield code, severity


def plan_codes(root, found):
    """Severities by code: those of diagnostics and of what blocks a change, and those of errors of the manifest."""
    codes = {}
    for path in tree.files(root, ".h", ".cpp"):
        words = prefixes(str(path))
        if words is None:
            continue
        text = tree.text(root, path)
        pairs = list(severities(str(path), text))
        for code, severity in pairs:
            codes.setdefault(code, set()).add(severity)
            if not re.fullmatch(rf"(?:{'|'.join(words)})(-[a-z0-9]+)+", code):
                found.append(f"{path}: wanted a code like {words[0]}-some-words, found {code}")
        for code in re.findall(r"\.code = " + CODE, text):
            if code not in dict(pairs):
                found.append(f"{path}: wanted a severity beside {code}, found none")
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


def listed(text, key):
    """The entries of a list in a file of the catalogue."""
    found = re.search(rf"^{key}: \[(.*)\]$", text, re.MULTILINE)
    return set(re.split(r", *", found[1])) if found else set()


# Who reports a code with such a severity: an error of the manifest is found before a plan is made.
def command_of(severities_of_code):
    return "validate" if severities_of_code == {"blocks"} else "plan"


def check(root):
    found = []
    plan = plan_codes(root, found)
    verify = verify_codes(root)
    files = {path.stem: path for path in tree.files(root, ".yaml") if str(path).startswith(CATALOGUE)}
    for code in sorted(set(plan) | verify):
        if code not in files:
            found.append(f"{CATALOGUE}: wanted a file for {code}, found none")
            continue
        text = tree.text(root, files[code])
        commands = listed(text, "reported_by")
        if code in verify and "verify" not in commands:
            found.append(f"{files[code]}: wanted verify in reported_by")
        if code not in plan:
            continue
        if not commands & {"plan", command_of(plan[code])}:
            found.append(f"{files[code]}: wanted {command_of(plan[code])} in reported_by")
        if listed(text, "severity") != plan[code]:
            found.append(f"{files[code]}: wanted severity {', '.join(sorted(plan[code]))} as in the sources, "
                         f"found {', '.join(sorted(listed(text, 'severity')))}")
    for code in sorted(set(files) - set(plan) - verify):
        found.append(f"{files[code]}: nothing reports {code}")
    return found


PLAN_FILE = "reported_by: [validate, plan]\nseverity: [informs]\n"
BLOCK_FILE = "reported_by: [plan]\nseverity: [blocks-change]\n"
ERROR_FILE = "reported_by: [validate]\nseverity: [blocks]\n"
VERIFY_FILE = "reported_by: [verify]\nseverity: [fails]\n"
GOOD = {"schema/diagnosis/netplan/netplan-a.yaml": PLAN_FILE, "schema/diagnosis/plan/plan-b.yaml": BLOCK_FILE,
        "schema/diagnosis/links/no-carrier.yaml": VERIFY_FILE, "schema/diagnosis/rdma/one-rail.yaml": VERIFY_FILE,
        "schema/diagnosis/manifest/manifest-d.yaml": ERROR_FILE,
        "plugins/netplan/a.cpp": '{.code = "netplan-a", .message = "x"}\n',
        "reconciler/planning/b.cpp": 'Block(*change, "plan-b", why);\n',
        "reconciler/manifest/checks/d.cpp": 'errors.Add("manifest-d", position, "x");\n',
        "reconciler/verify/report/report.cpp": 'case Symptom::kNoCarrier:\n  return "no-carrier";\n'
                                               'case Symptom::kOther:\n  return "other";\n',
        "reconciler/verify/diagnosis/facts.cpp": '{Symptom::kNoCarrier, "cause"},\n',
        "reconciler/verify/rdma/judge/causes.cpp": 'return {"one-rail", ListBoth(transfer),\n'}
BAD = {
    "a file for ssh-c": {**GOOD, "plugins/ssh/c.cpp": '.code = "ssh-c", .why = why'},
    "a file for plan-c": {**GOOD, "reconciler/planning/c.cpp": 'return MakeBlocked(resource, plugin,\n    "plan-c", why);'},
    "a file for manifest-e": {**GOOD, "reconciler/manifest/checks/e.cpp": 'errors_.Add(\n    "manifest-e", position, "x");'},
    "a file for units-f": {**GOOD, "plugins/units/f.cpp": 'mistakes.push_back(Mistake{"units-f", "x"});'},
    "nothing reports plan-b": {**GOOD, "reconciler/planning/b.cpp": ""},
    "nothing reports manifest-d": {**GOOD, "reconciler/manifest/checks/d.cpp": ""},
    "nothing reports no-carrier": {**GOOD, "reconciler/verify/diagnosis/facts.cpp": ""},
    "a file for other": {**GOOD, "reconciler/verify/diagnosis/ssh.cpp": '{Symptom::kOther, "x"}'},
    "a file for detour": {**GOOD, "reconciler/verify/rdma/judge/speed.cpp": 'return Cause{"detour", nodes'},
    "wanted verify in reported_by": {**GOOD, "schema/diagnosis/rdma/one-rail.yaml": PLAN_FILE},
    "wanted validate in reported_by": {**GOOD, "schema/diagnosis/manifest/manifest-d.yaml":
                                       "reported_by: [verify]\nseverity: [blocks]\n"},
    "wanted a code like ssh-some-words, found netplan-a": {**GOOD, "plugins/ssh/c.cpp": '.code = "netplan-a", .why = x'},
    "netplan-a.yaml: wanted severity informs, warns as in the sources, found informs":
        {**GOOD, "plugins/netplan/b.cpp": '{.severity = Severity::kWarns,\n .code = "netplan-a", .message = "x"}'},
    "netplan-a.yaml: wanted severity blocks, warns as in the sources, found informs":
        {**GOOD, "plugins/netplan/a.cpp": '{.severity = need ? Severity::kBlocks : Severity::kWarns, .code = "netplan-a", '
                                          '.message = "x"}'},
    "manifest-d.yaml: wanted severity blocks as in the sources, found warns":
        {**GOOD, "schema/diagnosis/manifest/manifest-d.yaml": "reported_by: [validate]\nseverity: [warns]\n"},
    "wanted a severity beside ssh-g, found none": {**GOOD, "plugins/ssh/g.cpp": 'found.code = "ssh-g";'},
    "netplan-a.yaml: wanted severity informs, no known severity":
        {**GOOD, "plugins/netplan/c.cpp": 'code = "netplan-a";'},
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
