#!/usr/bin/env python3
"""Checks every #include against the layers: arrows point downwards only, and each library has its few files."""

import re

import tree

# What a layer may include besides its own folder. The first prefix that fits a file is its layer.
BASE = ["reconciler/base/"]
MODEL = BASE + ["reconciler/model/"]
PURE = MODEL + ["reconciler/fabric/", "reconciler/plugin.h"]
LAYERS = {
    "reconciler/base/": [],
    "reconciler/model/": BASE,
    "reconciler/spec/": MODEL + ["schema/embedded.h"],
    "reconciler/fabric/": MODEL,
    "reconciler/cabling/": MODEL + ["reconciler/fabric/"],
    "reconciler/plugin.h": MODEL,
    "reconciler/transport/": MODEL,
    "reconciler/engine/": PURE + ["reconciler/cabling/", "reconciler/transport/"],
    "reconciler/spark_verify/": BASE,
    "reconciler/verify/": PURE + ["reconciler/spark_verify/", "reconciler/transport/", "reconciler/engine/"],
    "reconciler/cli/": ["reconciler/", "plugins/registry.h", "schema/embedded.h"],
    "plugins/registry.": ["reconciler/plugin.h", "plugins/"],
    "plugins/shared/": MODEL,
    # Some plugins read YAML files of a node; each plugin's own folder is added below.
    "plugins/": PURE + ["plugins/shared/", "reconciler/spec/yaml_document.h"],
    "schema/": [],
}

# Who may include a library, as patterns of whole file names.
LIBRARIES = {
    "libssh/": r"reconciler/transport/ssh_\w+\.(cpp|h)",
    "yaml-cpp/": r"reconciler/spec/yaml_\w+\.cpp",
    "valijson/": r"reconciler/spec/schema_judge\.cpp",
    "boost/": r"reconciler/(engine|fabric)/\w+\.cpp",
    "openssl/": r"reconciler/(base|model)/\w+\.cpp",
    "CLI/": r"reconciler/cli/\w+\.cpp",
    "spdlog/": r"reconciler/cli/\w+\.cpp",
    # Costs seconds per file, so that headers use json_fwd.hpp.
    "nlohmann/json.hpp": r"[\w/]+\.cpp|reconciler/model/json_(reader|parts)\.h",
}

# Part of reconciler_core, which is built where there is no transport.
PURE_ENGINE = {f"reconciler/engine/{name}" for name in
               ("diff.cpp", "diff.h", "home_path.cpp", "home_path.h", "ledger.cpp", "ledger.h", "order.cpp", "order.h",
                "plan_compare.cpp", "plan_compare.h", "plan_maker.cpp", "plan_maker.h", "plugin_words.cpp",
                "plugin_words.h", "prune.cpp", "prune.h", "render.cpp", "render.h")}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def layer_of(name):
    return next((layer for layer in LAYERS if name.startswith(layer)), None)


def allowed(name, included):
    layer = layer_of(name)
    if layer is None:
        return False
    own = name.rsplit("/", 1)[0] + "/" if layer == "plugins/" else layer
    if name in PURE_ENGINE:
        return included in PURE_ENGINE or any(included.startswith(prefix) for prefix in PURE)
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


BAD = {
    "plugins/hosts/hosts.h is not below reconciler/engine/":
        {"reconciler/engine/plan.cpp": '#include "plugins/hosts/hosts.h"\n'},
    "is not below reconciler/verify/": {"reconciler/verify/a.cpp": '#include "plugins/registry.h"\n'},
    "is not below reconciler/transport/": {"reconciler/transport/a.h": '#include "reconciler/plugin.h"\n'},
    "is not below reconciler/base/": {"reconciler/base/a.cpp": '#  include "reconciler/model/plan.h"\n'},
    "reconciler/transport/transport.h is not below": {"plugins/ssh/a.cpp":
                                                      '#include "reconciler/transport/transport.h"\n'},
    "plugins/netplan/foreign.h is not below": {"plugins/ssh/b.cpp": '#include "plugins/netplan/foreign.h"\n'},
    "reconciler/engine/gather.h is not below": {"reconciler/engine/diff.cpp":
                                                '#include "reconciler/engine/gather.h"\n'},
    "<libssh/libssh.h> is for": {"reconciler/engine/gather.cpp": "#include <libssh/libssh.h>\n"},
    "<yaml-cpp/yaml.h> is for": {"plugins/netplan/foreign.cpp": "#include <yaml-cpp/yaml.h>\n"},
    "<nlohmann/json.hpp> is for": {"reconciler/model/plan.h": "#include <nlohmann/json.hpp>\n"},
    "any known layer": {"reconciler/new/a.cpp": '#include "reconciler/base/text.h"\n'},
}
GOOD = {
    "reconciler/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "plugins/registry.h"\n',
    "reconciler/verify/a.cpp": '#include "reconciler/engine/node_pool.h"\n#include <nlohmann/json.hpp>\n',
    "reconciler/transport/ssh_auth.cpp": "#include <libssh/libssh.h>\n",
    "plugins/netplan/a.cpp": '#include "plugins/netplan/a.h"\n#include "reconciler/spec/yaml_document.h"\n',
    "tests/a_test.cpp": '#include "plugins/hosts/hosts.h"\n',
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
