#!/usr/bin/env python3
"""`plan` on eight unchanged nodes against eight parallel `ssh host true`, alternating in one run.

Prints the median of each, their ratio and the controller's peak memory. Root; brings its own lab up
and takes it down. Not a test: the machine decides the seconds, only the ratio means something.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from spark_lab import LAB, PROGRAM, Lab, cluster  # noqa: E402

NODES = 8
ROUNDS = int(os.environ.get("ROUNDS", "15"))

# Both sides are timed inside the lab's network, so that entering it is in neither.
INSIDE = r"""
import os, statistics, subprocess, sys, time
program, manifest, nodes, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
config = os.environ["HOME"] + "/.ssh/config"
def ssh():
    each = [subprocess.Popen(["ssh", "-F", config, f"spark-{n}", "true"], stdin=subprocess.DEVNULL)
            for n in range(1, nodes + 1)]
    assert all(one.wait() == 0 for one in each)
def plan():
    subprocess.run([program, "plan", "--detailed-exitcode", manifest], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
def timed(what):
    start = time.monotonic(); what(); return time.monotonic() - start
ssh(); plan()
times = [(timed(ssh), timed(plan)) for _ in range(rounds)]
print(statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
"""


def peak_memory_mib(lab):
    lab_exec = [LAB, "exec", "--run", lab.run, "--", "/usr/bin/env", "python3", "-c",
                "import resource, subprocess, sys\n"
                "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                PROGRAM, "plan", cluster("switch-8.yaml")]
    return int(subprocess.run(lab_exec, check=True, stdout=subprocess.PIPE).stdout) / 1024


def main():
    lab = Lab(NODES)
    try:
        applied = lab.spark("apply", cluster("switch-8.yaml"), "--yes", "--brief")
        if applied.returncode != 0:
            sys.exit(applied.stdout + applied.stderr)
        done = lab.lab("exec", "--", "python3", "-c", INSIDE, PROGRAM, cluster("switch-8.yaml"),
                       str(NODES), str(ROUNDS), timeout=600)
        ssh, plan = map(float, done.stdout.split())
        print(f"{NODES} nodes, median of {ROUNDS} alternating rounds on {os.cpu_count()} cores")
        print(f"eight parallel ssh host true: {ssh:.3f} s")
        print(f"spark-reconcile plan:         {plan:.3f} s")
        print(f"ratio:                        {plan / ssh:.2f}  (budget 0.60)")
        print(f"controller's peak memory:     {peak_memory_mib(lab):.1f} MiB")
    finally:
        lab.down()


if __name__ == "__main__":
    main()
