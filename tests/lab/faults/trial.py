"""One row at one step: does what the row says and compares the nodes with what they may be."""

import os
import re
import subprocess
import tempfile
import time

import node_state
import verbs
from rows import other
from pair import LOCK_S, NODES, Broken, Controller, speed

# Seconds; the program's own waits for a node that does not answer are longer than any deadline of ours.
EXIT_S = 280
# An exit code says which outcome there is; 1, 3, 8 and 9 say that nothing was begun, 2 that something is blocked.
SAYS = {0: ("converged",), 2: ("converged", "before"), 6: ("converged",), 7: ("converged",), 4: ("before",), 130: ("before",),
        1: ("before",), 3: ("before",), 8: ("before",), 9: ("before",), 5: ("mixed",)}
# What the program says of each node when it exits 5.
CLAIM = r"^\s*spark-(\d): (as before|new|mixed|unknown)\b"


class Trial:
    """One run of a row at one step in one lab; `late` is how long after the deadline all was decided, in seconds."""

    def __init__(self, pair, row, node, number, deadline_s, last=True):
        self.last = last  # none of the same row follows here
        self.pair, self.row, self.node, self.number, self.deadline_s = pair, row, node, number, deadline_s
        self.controller = None
        self.exit_code = None
        self.ended = False
        self.began = None
        self.late = None
        self.at_exit = {}
        self.here = None  # the manifest that holds before
        self.management = None  # another than the lab's own

    def run(self):
        pair, row = self.pair, self.row
        here = row.start
        if here == "ab":
            here = pair.at if pair.at in ("a", "b") else "a"
        there = {"bare": "a", "a": "b", "b": "a"}[here]
        self.here = here
        is_known = pair.at == here  # read at the end of the trial before, or of what was learnt
        pair.go(here)
        try:
            self.carry_out(here, there, is_known)
        except Broken as broken:
            raise Broken(f"{broken}\n{self.journals()}") from broken
        finally:
            if self.controller:
                self.controller.end()
            pair.clear()

    def journals(self):
        """What each node's newest apply left in its journal and logged to journald."""
        script = ("cd /var/lib/spark-reconcile/journal 2>/dev/null && for apply in $(ls -t | head -n 2); do "
                  "echo $apply decision $(readlink $apply/decision) state $(cat $apply/state); tail -n 12 $apply/revert.log; done 2>/dev/null; "
                  "journalctl -t spark-reconcile -o short-monotonic --no-hostname -n 12 2>/dev/null; true")
        lines = []
        for node in NODES:
            try:
                lines += [f"spark-{node}: {line}" for line in self.pair.lab.sh(node, script).splitlines()]
            except subprocess.CalledProcessError:
                lines.append(f"spark-{node}: cannot be queried")
        return "\n".join(lines)

    def carry_out(self, here, there, is_known):
        pair, row = self.pair, self.row
        self.manifest = self.edited(pair.manifests[there])
        if not is_known:
            self.expect("before the row began", [(here, pair.known[here])], pair.read())
        pair.at = None  # until it is known again
        self.say(row.setup)
        if self.node:
            pair.gate(self.node, row.gate, self.number)
        self.began = time.monotonic()
        self.controller = Controller(pair.lab.run, ["apply", self.manifest, "--yes", "--brief", *row.options, *pair.program_options],
                                     pair.folder)
        if self.node:
            verbs.reach(self, f"{self.node} {row.gate}")
            self.say(row.do)
            verbs.release(self, "")
        self.say(row.after)
        self.end_controller()
        self.wait_decided()
        pair.clear()
        if self.exit_code == 5:
            self.at_exit = pair.read()
        self.say(row.cleanup)
        outcome = self.judge(here, there)
        self.expect_unlocked()
        if outcome == "converged":
            drift = pair.lab.spark("drift", self.manifest)
            if drift.returncode != (2 if self.exit_code == 2 else 0):
                raise Broken(f"every node is as a clean apply makes it, and drift exits {drift.returncode}\n{drift.stdout}")
        if outcome == "before" and not self.last:  # the next one's apply starts from here
            pair.at = here
            return
        pair.converge(there, row.tries)
        self.expect("after a plain apply", [(there, pair.known[there])], pair.read())
        pair.at = there

    def say(self, lines):
        for line in lines:
            words = {"n": self.node, "m": other(self.node)} if self.node else {"c": self.number}
            verbs.say(self, re.sub(r"\{([nmc])\}", lambda found: str(words[found[1]]), line))

    def edited(self, manifest):
        if not self.row.edit and not self.row.cut_at:
            return manifest
        with open(manifest, encoding="utf-8") as source:
            text = source.read()
        for old, new in self.row.edit.items():
            if old not in text:
                raise Broken(f"the row edits '{old}', which is not in {manifest}")
            text = text.replace(old, new)
        if self.row.cut_at:
            text = text[:text.index(self.row.cut_at)]
        path = os.path.join(tempfile.mkdtemp(dir=self.pair.folder), "cluster.yaml")
        with open(path, "w", encoding="utf-8") as target:
            target.write(text)
        return path

    def end_controller(self):
        if not self.ended:
            self.exit_code = self.controller.exit(EXIT_S)
            self.ended = True
            if self.row.exits and self.exit_code is not None and self.exit_code not in self.row.exits:
                raise Broken(f"the program exits {self.exit_code}, wanted {self.row.exits}\n{self.controller.said()}")

    def wait_decided(self):
        """Until no node has a guard, once what was sent to a node before its controller died has run to its end."""
        if self.exit_code is None:
            time.sleep(0.5)
            speed.eventually(lambda: not self.pair.locked(), 10, 0.1)
        # A program that is still there has waits of its own, and the nodes wait for it; a node that the row starts late waits again.
        since = time.monotonic()
        if self.exit_code is None:
            since = max(since, self.began + self.deadline_s)
        left = max(0, since + speed.scaled(self.row.within) - time.monotonic())
        if not speed.eventually(lambda: not self.pair.guarded(), left / speed.factor(), 0.2):
            if "mixed" in self.row.outcomes and self.exit_code == 5:
                return
            raise Broken(f"not decided {self.deadline_s} s after the fault and {speed.limit(self.row.within)}: a guard is still "
                         f"there on {self.pair.guarded()} (exit {self.exit_code})")
        # Where the row itself waits, the time is the row's.
        if self.late is None and self.exit_code is None and list(self.row.after) in ([], ["decided"]):
            self.late = max(0, time.monotonic() - self.began - self.deadline_s)

    def expect_unlocked(self):
        """A session that was killed or cut off ends with its connection, or else by the node's guard. The next trial needs its lock."""
        if not speed.eventually(lambda: not self.pair.locked(), LOCK_S, 0.2):
            raise Broken(f"the session of an ended program still holds the lock of {self.pair.locked()} after {speed.limit(LOCK_S)}")

    def judge(self, here, there):
        """The outcome, which must be one of the row's and what the exit code says."""
        known = self.pair.known
        allowed = [(name, state) for name, state in (("converged", known[there]), ("before", known[here])) if name in self.row.outcomes]
        if self.exit_code is not None:
            said = SAYS.get(self.exit_code, ())
            if not set(said) & set(self.row.outcomes):
                raise Broken(f"exit {self.exit_code}; wanted the outcome {' or '.join(self.row.outcomes)}\n{self.controller.said()}")
            if said == ("mixed",):
                return self.judge_mixed(known[here], known[there])
            allowed = [(name, state) for name, state in allowed if name in said]
        return self.expect("when all was decided", allowed, self.pair.read(), settle_s=5)

    def judge_mixed(self, before, new):
        said = self.controller.said()
        claims = {int(node): claim for node, claim in re.findall(CLAIM, said, re.MULTILINE)}
        now = self.pair.read()
        if set(claims.values()) == {"unknown"}:
            raise Broken(f"exit 5 says of no node what state it is in\n{said}")
        for node in NODES:
            if node not in claims:
                raise Broken(f"exit 5, and nothing says what state spark-{node} is in\n{said}")
            contradictions = re.findall(rf"^.*spark-{node}\b.*\bmatches the manifest.*$", said, re.MULTILINE)
            if claims[node] == "unknown" and contradictions:
                raise Broken(f"exit 5 says that spark-{node} is 'unknown', and also: {contradictions[0]}")
            # What another hand broke and repaired again may be counted as it was when the program ended.
            real = {"as before" if state == before[node] else "new" if state == new[node] else "mixed"
                    for state in (now[node], self.at_exit[node])}
            if claims[node] != "unknown" and claims[node] not in real:
                wanted = new[node] if claims[node] == "new" else before[node]
                raise Broken("\n".join([f"exit 5 says that spark-{node} is '{claims[node]}', and it is '{' or '.join(real)}'",
                                        *node_state.differences(wanted, now[node])]))
        return "mixed"

    def expect(self, when, allowed, found, settle_s=0):
        """The name of the state in which ALL nodes are."""
        end = time.monotonic() + speed.scaled(settle_s)
        while True:
            for name, state in allowed:
                if found == state:
                    return name
            if time.monotonic() > end:
                break
            time.sleep(0.2)
            found = self.pair.read()
        # Reported against the state that is nearest.
        apart = {name: [line for node in NODES for line in (f"  spark-{node}: {one}" for one in node_state.differences(state[node], found[node]))]
                 for name, state in allowed}
        nearest = min(apart, key=lambda name: len(apart[name]))
        raise Broken("\n".join([f"{when} (exit {self.exit_code}) it is none of {', '.join(apart)}; apart from '{nearest}':", *apart[nearest]]))
