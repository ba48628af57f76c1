#!/usr/bin/env python3
"""Checks that the engine knows no plugin: no string literal below reconciler/ names a plugin, or a program that only
plugins run, and no script there runs such a program. What is special about one is a property of the resource, the action or the plugin."""

import re

import tree

# Folders that judge or run what one plugin is about too, and so name it. The document of facts has a member per plugin.
EXEMPT = ["reconciler/verify/", "reconciler/spark_verify/", "reconciler/model/facts"]

# Programs that only plugins run. Words that mean something else in a sentence count only as a whole literal.
PROGRAMS = ["netplan", "networkctl", "nmcli", "sysctl", "systemctl", "modprobe", "rmmod", "nft"]
WHOLE = ["ip", "link", "unit", "module"]

# Folder or file, the words that it may use, and why.
ALLOWED = [
    ("reconciler/apply/guard/", ["ssh", "sysctl", "systemctl", "unit"],
     "the guard's own shell: its timer, the units that carry logins, and the services that read files at a start"),
    ("reconciler/apply/drill.", ["sysctl"], "a drill sets a value that no one uses, as a plugin would"),
    ("reconciler/cabling/view.cpp", ["host", "link"], "names of our own script about a port and who it hears"),
    ("reconciler/discovery/managed.cpp", ["hosts"], "a section of the manifest that discover writes"),
    ("reconciler/fabric/bootstrap.cpp", ["nccl"], "the section that says where the ranks of all launchers meet"),
    ("reconciler/manifest/read/switch_view.cpp", ["qos"], "a key of a switch in the manifest"),
    ("reconciler/manifest/schema/schema_text.cpp", ["unit"], "a keyword of the schema: what a number counts"),
    ("reconciler/manifest/checks/check_verify.cpp", ["link", "rdma"], "levels of the verification"),
    ("reconciler/manifest/checks/check_subnets.cpp", ["link"], "a cable, in a sentence"),
    ("reconciler/cli/commands/status.cpp", ["rdma"], "a column's title"),
    ("reconciler/transport/ssh/", ["ssh"], "OpenSSH's client, which reads its own configuration"),
    ("reconciler/cli/commands/verify.cpp", ["nccl", "rdma", "link"], "levels of the verification"),
]
EXPLAINS = "reconciler/cli/"  # sentences for people; only whole literals count there

LITERAL = re.compile(r'R"sh\((.*?)\)sh"|R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*')
PLUGIN = re.compile(r'Plugin Get\(\) \{\s*return \{\s*\.name = "(\w+)"')


def plugins(root):
    names = set()
    for path in tree.files(root, ".cpp"):
        if str(path).startswith("plugins/"):
            names.update(PLUGIN.findall(tree.text(root, path)))
    return sorted(names)


def literals(text):
    """Line number and text of each string literal."""
    for match in LITERAL.finditer(COMMENT.sub(lambda found: found[1] or "", text)):
        yield text.count("\n", 0, match.start()) + 1, next(group for group in match.groups() if group is not None)


def words(name, literal, known):
    """The forbidden words of a literal: a plugin's name alone or before a dot, as in a key; a program anywhere."""
    whole = {literal, literal.split(".")[0]} & set(known + WHOLE + PROGRAMS)
    inside = set() if name.startswith(EXPLAINS) else set(re.findall(r"[a-z]+", literal)) & set(PROGRAMS)
    return whole | inside


def programs(root, path):
    """Line number and name of each program of plugins in a script, but for comments."""
    for number, line in enumerate(tree.text(root, path).splitlines(), 1):
        for word in sorted(set(re.findall(r"[a-z]+", re.sub(r"(^|\s)#.*", "", line))) & set(PROGRAMS)):
            yield number, word


def check(root):
    known, found = plugins(root), []
    for path in tree.files(root, ".h", ".cpp", ".sh"):
        name = str(path)
        if not name.startswith("reconciler/") or any(name.startswith(folder) for folder in EXEMPT):
            continue
        allowed = {word for place, some, _ in ALLOWED if name.startswith(place) for word in some}
        if name.endswith(".sh"):
            found += [f"{name}:{number}: \"{word}\" is run by plugins only" for number, word in programs(root, path)
                      if word not in allowed]
            continue
        text = "\n".join("" if line.startswith("#include") else line for line in tree.text(root, path).splitlines())
        for number, literal in literals(text):
            found += [f"{name}:{number}: \"{word}\" is a plugin's: what is special about it is a property"
                      for word in sorted(words(name, literal, known) - allowed)]
    return found


NETPLAN = {"plugins/netplan/netplan.cpp": 'Plugin Get() {\n  return {.name = "netplan"};\n}\n',
           "plugins/hosts/hosts.cpp": 'Plugin Get() { return {.name = "hosts"}; }\n'}
BAD = {
    'a.cpp:2: "hosts" is': {**NETPLAN, "reconciler/apply/a.cpp": '// first\nbool a = plugin.name == "hosts";\n'},
    'b.cpp:1: "hosts" is': {**NETPLAN, "reconciler/gather/b.cpp": 'auto b = "hosts.file";\n'},
    'c.cpp:1: "ip" is': {"reconciler/apply/c.cpp": 'return program == "ip";\n'},
    'd.cpp:1: "systemctl" is': {"reconciler/planning/d.cpp": 'auto d = "run systemctl daemon-reload";\n'},
    'e.cpp:1: "nmcli" is': {"reconciler/node/e.cpp": 'auto e = R"sh(\nnmcli up\n)sh";\n'},
    'f.cpp:1: "netplan" is': {**NETPLAN, "reconciler/cli/f.cpp": 'find(only, "netplan");\n'},
    'h.sh:2: "nmcli" is': {"reconciler/gather/h.sh": "# nmcli\nnmcli up\n"},
    'g.cpp:1: "link" is': {"reconciler/planning/g.cpp": 'change.kind == "link";\n'},
}
GOOD = {
    **NETPLAN,
    "reconciler/apply/a.cpp": '#include "plugins/netplan"\n// not "netplan" but its own\nauto a = "the hosts of a rail"; // "ip"\n',
    "reconciler/cli/b.cpp": 'auto hint = "netplan generate says more";\n',
    "reconciler/verify/c.cpp": 'auto c = "netplan";\n',
    "reconciler/apply/guard/e.sh": "systemctl daemon-reload # and netplan\n",
    "plugins/netplan/d.cpp": 'auto d = "netplan";\n',
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
