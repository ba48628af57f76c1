"""Nodes that are 20 ms away: what a remote administrator sees. A relay in the lab's network delays all that goes to an sshd."""

import os
import shutil
import subprocess
import sys

RTT_MS = 20
PORT = 2200
SIZES = (2, 8)
ROUND_TRIPS = "round trips one after the other that the difference is"
RATIO = 1.2  # budget: a plan of all nodes by one `ssh true`
TABLE = (f"add table ip delay; add chain ip delay out {{ type nat hook output priority -100; }}; "
         f"add rule ip delay out tcp dport 22 meta mark != 7 redirect to :{PORT}")
HERE = os.path.dirname(os.path.abspath(__file__))


def run(bench, rounds):
    if shutil.which("nft") is None:
        sys.exit("remote: wanted nft (apt install nftables), found none")
    near = {size: plan_of(bench, size, rounds) for size in SIZES}
    apply_near = bench.measure("apply", 8, rounds)["s"][0]
    relay = subprocess.Popen([*enter(bench.lab), sys.executable, os.path.join(HERE, "delay.py"), str(PORT), str(RTT_MS)],
                             stdout=subprocess.PIPE, text=True)
    try:
        if not relay.stdout.readline():
            sys.exit("remote: the relay did not start")
        bench.lab.lab("exec", "--", "nft", TABLE)
        one = bench.measure("ssh", 1, rounds)["s"][0]
        # All nodes share the cores of this machine, as those of a cluster do not: fewer nodes show better what the distance costs.
        for size in SIZES:
            plan = plan_of(bench, size, rounds)
            bench.rows.append((f"plan of {size} unchanged nodes against one ssh true, both {RTT_MS} ms away", plan, one, f"{RATIO:.2f}"))
            bench.rows.append((f"{ROUND_TRIPS}, plan of {size} nodes", round((plan - near[size]) * 1000 / RTT_MS), None, ""))
        far = bench.measure("apply", 8, rounds)["s"][0]
        bench.rows.append((f"apply, one drifted value on each of 8 nodes, {RTT_MS} ms away, against the same at hand", far, apply_near, ""))
        bench.rows.append((f"{ROUND_TRIPS}, apply", round((far - apply_near) * 1000 / RTT_MS), None, ""))
    finally:
        bench.lab.lab("exec", "--", "nft", "delete table ip delay", check=False)
        relay.terminate()
        relay.wait()


def plan_of(bench, size, rounds):
    """Seconds of a plan that finds nothing to change."""
    bench.apply(size)
    return bench.measure("plan", size, rounds)["s"][0]


def enter(lab):
    """What runs a program in the lab's network as its child, so that it can be stopped."""
    return [os.path.join(HERE, "..", "lab", "lab"), "exec", "--run", lab.run, "--"]
