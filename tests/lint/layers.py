#!/usr/bin/env python3
"""Checks every #include against the layers: arrows point downwards only, no folders form a circle, and each library has
its few files. Every header's types: two of one name in one namespace make a program that is not defined, and no compiler
says so. What the pure part reads or waits for: nothing. And how many sources a folder holds."""

import collections
import re

import tree

# What a layer may include besides its own folder. The first prefix that fits a file is its layer, so that what is
# deeper stands first.
BASE = ["reconciler/base/"]
MODEL = BASE + ["reconciler/model/"]
YAML = MODEL + ["reconciler/yaml/"]
PURE = MODEL + ["reconciler/fabric/", "reconciler/plugin.h"]
NODE = MODEL + ["reconciler/transport/", "reconciler/node/"]
JUDGES = MODEL + ["reconciler/fabric/", "reconciler/metrics/", "reconciler/spark_verify/protocol/"] + [
    f"reconciler/verify/{judge}/" for judge in
    ("links", "containers", "rdma/judge", "nccl/evidence", "nccl/judge", "nccl/coordinator", "diagnosis", "finding", "pairs", "report")]
LAYERS = {
    "reconciler/base/": [],
    "reconciler/yaml/": MODEL,
    "reconciler/model/": BASE,
    "reconciler/manifest/": YAML + ["schema/embedded.h"],
    "reconciler/fabric/": MODEL,
    "reconciler/plugin.h": MODEL,
    "reconciler/metrics/": BASE,
    "reconciler/planning/drift/": PURE + ["reconciler/metrics/", "reconciler/planning/"],
    "reconciler/planning/text/": PURE + ["reconciler/planning/", "schema/embedded.h"],
    "reconciler/planning/": PURE,
    "reconciler/progress/": PURE + ["reconciler/planning/"],
    "reconciler/transport/": MODEL,
    "reconciler/node/": NODE,
    "reconciler/access/": NODE,
    "reconciler/gather/reply/": PURE + ["reconciler/planning/", "reconciler/spark_verify/protocol/"],
    "reconciler/gather/": NODE + ["reconciler/fabric/", "reconciler/plugin.h", "reconciler/planning/", "reconciler/spark_verify/protocol/"],
    "reconciler/cabling/observe/": NODE + ["reconciler/cabling/"],
    "reconciler/cabling/": MODEL + ["reconciler/fabric/"],
    "reconciler/discovery/observe/": NODE + ["reconciler/discovery/"],
    "reconciler/discovery/": MODEL + ["reconciler/cabling/", "reconciler/manifest/read/", "reconciler/plugin.h",
                                      "reconciler/yaml/yaml_scalar.h"],
    "reconciler/apply/": NODE + ["reconciler/fabric/", "reconciler/plugin.h", "reconciler/planning/", "reconciler/progress/",
                                "reconciler/gather/", "reconciler/cabling/"],
    # The controller links the protocol: what reads files and descriptors stays beside it.
    "reconciler/spark_verify/protocol/": BASE,
    "reconciler/spark_verify/": BASE,
    # The judges are pure; only what runs a measurement knows a node.
    "reconciler/verify/links/run/": NODE + JUDGES,
    "reconciler/verify/containers/run/": NODE + JUDGES,
    **{folder: JUDGES for folder in JUDGES if folder.startswith("reconciler/verify/")},
    "reconciler/verify/": NODE + JUDGES + ["reconciler/plugin.h", "reconciler/verify/"],
    "reconciler/catalogue/": YAML + ["reconciler/manifest/", "reconciler/planning/layout.h", "schema/embedded.h"],
    "reconciler/cluster/": YAML + PURE + ["reconciler/manifest/", "reconciler/planning/", "reconciler/verify/report/"],
    "reconciler/cli/": ["reconciler/", "plugins/registry.h", "schema/embedded.h"],
    "plugins/registry.": ["reconciler/plugin.h", "plugins/"],
    "plugins/common/": MODEL + ["reconciler/fabric/"],
    # Some plugins read YAML files of a node; each plugin's own folder is added below.
    "plugins/": PURE + ["plugins/common/", "reconciler/yaml/yaml_document.h"],
    "schema/": [],
}

