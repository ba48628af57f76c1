#!/usr/bin/env python3
"""Checks that each command block of README.md and docs/*.md is run by a test or says why not, and that the contents list each page;
tests/support/doc_blocks.py describes the comments. Generated pages are left out: they hold no commands."""

import pathlib
import re
import sys

import tree

sys.path.append(str(tree.ROOT / "tests" / "support"))

import doc_blocks  # noqa: E402

SAMPLES = ("cpp", "ini", "json", "mermaid", "text", "yaml")
INDENTED = re.compile(r"^ {4,}\S")
# What a line of commands begins with, where it was taken for a sample.
COMMAND = re.compile(r"^(?:\$ |(?:sudo|spark-reconcile|cmake|ctest|python3|docker|git|ssh) |(?:build|tests)/\S+ ?-?)", re.M)
LIST = re.compile(r"^ *(?:[-*]|\d+\.) ")


def indented(text):
    """Lines of blocks that are marked by their indentation alone, where a fence could say what they are."""
    fenced = in_list = False
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            if line and not line.startswith(" "):
                in_list = bool(LIST.match(line))
            if not before and INDENTED.match(line) and not LIST.match(line):
                depth = len(line) - len(line.lstrip())
                if not in_list or depth >= 6:
                    yield number
        before = line.strip()


def complaint(block):
    """What is wrong with a block's language or comment, or None."""
    verb, _, rest = block.tag.partition(":")
    if block.language == doc_blocks.COMMANDS:
        if not (verb == "not run" and rest.strip() or verb == "run" and rest.strip() in doc_blocks.RUNS):
            return "wanted a comment before the commands: <!-- run: no nodes -->, <!-- run: lab pair --> or <!-- not run: REASON -->"
    elif block.language not in SAMPLES:
        return f"wanted a language after the fence: {doc_blocks.COMMANDS} for commands, or {', '.join(SAMPLES)}"
    elif block.language == "text" and COMMAND.search(block.text):
        return f"wanted {doc_blocks.COMMANDS} as its language: this block has commands"
    elif block.tag and block.tag != "output" and not (verb == "file" and re.fullmatch(r" [\w.-]+", rest)):
        return "wanted no comment before this block, or <!-- file: NAME --> or <!-- output -->"
    return None


def unlisted(root):
    """Pages that a reader of the contents does not find."""
    contents = root / doc_blocks.CONTENTS
    if contents.exists():
        text = contents.read_text(encoding="utf-8")
        yield from (path.name for path in sorted(contents.parent.glob("*.md")) if path != contents and f"]({path.name})" not in text)


def check(root):
    found = [f"docs/{name}:1: wanted a line in {doc_blocks.CONTENTS}" for name in unlisted(root)]
    for name in doc_blocks.pages(root):
        text = tree.text(root, pathlib.PurePosixPath(name))
        found += [f"{name}:{line}: wanted a fence around this block" for line in indented(text)]
        ran = False
        for block in doc_blocks.blocks(text):
            wrong = complaint(block)
            if not wrong and block.tag == "output" and not ran:
                wrong = "wanted commands that are run right before this output"
            if wrong:
                found.append(f"{name}:{block.line}: {wrong}")
            ran = block.tag.startswith("run:")
    return found


def page(text):
    return {"docs/a.md": text}


BAD = {
    "docs/b.md:1: wanted a line in docs/README.md": {"docs/README.md": "[a](a.md)\n", "docs/a.md": "", "docs/b.md": ""},
    "docs/a.md:1: wanted a comment before the commands": page("```sh\nls\n```\n"),
    "docs/a.md:2: wanted a comment before the commands": page("<!-- run: sometimes -->\n```sh\nls\n```\n"),
    "docs/a.md:4: wanted a comment before the commands": page("<!-- not run: -->\n\n\n```sh\nls\n```\n"),
    "docs/a.md:1: wanted a language": page("```\nls\n```\n"),
    "docs/a.md:1: wanted sh as its language": page("```text\nspark-reconcile plan\n```\n"),
    "docs/a.md:3: wanted a fence": page("Run\n\n    ls\n"),
    "README.md:4: wanted a fence": {"README.md": "- Run\n  it:\n\n      ls\n"},
    "docs/a.md:2: wanted commands that are run": page("<!-- output -->\n```text\nls\n```\n"),
    "docs/a.md:2: wanted no comment": page("<!-- file: ../a -->\n```yaml\na: b\n```\n"),
}
GOOD = {
    "README.md": "<!-- run: no nodes -->\n```sh\nls\n```\n\n<!-- output -->\n```text\na\n```\n",
    "docs/a.md": "<!-- not run: needs a Spark -->\n```sh\nls\n```\n<!-- file: b.yaml -->\n```yaml\n    a: b\n```\n"
                 "- a list\n  - with one below\n\n    and a paragraph\n",
    "docs/manifest.md": "Written by a program:\n\n    ls\n",
    "other/b.md": "```\nls\n```\n",
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
