"""Nodes with libraries of NCCL and CUDA that need no GPU, and ways to spoil a rank that runs on one."""

import json
import math
import os
import subprocess
import threading
import time

from spark_lab import LAB, PROGRAM, LabTest, cluster, speed

FAKES = os.path.join(os.path.dirname(PROGRAM), "fakes")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
# What the library's strings show a plugin that reads which variables it knows.
KNOWN = ("NCCL version 2.28.9 compiled", "NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_NET_GDR_LEVEL")
CONF = "/etc/fake-gpu.conf"
MANIFEST = cluster("nccl-run.yaml")
LIMIT_S = math.ceil(speed.scaled(3))
HEALTHY = {"FAKE_NCCL_HCAS": "rocep1s0f1,roceP2p1s0f1"}


class Gpus:
    """The libraries on every node of a lab. Their settings: tests/fakes/README.md."""

    def __init__(self, lab, nodes):
        self.lab = lab
        self.nodes = nodes
        strings = b"\0".join(name.encode() for name in KNOWN) + b"\0"
        for node in nodes:
            self.put(node, "libcuda.so.1")
            self.put(node, "libnccl.so.2", strings)
        self.heal()

    def put(self, node, name, more=b""):
        with open(os.path.join(FAKES, name), "rb") as library:
            data = library.read() + more
        name = os.path.basename(name)
        speed.run([LAB, "ssh", "--run", self.lab.run, str(node),
                   f"cat >/tmp/library && sudo install -m 755 /tmp/library {LIBRARIES}/{name} && sudo ldconfig"], 60,
                  input=data, check=True)

    def configure(self, node, **settings):
        lines = "".join(f"{name}={value}\n" for name, value in {**HEALTHY, **settings}.items())
        self.lab.sh(node, f"printf '%s' '{lines}' >{CONF}")

    def env(self, node, **variables):
        """What every root shell on that node has in its environment, as a leftover file would bring it there."""
        lines = "".join(f"{name}={value}\n" for name, value in variables.items())
        self.lab.sh(node, f"printf '%s' '{lines}' >/etc/sudo.env; "
                          "echo 'Defaults env_file=/etc/sudo.env' >/etc/sudoers.d/env")

    def heal(self):
        for node in self.nodes:
            self.configure(node)
            self.lab.sh(node, "rm -f /etc/sudoers.d/env /etc/sudo.env")


class LittleMemory:
    """A node whose kernel says that only so many bytes are available."""

    def __init__(self, lab, node, available):
        self.lab, self.node, self.available = lab, node, available

    def __enter__(self):
        self.lab.sh(self.node, f"sed 's/^MemAvailable:.*/MemAvailable: {self.available >> 10} kB/' /proc/meminfo "
                               ">/run/meminfo && mount --bind /run/meminfo /proc/meminfo")

    def __exit__(self, *_):
        self.lab.sh(self.node, "umount /proc/meminfo")


class Spoiler:
    """Does something to each rank that appears on a node, so many seconds later, until it is stopped."""

    def __init__(self, lab, node, signal, after=1.5, times=100):
        self.lab, self.node, self.signal, self.after, self.times = lab, node, signal, after, times
        self.done = set()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(timeout=speed.scaled(30))

    def _watch(self):
        while not self.over.is_set() and len(self.done) < self.times:
            found = self.lab.lab("sh", str(self.node), "pgrep -f '^/var/lib/spark-reconcile/bin/spark-verify-[0-9a-f]* "
                                 "nccl' || :", check=False).stdout.split()
            for pid in sorted(set(found) - self.done):
                time.sleep(self.after)
                self.lab.lab("sh", str(self.node), f"kill -{self.signal} {pid}", check=False)
                self.done.update(found)
            self.over.wait(0.1)


class NcclLab(LabTest):
    def variant(self, *replacements):
        return self.variant_of(MANIFEST, *replacements)

    def verify(self, manifest=MANIFEST, expect=6, options=()):
        began = time.monotonic()
        done = self.spark("verify", manifest, "--format", "json", "--nccl-limit", str(LIMIT_S), *options,
                          expect=expect)
        report = json.loads(done.stdout)
        report["took"] = time.monotonic() - began
        return report

    def add_interface(self, node, name, address):
        """One that runs and reaches no node."""
        self.lab.sh(node, f"ip link add {name} type veth peer name {name}-end && ip addr add {address} dev {name} && "
                          f"ip link set {name}-end up && ip link set {name} up")

    def assert_nothing_runs(self):
        for node in range(1, self.nodes + 1):
            left = self.lab.sh(node, "pgrep -af 'spark-verify.* nccl' | grep -v pgrep || :; "
                                     "ls /var/lib/spark-reconcile/bin 2>/dev/null || :")
            self.assertEqual(left, "", f"spark-{node}")

    def finding(self, report, code, nodes):
        findings = [finding for finding in report["findings"] if finding["level"] == "nccl"]
        self.assertEqual([(finding["code"], finding["nodes"]) for finding in findings], [(code, nodes)],
                         json.dumps(report["findings"], indent=1))
        self.assert_nothing_runs()
        return findings[0]