# Who may include a library, as patterns of whole file names.
LIBRARIES = {
    "libssh/": r"reconciler/transport/ssh/\w+\.(cpp|h)",
    "yaml-cpp/": r"reconciler/yaml/\w+\.cpp",
    "valijson/": r"reconciler/manifest/schema/schema_judge\.cpp",
    "boost/": r"reconciler/(planning|fabric)/\w+\.cpp|reconciler/base/ipv4\.cpp",
    "openssl/": r"reconciler/(base|model)/[\w/]+\.cpp",
    "CLI/": r"reconciler/cli/(?:[\w/]+\.cpp|range\.h)",
    "spdlog/": r"reconciler/cli/[\w/]+\.cpp",
    # Costs seconds per file, so that headers use json_fwd.hpp.
    "nlohmann/json.hpp": r"[\w/]+\.cpp|reconciler/base/json/json_reader\.h|reconciler/model/json/json_parts\.h|"
                          r"reconciler/spark_verify/protocol/json_line\.h",
}

# Headers by which a program reads files and descriptors, or waits. The pure part is what CMake links into the core.
DOORS = re.compile(r"(poll|unistd|fcntl|dirent|spawn|dlfcn|sys/\w+|csignal|signal|fstream|filesystem|thread|mutex)(\.h)?")
CORE = re.compile(r"spark_sources\((?:reconciler_core|spark_verify_protocol)\s([^)]*)\)")

