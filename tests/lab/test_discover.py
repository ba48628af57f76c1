"""The manifest of nodes that someone else configured, read from the nodes alone; nothing on them changes."""

import hashlib
import json
import os
import tempfile
import unittest

from spark_lab import LabTest, cluster

FOUND = """\
# Read from {hosts}; nothing was changed.
api_version: spark-reconcile/v1
cluster: homelab                 # choose a name
access: {{user: nvidia}}
nodes:                           # id: the host number that the ports have
"""

# As NVIDIA's guide of July leaves it: a subnet per twin, host numbers of its own, MTU 1500.
GUIDE = """network:
  version: 2
  ethernets:
    enp1s0f1np1:
      addresses: [192.168.100.{0}/24]
    enP2p1s0f1np1:
      addresses: [192.168.101.{0}/24]
"""
ADOPT = """adopt:                           # of others: apply takes them over, uninstall writes them back
  - {{file: /etc/netplan/40-cx7.yaml, nodes: {{spark-1: {0}, spark-2: {1}}}}}  # probably written by NVIDIA's spark_cluster_setup or sparkrun
"""
STATE = """ip -o address | sed 's, tentative,,'; cat /sys/class/net/*/mtu; find /etc /run/systemd/network -xdev -type f -newer /run/before
cat /proc/sys/net/ipv6/conf/*/addr_gen_mode; ls -d /var/lib/spark-reconcile 2>/dev/null; true"""


class Pair(LabTest):
    options = ("--topology", "direct")
    hosts = ("192.168.1.21", "192.168.1.22")

    def discover(self, expect):
        """Its output, after a look that nothing changed."""
        for node in (1, 2):
            self.lab.sh(node, "touch /run/before")
        before = [self.lab.sh(node, STATE) for node in (1, 2)]
        done = self.spark("discover", *self.hosts, expect=expect)
        self.assertEqual([self.lab.sh(node, STATE) for node in (1, 2)], before)
        return done

    def test_bare_nodes_whose_ports_are_off_get_free_subnets(self):
        done = self.discover(expect=2)
        self.assertTrue(done.stdout.startswith(FOUND.format(hosts="192.168.1.21, 192.168.1.22") + """\
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
fabric:
  topology: direct               # no cable was found
  cage: p1
  mtu: 1500                      # as found; 9000 is advised
  subnets:
    - 192.168.177.0/24
    - 192.168.178.0/24
  arp: ignore                    # as found; manage is advised
hosts: {manage: false}           # as found: no rail names
"""), done.stdout)
        self.assertIn("not as found: spark-1's right cage: switched off, so that no cable was found\n", done.stderr)
        self.assertIn("not as found: rail0: spark-1 enp1s0f1np1 has no address; 192.168.177.0/24 is free and takes its "
                      "place\n", done.stderr)

    def test_what_a_guide_configured_is_found_as_it_is(self):
        for node, host in ((1, 10), (2, 11)):
            self.lab.sh(node, f"cat >/etc/netplan/40-cx7.yaml <<'END'\n{GUIDE.format(host)}END\n"
                              "chmod 600 /etc/netplan/40-cx7.yaml; netplan apply")
            self.addCleanup(self.lab.sh, node, "rm /etc/netplan/40-cx7.yaml; netplan apply; "
                                               "for port in enp1s0f1np1 enP2p1s0f1np1; do ip -4 address flush dev $port; done")
        done = self.discover(expect=0)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, FOUND.format(hosts="192.168.1.21, 192.168.1.22") + """\
  - {name: spark-1, address: 192.168.1.21, id: 10}
  - {name: spark-2, address: 192.168.1.22, id: 11}
fabric:
  topology: direct               # as found
  cage: p1
  mtu: 1500                      # as found; 9000 is advised
  subnets:
    - 192.168.100.0/24
    - 192.168.101.0/24
  arp: ignore                    # as found; manage is advised
hosts: {manage: false}           # as found: no rail names
""" + ADOPT.format(*[hashlib.sha256(GUIDE.format(host).encode()).hexdigest()[:12] for host in (10, 11)]))
        document = json.loads(self.spark("discover", *self.hosts, "--format", "json", expect=0).stdout)
        self.assertEqual((document["format"], document["valid"], document["gaps"], document["notes"]),
                         ("spark-reconcile/discovery/1", True, [], []))
        self.assertEqual(document["manifest"], done.stdout)
        self.assertEqual(document["nodes"], [{"name": f"spark-{node}", "address": f"192.168.1.2{node}"} for node in (1, 2)])
        # And nothing of it changes.
        self.assertIn("\nno changes, 2 files taken over on 2 nodes. ", self.spark("plan", self.written(done.stdout), expect=0).stdout)

    def test_a_manifest_is_written_once_and_can_be_applied(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cluster.yaml")
            written = self.spark("discover", *self.hosts, "-o", path, expect=2)
            self.assertEqual(written.stdout, f"{path} is written. Next: spark-reconcile plan {path}\n")
            again = self.spark("discover", *self.hosts, "-o", path, expect=1)
            self.assertEqual(again.stderr, f"{path}: is there already\n  hint: name another file, or '-' to print the manifest\n")
            try:
                self.spark("apply", path, "--yes", expect=0)
                # As it is now, it is found without a gap.
                found = self.discover(expect=0).stdout
            finally:
                self.spark("uninstall", path, "--yes", expect=0)
            with open(path, encoding="utf-8") as file:
                text = file.read().split("# Not as found: ", 1)[0]
            self.assertEqual(found, text.replace("# no cable was found\n", "# as found\n").replace("# choose a name\n", "# as found\n"))

    def test_a_host_that_is_not_reached_writes_nothing(self):
        done = self.spark("discover", "192.168.1.21", "192.168.1.99", expect=3)
        self.assertEqual(done.stdout, "")
        self.assertIn("192.168.1.99", done.stderr)


class Ring(LabTest):
    nodes = 3
    options = ("--topology", "ring")

    def test_a_ring_is_found(self):
        self.spark("apply", cluster("ring-3.yaml"), "--yes", "--brief", expect=0)
        done = self.spark("discover", "--known-hosts", expect=0)
        self.assertEqual(done.stderr, "found in known_hosts:\n" + "".join(f"  spark-{node}  192.168.1.2{node}\n" for node in (1, 2, 3)))
        self.assertIn("  topology: ring                 # as found\n  mtu: 9000\n  subnets:\n"
                      + "".join(f"    - 192.168.{subnet}.0/24\n" for subnet in range(177, 183)), done.stdout)
        # What an apply manages is found as managed, in either cage.
        self.assertNotIn("arp:", done.stdout)
        self.assertNotIn("hosts:", done.stdout)


if __name__ == "__main__":
    unittest.main()
