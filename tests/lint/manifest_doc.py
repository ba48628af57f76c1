#!/usr/bin/env python3
"""Writes docs/manifest.md from schema/cluster.schema.json; with --check, compares instead.
--self-test: the comparison can fail."""

import difflib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "schema" / "cluster.schema.json"
EXAMPLE = ROOT / "manifests" / "pair.yaml"
PAGE = ROOT / "docs" / "manifest.md"

INTRO = """\
# The manifest

<!-- Written by tests/lint/manifest_doc.py from schema/cluster.schema.json: change that, then run it. -->

{description} `spark-reconcile validate cluster.yaml` checks it without touching a node and shows all
problems at once, each with its line.

- Addresses are a pure function of the file: a node's host number in every fabric subnet is its `id`, or
  the number that its name ends in. Reordering nodes renumbers no node; neither does adding or removing some
  on a switch. In a ring the node's own two subnets come and go with it, and then only its neighbours'
  ports whose cable moved get another address ([fabric.md](fabric.md)).
- Keys that no one knows are errors, and so are settings without effect.
- Secrets never live in it: logins use key files or ssh-agent.
- YAML 1.2: `yes` and `no` are text, `0600` is the number 600, and a key may stand only once in a map.
- The first line of each example lets an editor complete and check the file as you type.

`manifests/` holds the examples: {examples}. This is the pair:

```yaml
{example}```

Below, one table per map. A key in bold must be there.
"""


def target(schema):
    """The name of the top-level key that a part refers to; None: it stands for itself."""
    return schema.get("$ref", "").removeprefix("#/properties/") or None


def choices(schema):
    return " or ".join(f"`{choice}`" for choice in schema["enum"])


def kind(schema):
    """What a value may be, in a few words."""
    if target(schema):
        return f"as `{target(schema)}`"
    if "anyOf" in schema:
        return " or ".join(kind(branch) for branch in schema["anyOf"])
    if "enum" in schema:
        return choices(schema)
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if types == ["array"]:
        entry = schema["items"]
        count = ""
        if "minItems" in entry and entry.get("minItems") == entry.get("maxItems"):
            count = f' of {entry["minItems"]}'
        if entry.get("type") == "array":
            return f'list of lists{count}'
        if "enum" in entry:
            return "list of " + choices(entry)
        plurals = {"object": "maps", "string": "texts", "integer": "integers"}
        return "list of " + " or ".join(plurals[branch["type"]] for branch in entry.get("anyOf", [entry]))
    names = {"object": "map", "string": "text", "boolean": "`true` or `false`", "array": "list"}
    words = " or ".join(names.get(name, name) for name in types)
    if "minimum" in schema:
        words += f' {schema["minimum"]} to {schema["maximum"]}'
    return words


def shown(value):
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def cell(text):
    return text.replace("|", "\\|")


def meaning(schema):
    values = schema.get("additionalProperties")
    return schema["description"] + (" " + values["description"] if isinstance(values, dict) else "")


def tables(path, schema):
    """One section per map with known keys, outermost first."""
    if "properties" in schema:
        heading = f"`{path}`" if path else "The whole file"
        yield f"\n## {heading}\n\n{schema['description']}\n"
        yield "\n| Key | Value | Default | Meaning |\n| --- | --- | --- | --- |\n"
        for name, child in schema["properties"].items():
            required = name in schema.get("required", [])
            default = "" if "default" not in child or child["type"] == "object" else shown(child["default"])
            yield (f'| {"**" if required else ""}`{name}`{"**" if required else ""} | {cell(kind(child))} | '
                   f'{default} | {cell(meaning(child))} |\n')
    for name, child in schema.get("properties", {}).items():
        yield from tables(f"{path}.{name}" if path else name, child)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from tables(path + ".NAME", schema["additionalProperties"])
    for branch in schema.get("anyOf", []):
        yield from tables(path, branch)
    if "items" in schema:
        yield from tables(path + "[]", schema["items"])


def page():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    names = [f"`{path.name}`" for path in sorted(EXAMPLE.parent.glob("*.yaml"))]
    intro = INTRO.format(description=schema["description"], examples=", ".join(names), example=EXAMPLE.read_text(encoding="utf-8"))
    return intro + "".join(tables("", schema))


def difference(found, wanted):
    return list(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), "docs/manifest.md",
                                     "what the schema says"))


def main():
    wanted = page()
    if sys.argv[1:] == ["--check"]:
        lines = difference(PAGE.read_text(encoding="utf-8") if PAGE.exists() else "", wanted)
        sys.stdout.writelines(lines)
        if lines:
            sys.exit("docs/manifest.md does not fit the schema: run tests/lint/manifest_doc.py")
    elif sys.argv[1:] == ["--self-test"]:
        if difference(wanted, wanted) or not difference(wanted.replace("`mtu`", "`mut`"), wanted):
            sys.exit("self-test: wanted a difference where a key's name differs, and none without")
    elif not sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    else:
        sys.exit("usage: manifest_doc.py [--check | --self-test]")


if __name__ == "__main__":
    main()
