#!/usr/bin/env python3
"""Records what a version of the program leaves on nodes, for test_upgrade.py. As root:

    SPARK_RECONCILE=PROGRAM tests/lab/upgrade/record.py

writes states/VERSION.json beside this file. To be run once for each version, with the program as it is released. A pair of
nodes of the lab gets two applies, and then a third one that loses its controller, once before a node is ready to commit and
once after. Keys of the nodes and of the login are recorded too: they belong to nodes that exist for this recording only."""

import datetime
import hashlib
import json
import os
import signal
import subprocess
import sys

from node_files import HERE, HOST_KEYS, STATES, TREES, TRIAL_TREES, Contents, find_changes, read_trees
from spark_lab import LAB, PROGRAM, Lab, cluster, speed, temporary_folder

ADOPTED = "/etc/netplan/50-cables.yaml"
# What stands on the nodes before the first apply: a line of a person in a file that we share, and another owner of the ports.
BEFORE = f"""printf '10.1.2.3 nas # mine' >>/etc/hosts
cat >{ADOPTED} <<'TEXT'
network:
  version: 2
  renderer: networkd
  ethernets:
    enp1s0f1np1:
      addresses: [192.168.177.NODE/24]
      mtu: 1500
      link-local: []
    enP2p1s0f1np1:
      addresses: [192.168.178.NODE/24]
      mtu: 1500
      link-local: []
TEXT
chmod 0600 {ADOPTED}
netplan apply
"""
# The first one lacks what the second one brings, and has what it drops.
CHANGES = {
    "first": {"memlock: 4096\n": "memlock: 2048\n", "spark-02-mesh": "spark-two",
              "  net.ipv4.tcp_mtu_probing: 1\n": "  net.ipv4.tcp_mtu_probing: 1\n  net.ipv4.tcp_no_metrics_save: 1\n"},
    "second": {},
    "third": {"mtu: 9000": "mtu: 1500", "net.ipv4.tcp_mtu_probing: 1": "net.ipv4.tcp_mtu_probing: 2",
              "Says that the fabric": "Says once more that the fabric"},
}
# `sync` of such a path waits, and then fails: no node is ready to commit yet; every node is, and its controller does not know.
HOLDS = {"trial": "*/documents/*", "intent": "*/intent*"}
HELD_SYNC = """cat >/usr/local/sbin/sync <<'TEXT'
#!/bin/sh
case "$*" in PATTERN) touch /var/tmp/held; while [ -e /var/tmp/held ]; do sleep 0.1; done; exit 1 ;; esac
exec /usr/bin/sync "$@"
TEXT
chmod +x /usr/local/sbin/sync; rm -f /var/tmp/held"""
# Long enough to be recorded within it, short enough to be waited for in a test.
REVERT_AFTER_S = 30


