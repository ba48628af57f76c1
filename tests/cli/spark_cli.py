"""The built program in a folder of its own, for the tests in this folder (python3 standard library).

No test here may change the machine: it is only ever read, through a node with the local transport.
"""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "support"))

import children  # noqa: E402
import speed  # noqa: E402

children.die_with_runner()
PROGRAM = os.environ.get("SPARK_RECONCILE", os.path.join(ROOT, "build", "spark-reconcile"))

# spark-1 is this machine. Nothing listens on the loopback port of spark-2.
MANIFEST = """\
api_version: spark-reconcile/v1
cluster: lab
access: {become: none, connect_timeout_s: 5}
nodes:
  - {name: spark-1, address: localhost, access: {transport: local}}
  - {name: spark-2, address: 127.0.0.1, access: {user: nobody, port: 1}}
fabric:
  topology: direct
  subnets: [192.168.177.0/24, 192.168.178.0/24]
"""

# No node of it answers, so that no plan of it can hold a change.
OUT_OF_REACH = MANIFEST.replace(
    "address: localhost, access: {transport: local}", "address: 127.0.0.2, access: {user: nobody, port: 1}")

# One change on this machine, that of the file: the value is there already, and no port of the fabric is needed for it.
with open("/proc/sys/vm/swappiness", encoding="ascii") as value:
    SETTING = MANIFEST.replace("direct\n", "direct\n  arp: ignore\n") + f"sysctl: {{vm.swappiness: {value.read().strip()}}}\n"
SETTING_PLAN = """\
lab · 2 nodes · one cable p1–p1 · mtu 9000
spark-1  localhost
  + file  /etc/sysctl.d/60-spark-reconcile.conf (0644, 3 lines)  cluster.yaml:11
+ created
first apply to spark-1
1 change on 1 node.
Each node is armed to revert the plan before its first change.
"""

REFUSED = """\
spark-2 (127.0.0.1:1): connection refused
  hint: is sshd running there, and is 1 its port?
"""


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("cluster.yaml", MANIFEST)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "SSH_AUTH_SOCK")}
        return {**kept, "HOME": self.folder, "TERM": "xterm", **more}

    def spark(self, *arguments, before=(), stdin=None):
        """Runs the program without a terminal; `before` is what it is started through, `stdin` the text that it reads."""
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        return speed.run([*before, PROGRAM, *arguments], 60, cwd=self.folder, env=self.environment(), **given,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def assert_ends(self, done, code, out=None, err=None):
        """The exit code, and the whole of each stream where it is given."""
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if out is not None:
            self.assertEqual(done.stdout, out)
        if err is not None:
            self.assertEqual(done.stderr, err)
