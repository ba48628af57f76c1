#!/usr/bin/env python3
"""What work on nodes takes, in one run and one table: nodes_bench.py [SECTION…], all of them without one.

lab      `plan` of 2, 4 and 8 unchanged nodes against as many parallel `ssh true`, in turns; `apply` of one drifted value on each of
         8 nodes; verification of their links; processes that each of them starts on a node
remote   the same `plan` and `apply` with 20 ms of round-trip time on the way to each sshd (needs nft)
many     `plan` of 16, 32 and 64 nodes: one sshd of this machine at as many addresses
ansible  against a playbook for the same end state: 8 bare nodes, nothing to do, one drifted value (needs ansible-playbook)

Root; brings its own labs up and takes them down. Not a test: the machine decides the seconds, so run it where nothing else
runs. Times are medians. ROUNDS (15) of plan and ssh, a third as many of the others.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
import many  # noqa: E402
import playbook  # noqa: E402
import remote  # noqa: E402
from spark_lab import PROGRAM, Lab, cluster  # noqa: E402

SIZES = (2, 4, 8)
ROUNDS = int(os.environ.get("ROUNDS", "15"))
RATIO, APPLY_S, VERIFY_S, PROCESSES = 0.60, 2.0, 6.0, 25  # budgets

# All is timed inside the lab's network, so that entering it is in no figure.
INSIDE = r"""
import json, os, resource, statistics, subprocess, sys, time
what, program, manifest, nodes, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
config = os.environ["HOME"] + "/.ssh/config"
def ssh(*command):
    each = [subprocess.Popen(["ssh", "-F", config, f"spark-{n}", *command], stdin=subprocess.DEVNULL)
            for n in range(1, nodes + 1)]
    assert all(one.wait() == 0 for one in each)
def run(*arguments):
    done = subprocess.run([program, *arguments, manifest], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0: sys.exit(done.stdout)
def timed(what, *arguments):
    start = time.monotonic(); what(*arguments); return time.monotonic() - start
def plan(): return timed(run, "plan", "--detailed-exitcode")
def apply():
    ssh("sudo", "sysctl", "-qw", "net.ipv4.tcp_mtu_probing=2")
    return timed(run, "apply", "--yes", "--brief", "--no-verify")
def verify(): return timed(run, "verify", "--level", "link")
work = {"ssh": lambda: timed(ssh, "true"), "plan": plan, "apply": apply, "verify": verify}
names = what.split(",")
for name in names: work[name]()
times = [[work[name]() for name in names] for _ in range(rounds)]
print(json.dumps({"s": [statistics.median(column) for column in zip(*times)],
                  "MiB": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}))
"""


class Bench:
    """A lab of eight nodes, and the rows that its sections measured."""

    def __init__(self, lab, folder, rows):
        self.lab = lab
        self.folder = folder
        self.rows = rows

    def manifest_of(self, size):
        """The lab's eight nodes, or the first of them."""
        with open(cluster("switch-8.yaml"), encoding="utf-8") as file:
            lines = file.readlines()
        named = [re.match(r"  - \{name: spark-(\d+),", line) for line in lines]
        path = os.path.join(self.folder, f"{size}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line, name in zip(lines, named) if not name or int(name[1]) <= size)
        return path

    def apply(self, size):
        """Also after an apply to more nodes."""
        done = self.lab.spark("apply", self.manifest_of(size), "--yes", "--brief", "--no-verify", "--allow-node-removal")
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)

    def measure(self, what, size, rounds):
        done = self.lab.lab("exec", "--", "python3", "-c", INSIDE, what, PROGRAM, self.manifest_of(size), str(size), str(rounds),
                            check=False, limit_s=900)
        if done.returncode != 0:
            sys.exit(f"{what} of {size} nodes: {done.stdout}{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])

    def count(self, what, size):
        """Processes on the first node: a namespace numbers them one after the other. The least of five rounds, since the node
        starts some for itself."""
        def last():
            return int(self.lab.sh(1, "echo $$"))

        def follow(rounds):
            before = last()
            if rounds:
                self.measure(what, size, 0)  # one that warms up and no round
            return last() - before
        return min(follow(1) for _ in range(5)) - min(follow(0) for _ in range(5))

    def run(self):
        for size in SIZES:
            self.apply(size)
            got = self.measure("ssh,plan", size, ROUNDS)
            ssh, plan = got["s"]
            self.rows.append((f"plan of {size} unchanged nodes against {size} parallel ssh true", plan, ssh, f"{RATIO:.2f}"))
        few = max(1, ROUNDS // 3)
        for what, name, budget in (("apply", "apply, one drifted value on each of 8 nodes, not verified", APPLY_S),
                                   ("verify", "verify --level link, 8 nodes", VERIFY_S)):
            self.rows.append((name, self.measure(what, 8, few)["s"][0], None, f"{budget:.1f} s"))
        for what in ("ssh", "plan", "verify"):
            self.rows.append((f"processes on a node, {what}", self.count(what, 8), None, PROCESSES if what == "plan" else ""))
        # Of those of `apply` are the login and `sudo` that make the drift.
        self.rows.append(("processes on a node, drift and apply", self.count("apply", 8), None, ""))
        self.rows.append(("controller's peak memory, MiB, plan of 8 nodes", got["MiB"], None, ""))


def format_number(number):
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.3f}" if number < 10 else f"{number:.1f}"


def show(rows):
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {ROUNDS} rounds\n")
    print("| what | ours, s | the other, s | ratio | budget |\n|---|---|---|---|---|")
    for what, ours, other, budget in rows:
        ratio = "" if other is None else f"{ours / other:.2f}"
        print(f"| {what} | {format_number(ours)} | {format_number(other)} | {ratio} | {budget} |")


def main():
    sections = sys.argv[1:] or ["lab", "remote", "many", "ansible"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if {"lab", "remote"} & set(sections):
            lab = Lab(max(SIZES))
            try:
                bench = Bench(lab, folder, rows)
                if "lab" in sections:
                    bench.run()
                if "remote" in sections:
                    remote.run(bench, max(1, ROUNDS // 3))
            finally:
                lab.down()
        if "many" in sections:
            many.run(rows, folder, PROGRAM, max(1, ROUNDS // 3))
        if "ansible" in sections:
            playbook.run(rows, folder, PROGRAM, max(1, ROUNDS // 5))
    show(rows)


if __name__ == "__main__":
    main()
