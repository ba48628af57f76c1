#!/usr/bin/env python3
"""Checks that the pages that people wrote have sentences of fewer than 30 words. Tables, blocks and the glossary are left out; what stands
in code quotes or is a link's target counts as one word."""

import pathlib
import re
import sys

import tree

sys.path.append(str(tree.ROOT / "tests" / "support"))

import doc_blocks  # noqa: E402

MOST = 29
LEFT_OUT = ("docs/glossary.md",)
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) ")
END = re.compile(r"(?<=[.!?:;])[*)]*\s+")


def paragraphs(text):
    """(line, text) of each paragraph and each item of a list."""
    start, words, fenced = 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        ends = fence or fenced or not line.strip() or line.lstrip().startswith(("|", "#", "<!--"))
        if words and (ends or ITEM.match(line)):
            yield start, " ".join(words)
            words = []
        if not ends:
            start = start if words else number
            words.append(ITEM.sub("", line).strip())


def sentences(paragraph):
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph))
    return END.split(plain)


def check(root):
    found = []
    for name in doc_blocks.pages(root):
        if name in LEFT_OUT:
            continue
        for line, paragraph in paragraphs(tree.text(root, pathlib.PurePosixPath(name))):
            for sentence in sentences(paragraph):
                count = len(re.findall(r"\S*\w\S*", sentence))
                if count > MOST:
                    found.append(f"{name}:{line}: wanted at most {MOST} words, found {count}: {sentence[:60]}…")
    return found


BAD = {
    "docs/a.md:3: wanted at most 29 words, found 30": {"docs/a.md": "# A\n\n" + "word " * 15 + "\n" + "word " * 15 + "\n"},
    "README.md:2: wanted at most 29 words, found 31": {"README.md": "- one\n- " + "word " * 31 + "\n"},
}
GOOD = {
    "README.md": "word " * 20 + "`code of many words` [a](b c). " + "word " * 20 + "\n\n| " + "word " * 40 + "|\n",
    "docs/a.md": "```text\n" + "word " * 40 + "\n```\n- " + "word " * 20 + "\n- " + "word " * 20 + "\n",
    "docs/manifest.md": "word " * 40 + "\n",
}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