class Recorder:
    def __init__(self):
        self.lab = Lab(2, "--topology", "direct")
        self.contents = Contents()
        self.folder = temporary_folder()
        self.committed = {}
        self.states = {}
        with open(cluster("pair.yaml"), encoding="utf-8") as file:
            self.pair = file.read().split("\n", 1)[1]  # without the line about the schema

    def apply_command(self, name):
        # Of a host whose name says nothing about this machine, with a manifest in its folder.
        start = 'hostname controller && cd "$1" && shift && exec "$@"'
        return [LAB, "exec", "--run", self.lab.run, "--", "unshare", "--uts", "sh", "-c", start, "sh", self.folder, PROGRAM,
                "apply", f"{name}.yaml", "--yes", "--brief", "--no-verify", "--revert-after", str(REVERT_AFTER_S)]

    def apply(self, name):
        speed.run(self.apply_command(name), 300, check=True, stdin=subprocess.DEVNULL)

    def write_manifests(self):
        digests = []
        for node in (1, 2):
            text = self.lab.sh(node, f"cat {ADOPTED}")
            digests.append(f"spark-{node}: '{hashlib.sha256(text.encode()).hexdigest()[:12]}'")
        adopt = f"adopt: [{{file: {ADOPTED}, nodes: {{{', '.join(digests)}}}}}]\n"
        manifests = {}
        for name, changes in CHANGES.items():
            text = self.pair
            for old, new in changes.items():
                assert old in text, old
                text = text.replace(old, new)
            manifests[name] = text.replace("verify:", adopt + "verify:")
            with open(os.path.join(self.folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
                file.write(manifests[name])
        return manifests

    def read(self, *trees):
        return {f"spark-{node}": read_trees(self.lab, node, trees, self.contents) for node in (1, 2)}

    def record(self, name, before, *trees):
        """What differs from `before`, and returns all."""
        now = self.read(*trees)
        self.states[name] = {node: find_changes(before[node], files) for node, files in now.items()}
        return now

    def is_held(self, node):
        return self.lab.sh(node, "ls /var/tmp | grep -cx held || true").strip() == "1"

    def is_ended(self, node):
        undecided = "grep -Lx -e finished -e reverted /var/lib/spark-reconcile/journal/*/state; true"
        return self.lab.sh(node, undecided) == ""

    def record_unfinished(self, name):
        for node in (1, 2):
            self.lab.sh(node, HELD_SYNC.replace("PATTERN", HOLDS[name]))
        run = speed.start(self.apply_command("third"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          start_new_session=True)
        try:
            speed.wait_until(lambda: all(self.is_held(node) for node in (1, 2)), 120, "both nodes held up", 0.1)
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        self.record(name, self.committed, *TREES, *TRIAL_TREES)
        for node in (1, 2):
            self.lab.sh(node, "rm /usr/local/sbin/sync /var/tmp/held")
        speed.wait_until(lambda: all(self.is_ended(node) for node in (1, 2)), 180, "an end without a controller", 1)

    def record_all(self):
        for node in (1, 2):
            self.lab.sh(node, BEFORE.replace("NODE", str(node)))
        speed.wait_until(lambda: all("192.168.178" in self.lab.sh(node, "ip -br address") for node in (1, 2)), 20, "addresses")
        manifests = self.write_manifests()
        bare = self.read(*TREES, *TRIAL_TREES)
        self.apply("first")
        self.apply("second")
        self.committed = self.record("committed", bare, *TREES, *TRIAL_TREES)
        self.record_unfinished("trial")
        self.record_unfinished("intent")
        host_keys = {node: {path: files[path] for path in HOST_KEYS} for node, files in bare.items()}
        return {"before": BEFORE, "manifests": manifests, "host_keys": host_keys, "login": self.read_login(),
                "states": self.states, "contents": self.pack_contents(host_keys)}

    def read_login(self):
        """The controller's ~/.ssh that the nodes know."""
        found = {}
        for name in ("id_ed25519", "id_ed25519.pub", "known_hosts"):
            shown = speed.run([LAB, "exec", "--run", self.lab.run, "--", "sh", "-c", f'cat "$HOME/.ssh/{name}"'], 20, check=True,
                              stdout=subprocess.PIPE).stdout
            found[name] = self.contents.add(shown)
        return found

    def pack_contents(self, host_keys):
        files = [what for nodes in (host_keys, *self.states.values()) for paths in nodes.values() for what in paths.values()]
        return self.contents.pack({*(what.split()[-1] for what in files if what.startswith("file")), *self.read_login().values()})


def main():
    if os.geteuid() != 0:
        sys.exit(f"record: wanted root, found uid {os.geteuid()}")
    version = json.loads(subprocess.run([PROGRAM, "version", "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    recorder = Recorder()
    try:
        recorded = recorder.record_all()
    finally:
        recorder.lab.down()
    about = {"version": version["program"], "commit": version["commit"], "commit_date": version["date"],
             "recorded": datetime.date.today().isoformat(), "revert_after_s": REVERT_AFTER_S}
    os.makedirs(STATES, exist_ok=True)
    path = os.path.join(STATES, f"{version['program']}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"about": about, **recorded}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    print(f"{path}: {os.path.getsize(path) // 1000} kB")


if __name__ == "__main__":
    main()
