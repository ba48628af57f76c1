#!/usr/bin/env python3
"""spark-verify's write bandwidth against `ib_write_bw`, alternating in one run between two virtual machines.

Same message size, queue depth and queue pairs; who goes first changes from round to round. Prints the median of each,
their ratio, and the median of the rounds' own ratios. Root; brings its own machines up and takes them down. Not a test: the machine decides the figures, only the ratio means something.
"""

import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
from relay import Relay  # noqa: E402
from spark_lab import LAB, PROGRAM, Lab  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "15"))
SIZE, DEPTH, PAIRS, SECONDS = 65536, 8, 2, 4
HCA, NETDEV = "rocep1s0f1", "enp1s0f1np1"


def ours(lab):
    common = {"size": SIZE, "depth": DEPTH, "queue_pairs": PAIRS, "milliseconds": SECONDS * 1000, "ack_timeout": 17,
              "limit_ms": 60000}
    relay = Relay(lab, {node: {"rails": [{"hca": HCA, "ipv4": f"192.168.177.{node}"}], "send": node == 1, **common}
                        for node in (1, 2)})
    return relay.find(1, "sent")[0]["rails"][0]["gbps"]


def theirs(lab):
    """perftest wants its own server first and a TCP port; depth is per queue pair in both."""
    flags = f"-d {HCA} -x 1 -s {SIZE} -t {DEPTH} -q {PAIRS} -u 17 -D {SECONDS + 2} -f 1 -F"
    server = subprocess.Popen([LAB, "ssh", "--run", lab.run, "2", f"sudo ib_write_bw {flags}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(3)
    try:
        client = lab.lab("ssh", "1", f"sudo ib_write_bw {flags} 192.168.177.2", timeout=120)
    finally:
        server.wait(timeout=60)
    rows = [line.split() for line in client.stdout.splitlines() if line.split()[:1] == [str(SIZE)]]
    return float(rows[-1][3]) * (1 << 20) * 8 / 1e9  # BW average, MiB/s: in Gb/s it prints two decimals only


def prepare(lab):
    for node in (1, 2):
        lab.sh(node, f"ip link set {NETDEV} mtu 9000 up; ip addr add 192.168.177.{node}/24 dev {NETDEV}")
        with open(os.path.join(os.path.dirname(PROGRAM), "spark-verify"), "rb") as program:
            subprocess.run([LAB, "ssh", "--run", lab.run, str(node),
                            "cat >/tmp/sv && sudo install -m 755 /tmp/sv /var/lib/spark-verify"],
                           input=program.read(), check=True)
    time.sleep(2)


def measure(lab, ours_first):
    if ours_first:
        return ours(lab), theirs(lab)
    other = theirs(lab)
    return ours(lab), other


def main():
    lab = Lab(2, "--vm", "--topology", "direct")
    try:
        prepare(lab)
        rounds = [measure(lab, number % 2 == 0) for number in range(ROUNDS)]
    finally:
        lab.down()
    own = statistics.median(one for one, _ in rounds)
    other = statistics.median(one for _, one in rounds)
    print(json.dumps({"rounds": rounds}))
    each = statistics.median(one / another for one, another in rounds)
    print(f"spark-verify {own:.3f} Gb/s, ib_write_bw {other:.3f} Gb/s, ratio {own / other:.3f}, of the rounds {each:.3f}")


if __name__ == "__main__":
    main()
