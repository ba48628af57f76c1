#!/usr/bin/env python3
"""What work on nodes takes, in one run and one table: `plan` of 2, 4 and 8 unchanged nodes against as many parallel `ssh true`, in
turns; `apply` of one drifted value on each of 8 nodes; verification of their links; processes that each of them starts on a node.

Root; brings its own lab up and takes it down. Not a test: the machine decides the seconds, so run it where nothing else
runs. Times are medians. ROUNDS (15) of plan and ssh, a third as many of the others.
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
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
    def __init__(self, lab, folder):
        self.lab = lab
        self.folder = folder
        self.rows = [("what", "seconds", "ssh true", "ratio", "budget")]

    def manifest_of(self, size):
        """The lab's eight nodes, or the first of them."""
        with open(cluster("switch-8.yaml"), encoding="utf-8") as file:
            lines = file.readlines()
        named = [re.match(r"  - \{name: spark-(\d+),", line) for line in lines]
        path = os.path.join(self.folder, f"{size}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line, name in zip(lines, named) if not name or int(name[1]) <= size)
        return path

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
            done = self.lab.spark("apply", self.manifest_of(size), "--yes", "--brief", "--no-verify")
            if done.returncode != 0:
                sys.exit(done.stdout + done.stderr)
            got = self.measure("ssh,plan", size, ROUNDS)
            ssh, plan = got["s"]
            self.rows.append((f"plan, {size} unchanged nodes", f"{plan:.3f}", f"{ssh:.3f}", f"{plan / ssh:.2f}", f"{RATIO:.2f}"))
        few = max(1, ROUNDS // 3)
        for what, name, budget in (("apply", "apply, one drifted value on each of 8 nodes, not verified", APPLY_S),
                                   ("verify", "verify --level link, 8 nodes", VERIFY_S)):
            seconds = self.measure(what, 8, few)["s"][0]
            self.rows.append((name, f"{seconds:.2f}", "", "", f"{budget:.1f} s"))
        for what in ("ssh", "plan", "verify"):
            self.rows.append((f"processes on a node, {what}", str(self.count(what, 8)), "", "", str(PROCESSES) if what == "plan" else ""))
        # Of those of `apply` are the login and `sudo` that make the drift.
        self.rows.append(("processes on a node, drift and apply", str(self.count("apply", 8)), "", "", ""))
        self.rows.append(("controller's peak memory, MiB", f"{got['MiB']:.1f}", "", "", ""))

    def show(self):
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {ROUNDS} rounds\n")
        for i, row in enumerate(self.rows):
            print("| " + " | ".join(row) + " |")
            if i == 0:
                print("|---" * len(row) + "|")


def main():
    lab = Lab(max(SIZES))
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(lab, folder)
            bench.run()
            bench.show()
    finally:
        lab.down()


if __name__ == "__main__":
    main()
