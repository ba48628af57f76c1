"""The fenced blocks of README.md and docs/*.md, with the comment before each that says how it is run.

    <!-- run: no nodes -->      commands that need no node: tests/cli/test_docs.py
    <!-- run: lab pair -->      commands on the lab's two nodes: tests/lab/docs/test_docs.py
    <!-- not run: REASON -->    commands that no test runs
    <!-- file: NAME -->         the block is a file for the commands after it
    <!-- output -->             the commands right before print these lines, in this order; `…` stands for any lines

A command ends with 0, unless its line ends in a comment such as `# exit 2` or `# exit 0 or 2: something differs`."""

import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTENTS = "docs/README.md"
# Programs write these pages; they hold no commands.
GENERATED = ("docs/diagnosis.md", "docs/known-failures.md", "docs/manifest.md")
COMMANDS = "sh"
RUNS = ("no nodes", "lab pair")
FENCE = re.compile(r"^( *)```(\S*)\s*$")
COMMENT = re.compile(r"^ *<!-- (.*) -->$")
EXIT = re.compile(r"# exit (\d+(?: or \d+)*)\b")


@dataclasses.dataclass
class Block:
    """One fenced block; `line` is that of its fence."""

    line: int
    language: str
    tag: str
    text: str

    def commands(self):
        """(line, command, exit codes that are right), with continued lines joined."""
        found = []
        joined, first = "", 0
        for number, line in enumerate(self.text.splitlines(), self.line + 1):
            first = first if joined else number
            joined += line
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            if joined.strip() and not joined.lstrip().startswith("#"):
                codes = EXIT.search(joined)
                found.append((first, joined.strip(), [int(code) for code in codes.group(1).split(" or ")] if codes else [0]))
            joined = ""
        return found


def blocks(text):
    """All fenced blocks of a page, in their order."""
    found = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != "```":
                end += 1
            comment = COMMENT.match(lines[at - 1]) if at else None
            indent = len(fence.group(1))
            content = "".join(line[indent:] + "\n" for line in lines[at + 1:end])
            found.append(Block(at + 1, fence.group(2), comment.group(1) if comment else "", content))
            at = end
        at += 1
    return found


def pages(root=ROOT):
    """Pages that people wrote, in reading order: as the contents list them, the README after the first, the rest at the end."""
    contents = root / CONTENTS
    listed = re.findall(r"\]\(([\w-]+\.md)\)", contents.read_text(encoding="utf-8")) if contents.exists() else []
    named = [f"docs/{name}" for name in dict.fromkeys(listed)]
    every = [str(path.relative_to(root)) for path in sorted((root / "docs").glob("*.md"))]
    ordered = [*named[:1], "README.md", *named[1:], *every]
    return [name for name in dict.fromkeys(ordered) if name not in GENERATED and (root / name).exists()]


def script(block, after_each=""):
    """The block as one bash script. It ends with 99, and the reason on stderr, at the first command with another exit code.
    `after_each` runs before the first command too, for the files that were written."""
    lines = [after_each]
    for line, command, codes in block.commands():
        wanted = " or ".join(map(str, codes))
        lines += [
            command, "code=$?", f"printf '%s\\n' {shlex.quote(f'line {line} ended with')}\" $code\" >&2",
            "case $code in " + "|".join(map(str, codes)) + ") ;; *) " +
            f"printf '%s\\n' {shlex.quote(f'line {line}: wanted exit {wanted}: {command}')} >&2; exit 99 ;; esac", after_each
        ]
    return "\n".join(lines) + "\n"


def missing_line(block, printed):
    """The first line of an `output` block that what was printed does not have at its place, or None."""
    rest = printed.splitlines()
    for wanted in filter(None, map(str.strip, block.text.splitlines())):
        if wanted == "…":
            continue
        places = [at for at, line in enumerate(rest) if wanted in line]
        if not places:
            return wanted
        rest = rest[places[0] + 1:]
    return None


class Page:
    """Runs the blocks of one page in a folder. `run(script)` returns a finished process with its two streams as text."""

    def __init__(self, name, folder, kind, run, after_each="", root=ROOT):
        self.name, self.folder, self.kind, self.run, self.after_each = name, folder, kind, run, after_each
        self.blocks = blocks((root / name).read_text(encoding="utf-8"))

    def has_commands(self):
        return any(block.tag == f"run: {self.kind}" for block in self.blocks)

    def failures(self):
        """One text for the first block that does not hold; later ones may depend on it."""
        printed = None
        for block in self.blocks:
            if block.tag.startswith("file: "):
                (self.folder / block.tag.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
            elif block.tag == f"run: {self.kind}":
                done = self.run(script(block, self.after_each))
                if done.returncode != 0:
                    return [f"{self.name}:{block.line}: ended with {done.returncode}\n{done.stderr}\n{done.stdout}"]
                printed = done.stdout + done.stderr
            elif block.tag == "output" and printed is not None:
                lost = missing_line(block, printed)
                if lost:
                    return [f"{self.name}:{block.line}: the commands before print no line {lost!r}, but:\n{printed}"]
            if block.tag != f"run: {self.kind}":
                printed = None
        return []
