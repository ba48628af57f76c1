#!/usr/bin/env python3
"""Checks that the files stand on their own: no path of the machine that they were written on, no path out of the
tree, no link to a page or to a section that is not there."""

import pathlib
import re

import tree

# Folders that every Linux has: to stand in one of them says nothing about a machine.
EVERYWHERE = {"/", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/usr/src", "/var", "/var/tmp"}
OUTWARD = re.compile(r"(?<![\w/.}\"'])((?:\.\./)+)([\w-][\w./-]*)")
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#{1,6} +(.*)$")


def machine_paths(root):
    """The folders of this checkout, as a pattern: nothing in the tree may know them."""
    names = {str(folder) for folder in (root, root.parent)} - EVERYWHERE
    return re.compile(r"(?<![\w./$}-])(" + "|".join(re.escape(name) for name in sorted(names, reverse=True)) +
                      r")(?![\w-])") if names else None


def leaves(name, up, rest):
    """Whether ../… leads out of the tree from the file's own folder."""
    return up.count("../") > len(name.parts) - 1 or (rest.split("/")[0] == "..")


def anchors(text):
    """The ids that GitHub gives to the headings of a page."""
    found = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else HEADING.match(line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return found


def check_link(root, name, target, anchor):
    page = root / name.parent / target if target else root / name
    if not page.exists():
        yield f"links to {target}, which is not there"
    elif anchor and page.suffix == ".md" and anchor not in anchors(page.read_text(encoding="utf-8")):
        yield f"links to {target}#{anchor}: that page has no such heading"


def check_line(root, name, line, machine):
    hit = machine and machine.search(line)
    if hit:
        yield f"names a path of this machine: {hit.group(0)}"
    for up, rest in OUTWARD.findall(line):
        if leaves(name, up, rest):
            yield f"names a path outside the tree: {up}{rest}"
    if name.suffix == ".md":
        for target, anchor in LINK.findall(line):
            yield from check_link(root, name, target, anchor)


def check(root):
    found = []
    machine = machine_paths(root)
    for name in tree.files(root):
        lines = tree.text(root, name).splitlines()
        if name.parts[-2:] == ("lint", "texts.py"):  # holds the bad examples
            continue
        for number, line in enumerate(lines, 1):
            found += [f"{name}:{number}: {complaint}" for complaint in check_line(root, name, line, machine)]
    return found


BAD = {
    "a.md:1: names a path of this machine": {"a.md": "see ROOT/notes\n"},
    "names a path outside the tree: ../notes/a": {"b.md": "see ../notes/a\n"},
    "names a path outside the tree: ../../notes": {"docs/c.md": "see ../../notes\n"},
    "links to there.md": {"docs/d.md": "[there](there.md#part)\n"},
    "links to e.md#other-part": {"docs/d.md": "[there](e.md#other-part)\n", "docs/e.md": "# A part\n"},
    "links to #in-a-fence": {"docs/d.md": "[there](#in-a-fence)\n```sh\n# In a fence\n```\n"},
}
GOOD = {
    "README.md": "[docs](docs/a.md) [web](https://example.org) /home/nvidia/.ssh $dirROOT 'workdir=$dir/work'\n",
    "docs/a.md": "[back](../README.md), ../README.md [below](#its-a-part-1)\n## It's `a` [part](b)\n## It's a part\n",
    "docs/b": "",
    "tests/deep/a.yaml": "# $schema=../../schema/cluster.schema.json\n",
}

if __name__ == "__main__":
    here = machine_paths(pathlib.Path("/data/jane/spark"))
    assert here.search("see /data/jane/spark/x") and here.search("(/data/jane)") and here.search("/data/jane/other")
    assert not here.search("$dir/data/jane") and not here.search("/data/janet") and machine_paths(
        pathlib.Path("/opt")) is None
    tree.main(check, BAD, GOOD)