FULL = 30  # sources in one folder: more hide what belongs together
SOURCES = (".bash", ".cpp", ".h", ".py", ".sh")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+) (?:final )?[:{]")


def layer_of(name):
    return next((layer for layer in LAYERS if name.startswith(layer)), None)


def allowed(name, included):
    layer = layer_of(name)
    if layer is None:
        return False
    own = name.rsplit("/", 1)[0] + "/" if layer == "plugins/" else layer
    return any(included.startswith(prefix) for prefix in [own, *LAYERS[layer]])


def check(root):
    found = []
    for path in tree.files(root, ".h", ".cpp"):
        name = str(path)
        if name.startswith("tests/"):
            continue
        for number, line in enumerate(tree.text(root, path).splitlines(), 1):
            include = INCLUDE.match(line)
            if not include:
                continue
            ours, library = include.groups()
            if ours and not allowed(name, ours):
                found.append(f"{name}:{number}: {ours} is not below {layer_of(name) or 'any known layer'}")
            for prefix, users in LIBRARIES.items():
                if library and library.startswith(prefix) and not re.fullmatch(users, name):
                    found.append(f"{name}:{number}: <{library}> is for {users} only")
    return found


def arrows(root):
    """Which folders each folder includes, with a file that does."""
    folders = collections.defaultdict(dict)
    for path in tree.files(root, ".h", ".cpp"):
        if path.parts[0] == "tests":
            continue
        for line in tree.text(root, path).splitlines():
            include = INCLUDE.match(line)
            if include and include[1] and "/" in include[1]:
                folders[str(path.parent)].setdefault(include[1].rsplit("/", 1)[0], path)
    return folders


def way(folders, start, end, seen):
    """The folders from start to end by their includes; none when there is no way."""
    if start == end:
        return [start]
    seen.add(start)
    for folder in sorted(folders.get(start, {})):
        if folder not in seen and (rest := way(folders, folder, end, seen)):
            return [start, *rest]
    return []


def circles(root):
    folders, found = arrows(root), {}
    for folder in sorted(folders):
        for included in sorted(folders[folder]):
            if included != folder and (back := way(folders, included, folder, set())):
                found.setdefault(frozenset(back), f"{folders[folder][included]}: a circle of folders: "
                                                  f"{' -> '.join([folder, *back])}")
    return list(found.values())


def twice(root):
    found, seen = [], {}
    for path in tree.files(root, ".h"):
        namespace = ""
        for number, line in enumerate(tree.text(root, path).splitlines(), 1):
            if opened := NAMESPACE.match(line):
                namespace = opened[1]
            if (made := TYPE.match(line)) and not str(path).startswith("tests/"):
                name = f"{namespace}::{made[1]}"
                if seen.setdefault(name, path) != path:
                    found.append(f"{path}:{number}: {name} is in {seen[name]} already")
    return found


def impure(root):
    lists = root / "reconciler/CMakeLists.txt"
    folders = [folder for group in CORE.findall(lists.read_text()) for folder in group.split()] if lists.exists() else []
    core = {f"reconciler/{folder}" for folder in folders}
    found = []
    for path in tree.files(root, ".h", ".cpp"):
        if str(path.parent) not in core and path.parts[0] != "plugins":
            continue
        for number, line in enumerate(tree.text(root, path).splitlines(), 1):
            if (include := INCLUDE.match(line)) and include[2] and DOORS.fullmatch(include[2]):
                found.append(f"{path}:{number}: <{include[2]}> in the pure part, which reads nothing and never waits")
    return found


def crowded(root):
    folders = collections.Counter(str(path.parent) for path in tree.files(root, *SOURCES))
    return [f"{folder}: {count} sources, at most {FULL}: which of them belong together?"
            for folder, count in sorted(folders.items()) if count > FULL]


BAD = {
    "plugins/etc_hosts/etc_hosts.h is not below reconciler/planning/":
        {"reconciler/planning/plan.cpp": '#include "plugins/etc_hosts/etc_hosts.h"\n'},
    "is not below reconciler/verify/": {"reconciler/verify/a.cpp": '#include "plugins/registry.h"\n'},
    "is not below reconciler/transport/": {"reconciler/transport/a.h": '#include "reconciler/plugin.h"\n'},
    "is not below reconciler/base/": {"reconciler/base/a.cpp": '#  include "reconciler/model/plan.h"\n'},
    "reconciler/transport/transport.h is not below": {"plugins/ssh/a.cpp":
                                                      '#include "reconciler/transport/transport.h"\n'},
    "plugins/netplan/foreign.h is not below": {"plugins/ssh/b.cpp": '#include "plugins/netplan/foreign.h"\n'},
    "reconciler/gather/gather.h is not below": {"reconciler/planning/diff.cpp":
                                                '#include "reconciler/gather/gather.h"\n'},
    "<libssh/libssh.h> is for": {"reconciler/gather/gather.cpp": "#include <libssh/libssh.h>\n"},
    "<yaml-cpp/yaml.h> is for": {"plugins/netplan/foreign.cpp": "#include <yaml-cpp/yaml.h>\n"},
    "<nlohmann/json.hpp> is for": {"reconciler/model/plan.h": "#include <nlohmann/json.hpp>\n"},
    "reconciler::View is in reconciler/base/a.h already": {
        "reconciler/base/a.h": "namespace reconciler {\nstruct View {\n};\n}\n",
        "reconciler/model/a.h": "namespace reconciler {\nclass View final : public A {\n};\n}\n"},
    "reconciler/base: 31 sources": {f"reconciler/base/a{number}.h": "\n" for number in range(31)},
    "io/line_reader.h is not below reconciler/spark_verify/protocol/": {
        "reconciler/spark_verify/protocol/a.cpp": '#include "reconciler/spark_verify/io/line_reader.h"\n'},
    "io/read_counters.h is not below reconciler/verify/rdma/judge/": {
        "reconciler/verify/rdma/judge/a.cpp": '#include "reconciler/spark_verify/io/read_counters.h"\n'},
    "reconciler/fabric/a.cpp:1: <poll.h> in the pure part": {
        "reconciler/CMakeLists.txt": "spark_sources(reconciler_core\n  base\n  fabric)\n",
        "reconciler/fabric/a.cpp": "#include <poll.h>\n"},
    "reconciler/said/a.h:1: <fstream> in the pure part": {
        "reconciler/CMakeLists.txt": "spark_sources(spark_verify_protocol said)\n",
        "reconciler/said/a.h": "#include <fstream>\n"},
    "plugins/ssh/a.cpp:2: <sys/stat.h> in the pure part": {"plugins/ssh/a.cpp": "\n#include <sys/stat.h>\n"},
    "reconciler/model/a.h: a circle of folders: reconciler/model -> reconciler/model/json -> reconciler/model": {
        "reconciler/model/a.h": '#include "reconciler/model/json/b.h"\n',
        "reconciler/model/json/b.h": '#include "reconciler/model/c.h"\n'},
    "any known layer": {"reconciler/new/a.cpp": '#include "reconciler/base/text.h"\n'},
}
GOOD = {
    "reconciler/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "plugins/registry.h"\n',
    "reconciler/verify/a.cpp": '#include "reconciler/node/node_pool.h"\n#include <nlohmann/json.hpp>\n',
    "reconciler/transport/ssh/auth.cpp": "#include <libssh/libssh.h>\n",
    "reconciler/CMakeLists.txt": "spark_sources(reconciler_core base)\nspark_sources(reconciler_engine node)\n",
    "reconciler/base/a.cpp": "#include <string>\n",
    "reconciler/node/a.cpp": "#include <poll.h>\n",
    "plugins/netplan/a.cpp": '#include "plugins/netplan/a.h"\n#include "reconciler/yaml/yaml_document.h"\n',
    "plugins/etc_hosts/a.h": "namespace reconciler::plugins::etc_hosts {\nstruct View {\n};\n}\n",
    "plugins/ssh/a.h": "namespace reconciler::plugins::ssh {\nstruct View {\n};\n}\n",
    "tests/a_test.cpp": '#include "plugins/etc_hosts/etc_hosts.h"\n',
}

if __name__ == "__main__":
    tree.main(lambda root: check(root) + circles(root) + twice(root) + impure(root) + crowded(root), BAD, GOOD)
