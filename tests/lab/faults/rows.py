"""The table and what it means: rows, their steps, and the trials that these make."""

import dataclasses
import os
import re
import tomllib

from verbs import VERBS
from pair import NODES, NotRun

OUTCOMES = ("converged", "before", "mixed")
# Steps that have a name, from what the wrapper noted in a clean run: whether a guard was armed, the fabric's MTU, what was made to last.
NAMED_STEPS = ("first", "before-arm", "armed", "active", "trial-end", "intent", "last")


@dataclasses.dataclass
class Row:
    """One line of the table. Lists of verbs may hold {n} and {m}: the node of the step, and the other one; {c}: one of `counts`."""

    name: str
    law: str  # what must hold, for a person
    outcomes: list
    start: str = "ab"  # ab: between the two manifests, to and fro; a: from the first; bare: from nothing
    at: list = ()  # steps: "each", "in-turn" (each, the nodes taking turns), names, or fractions of all; none: the program is not stopped anywhere
    core: int = 0  # how many of those the core set takes, evenly; 0: all; -1: none
    nodes: list = (1,)
    counts: list = ()  # the row runs once with each, instead of at steps; a list in it is a range: first, last, distance
    gate: str = "sync"
    setup: list = ()  # before the program starts
    do: list = ()  # while the program waits in that step
    after: list = ()  # when it goes on
    cleanup: list = ()  # when it has ended and the nodes have decided, before they are compared
    edit: dict = dataclasses.field(default_factory=dict)  # text of the manifest, and what stands there instead
    cut_at: str = ""  # the manifest ends before this text
    options: list = ("--no-verify",)
    exits: list = ()  # the program's exit codes that are right; none: those that go with the outcome
    tries: int = 1  # plain applies until the cluster converges
    within: int = 40  # seconds beyond the deadline until all is decided
    cost: float = 8  # seconds, roughly: orders the work

    def check(self):
        for line in (*self.setup, *self.do, *self.after, *self.cleanup):
            if line.partition(" ")[0] not in VERBS:
                raise SystemExit(f"{self.name}: wanted one of {', '.join(VERBS)}, found '{line}'")
        for outcome in self.outcomes:
            if outcome not in OUTCOMES:
                raise SystemExit(f"{self.name}: wanted outcomes of {', '.join(OUTCOMES)}, found '{outcome}'")
        if self.start not in ("ab", "a", "bare"):
            raise SystemExit(f"{self.name}: wanted start ab, a or bare, found '{self.start}'")
        if self.counts and self.at:
            raise SystemExit(f"{self.name}: wanted at or counts, found both")
        for step in self.at:
            if step not in ("each", "in-turn", *NAMED_STEPS) and not isinstance(step, float):
                raise SystemExit(f"{self.name}: wanted steps 'each', 'in-turn', {', '.join(NAMED_STEPS)} or fractions, found {step!r}")
        return self


def load(folder):
    """The rows, and what manifest b has instead of a."""
    with open(os.path.join(folder, "matrix.toml"), "rb") as source:
        table = tomllib.load(source)
    return [Row(**row).check() for row in table["row"]], table["other"]


def number_of(step, calls):
    """The number of a named step among the calls of one clean run."""
    words = [line.split(" ", 2) for line in calls]
    armed = [number for number, word in enumerate(words, 1) if word[0] == "yes"]
    if not armed:
        raise NotRun("no guard was armed at any call in the clean run")
    active = [number for number in armed if words[number - 1][1] != words[0][1]]
    quiet = [number for number in armed if words[number - 1][1] == words[0][1]]
    intent = [number for number in armed if "/intent" in words[number - 1][-1]]
    # All of this is one request: what lies ready beside its target, the documents, the peers, the intent.
    ending = [number for number in armed
             if re.search(r"/(documents|peers|intent)|/\.spark-reconcile\.[0-9a-f]+-[0-9a-f]+\.\d", words[number - 1][-1])]
    found = {"first": 1, "before-arm": armed[0] - 1, "armed": quiet[-1] if quiet else 0,
             "active": active[0] if active else 0, "intent": intent[0] if intent else 0,
             "trial-end": ending[0] - 1 if ending else armed[-1], "last": len(calls)}[step]
    if found == 0:
        raise NotRun(f"no call of the clean run is the step '{step}'")
    return found


def counted(counts):
    """Each count once: of the numbers and the ranges, in their order."""
    ranges = [range(one[0], one[1] + 1, one[2]) if isinstance(one, list) else [one] for one in counts]
    return list(dict.fromkeys(number for one in ranges for number in one))


def steps(row, calls, core):
    """The row's (node, number), and how many more the whole set has. `calls`: of a clean run, per node. Without a node the
    number is a count."""
    if not row.at and not row.counts:
        return ([], 1) if core and row.core < 0 else ([(None, 0)], 0)
    found = [(None, number) for number in counted(row.counts)]
    for node in row.nodes:
        for step in row.at:
            if step == "each":
                found += [(node, number) for number in range(1, len(calls[node]) + 1)]
            elif step == "in-turn":
                found += [(node, number) for number in range(1, len(calls[node]) + 1)
                          if row.nodes[number % len(row.nodes)] == node]
            elif isinstance(step, float):
                found.append((node, max(1, round(step * len(calls[node])))))
            else:
                found.append((node, number_of(step, calls[node])))
    found = list(dict.fromkeys(found))
    if not core or not row.core or len(found) <= row.core:
        return found, 0
    if row.core < 0:
        return [], len(found)
    kept = [found[index * len(found) // row.core + len(found) // (2 * row.core)] for index in range(row.core)]
    return kept, len(found) - len(kept)


def other(node):
    return next(one for one in NODES if one != node)
