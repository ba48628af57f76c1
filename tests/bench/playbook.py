"""Ansible as the rival: ansible/site.yml makes the end state that our manifest of eight nodes describes. Each has a lab of its own, of
Debian 12: modules of ansible-core 2.14 need Python 3.11 or older on the nodes."""

import json
import os
import shutil
import statistics
import sys

from spark_lab import Lab, cluster

NODES = 8
HERE = os.path.dirname(os.path.abspath(__file__))

# Inside the lab's network. With pipelining and a fork for each node Ansible is as fast as it can be.
INSIDE = r"""
import json, os, pathlib, statistics, subprocess, sys, time
what, rounds, program, manifest, site, folder = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
home = os.environ["HOME"]
inventory = pathlib.Path(folder) / "inventory.ini"
inventory.write_text("[sparks]\n" + "".join(f"spark-{n} id={n} ansible_host=192.168.1.2{n}\n" for n in range(1, 9)))
environment = {**os.environ, "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "8", "ANSIBLE_HOST_KEY_CHECKING": "1", "ANSIBLE_NOCOLOR": "1",
               "ANSIBLE_SSH_ARGS": f"-F {home}/.ssh/config -o ControlMaster=auto -o ControlPersist=60s", "ANSIBLE_LOCALHOST_WARNING": "0",
               "ANSIBLE_REMOTE_USER": "nvidia", "ANSIBLE_INTERPRETER_PYTHON_FALLBACK": "python3", "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3"}
def drift():
    each = [subprocess.Popen(["ssh", "-F", home + "/.ssh/config", f"spark-{n}", "sudo", "sysctl", "-qw", "net.ipv4.tcp_mtu_probing=2"],
                             stdin=subprocess.DEVNULL) for n in range(1, 9)]
    assert all(one.wait() == 0 for one in each)
def timed(command, recap=""):
    start = time.monotonic()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    took = time.monotonic() - start
    if done.returncode != 0 or done.stdout.count(recap) < 8: sys.exit(" ".join(command) + "\n" + done.stdout[-3000:] + done.stderr[-3000:])
    return took
def once(check):
    if what == "ours": return timed([program, "plan", "--detailed-exitcode", manifest] if check else
                                    [program, "apply", "--yes", "--brief", "--no-verify", manifest])
    return timed(["ansible-playbook", "-i", str(inventory), *(["--check"] if check else []), site], " changed=0 " if check else " failed=0 ")
def drifted():
    drift()
    return once(False)
bare = once(False)
once(True)
print(json.dumps({"bare": bare, "check": statistics.median(once(True) for _ in range(rounds)),
                  "drift": statistics.median(drifted() for _ in range(rounds))}))
"""


def measure(what, folder, program, rounds):
    lab = Lab(NODES, "--os", "bookworm")
    try:
        done = lab.lab("exec", "--", "python3", "-c", INSIDE, what, str(rounds), program, cluster("switch-8.yaml"),
                       os.path.join(HERE, "ansible", "site.yml"), folder, check=False, limit_s=1800)
    finally:
        lab.down()
    if done.returncode != 0:
        sys.exit(f"ansible: {done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def run(rows, folder, program, rounds):
    if shutil.which("ansible-playbook") is None:
        sys.exit("ansible: wanted ansible-playbook (apt install ansible-core), found none")
    ours, theirs = (measure(what, folder, program, rounds) for what in ("ours", "theirs"))
    rows.append(("apply of 8 bare nodes, not verified, against ansible-playbook", ours["bare"], theirs["bare"], ""))
    rows.append(("plan of 8 unchanged nodes against ansible-playbook --check", ours["check"], theirs["check"], ""))
    rows.append(("apply, one drifted value on each of 8 nodes, not verified, against ansible-playbook", ours["drift"], theirs["drift"], ""))
