"""A Spark as its own controller: the program lies on spark-1 as the package installs it, and runs there as nvidia. spark-1 is its own
node with `transport: local`, and spark-2 is reached by ssh."""

import json
import os
import re
import shlex
import subprocess
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import LAB, PROGRAM, ROOT, LabTest, cluster, speed  # noqa: E402

FOLDER = "/home/nvidia/cluster"
MANIFEST = f"{FOLDER}/cluster.yaml"
UNIT = "spark-reconcile-drift.service"
OURS = "find /etc /run /var/lib /home/nvidia/.ssh -xdev -path '*spark-reconcile*' 2>/dev/null; true"
# The program, its libraries, spark-verify and the unit are no trace of an apply.
INSTALLED = ("/etc/spark-reconcile", "/run/systemd/")


def own_manifest():
    with open(cluster("pair.yaml"), encoding="utf-8") as file:
        text = file.read()
    return text.replace("address: 192.168.1.21}", "address: 192.168.1.21, access: {transport: local}}")


class OwnController(LabTest):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        home = f"/run/spark-reconcile-lab/{cls.lab.run}/home/.ssh"
        cls.install_program()
        cls.put(os.path.join(ROOT, "packaging", "systemd", UNIT), f"/usr/lib/systemd/system/{UNIT}")
        # The unit runs as root, with root's key.
        for user, folder in (("nvidia", "/home/nvidia"), ("root", "/root")):
            cls.lab.sh(1, f"install -d -m 700 -o {user} -g {user} {folder}/.ssh")
            for name in ("id_ed25519", "known_hosts"):
                cls.put(os.path.join(home, name), f"{folder}/.ssh/{name}", f"-m 600 -o {user} -g {user}")
        cls.lab.sh(1, f"install -d -o nvidia -g nvidia {FOLDER}; install -d /etc/spark-reconcile; systemctl daemon-reload")
        for path in (MANIFEST, "/etc/spark-reconcile/cluster.yaml"):
            cls.put_text(own_manifest(), path)

    @classmethod
    def put_text(cls, data, path, options="-m 644"):
        data = data if isinstance(data, bytes) else data.encode()
        speed.run([LAB, "ssh", "--run", cls.lab.run, "1", f"cat >/tmp/put && sudo install -D {options} /tmp/put {path} && rm /tmp/put"],
                  120, input=data, check=True)

    @classmethod
    def put(cls, source, path, options="-m 644"):
        with open(source, "rb") as file:
            cls.put_text(file.read(), path, options)

    @classmethod
    def install_program(cls):
        folder = os.path.dirname(PROGRAM)
        cls.put(PROGRAM, "/usr/bin/spark-reconcile", "-m 755")
        cls.put(os.path.join(folder, "spark-verify"), "/usr/libexec/spark-reconcile/spark-verify", "-m 755")
        # Of what it loads, only what the node has not: its own libc stays.
        known = cls.lab.sh(1, "/sbin/ldconfig -p")
        loaded = speed.run(["ldd", PROGRAM], 60, check=True, text=True, stdout=subprocess.PIPE).stdout
        for name, path in re.findall(r"^\s*(\S+) => (\S+)", loaded, re.MULTILINE):
            if f"\t{name} " not in known:
                cls.put(path, f"/usr/local/lib/{name}")
        cls.lab.sh(1, "/sbin/ldconfig")

    def spark(self, *arguments, expect):
        """Runs the program on spark-1, as nvidia after a login."""
        command = f"cd {FOLDER} && spark-reconcile {' '.join(map(shlex.quote, arguments))}"
        done = self.lab.lab("sh", "1", f"runuser -l nvidia -c {shlex.quote(command)}", check=False, limit_s=600)
        if done.returncode != expect:
            self.assertEqual(done.returncode, expect, "\n".join([*arguments, done.stdout, done.stderr, *self.describe_nodes()]))
        return done

    def traces(self, node):
        return [line for line in self.lab.sh(node, OURS).splitlines() if not line.startswith(INSTALLED)]

    def test_1_a_plan_reads_itself_without_ssh(self):
        plan = self.plan(MANIFEST)
        self.assertEqual(len(self.changes(plan, "spark-1")), len(self.changes(plan, "spark-2")))
        self.assertIn(("spark-1", "link", "enp1s0f1np1"), self.changes(plan))
        self.assertIn("spark-1  192.168.1.21\n", self.spark("plan", MANIFEST, "--brief", expect=0).stdout)
        self.assertEqual(self.traces(1), [])

    def test_2_an_apply_converges_both(self):
        self.spark("apply", MANIFEST, "--yes", expect=0)
        self.assert_empty_plan(MANIFEST)
        for node in (1, 2):
            self.assertIn("mtu 9000", self.lab.sh(node, "ip link show enp1s0f1np1"))
        history = json.loads(self.spark("history", MANIFEST, "--format", "json", expect=0).stdout)
        self.assertEqual([len(node["generations"]) for node in history["nodes"]], [1, 1])

    def test_3_verify_passes(self):
        report = json.loads(self.spark("verify", MANIFEST, "--format", "json", expect=0).stdout)
        self.assertEqual(report["findings"], [])
        self.assertEqual({check["from"] for check in report["checks"] if check["level"] == "ping"}, {"spark-1", "spark-2"})

    def test_4_it_reverts_itself_when_the_controller_is_gone(self):
        self.assertIn("spark-1", self.spark("drill", MANIFEST, "--node", "spark-1", expect=0).stdout)
        self.assert_empty_plan(MANIFEST)

    def test_5_the_unit_of_the_package_compares_and_fails_on_drift(self):
        self.lab.sh(1, f"systemctl start {UNIT}")
        self.lab.sh(2, "ip link set enp1s0f1np1 mtu 1500")
        self.assertNotEqual(self.lab.lab("sh", "1", f"systemctl start {UNIT}", check=False).returncode, 0)
        self.assertEqual(self.lab.sh(1, f"systemctl show -P ExecMainStatus {UNIT}"), "2\n")
        self.spark("apply", MANIFEST, "--yes", "--no-verify", expect=0)
        self.lab.sh(1, f"systemctl start {UNIT}")

    def test_6_an_uninstall_leaves_nothing_on_either(self):
        self.spark("uninstall", MANIFEST, "--yes", expect=0)
        for node in (1, 2):
            self.assertEqual(self.traces(node), [])
        # The way in is as before, so that it can begin again.
        plan = self.plan(MANIFEST)
        self.assertEqual({change[0] for change in self.changes(plan)}, {"spark-1", "spark-2"})

    def test_7_a_node_is_reached_by_its_bare_name_before_and_after_the_mesh_has_an_entry_for_it(self):
        # The name is known as by a router's DNS. The mesh's Host entry has an address that is in no known_hosts, and an alias.
        self.lab.sh(1, "echo 192.168.1.22 spark-2 >>/etc/hosts; sed -i 's/^192\\.168\\.1\\.22,//' /home/nvidia/.ssh/known_hosts")
        self.put_text(own_manifest().replace("address: 192.168.1.22", "address: spark-2"), MANIFEST)
        self.spark("apply", MANIFEST, "--yes", expect=0)
        self.assertIn("HostKeyAlias spark-2\n", self.lab.sh(1, "cat /home/nvidia/.ssh/config"))
        self.assert_empty_plan(MANIFEST)


if __name__ == "__main__":
    unittest.main()
