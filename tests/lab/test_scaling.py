"""Clusters that grow and shrink by add-node and remove-node: what the commands say, and that no other node's address moves."""

import json
import os
import unittest

from spark_lab import LabTest, cluster, temporary_folder

PAIR = cluster("pair.yaml")
ADDRESSES = "ip -br -4 addr | grep -v '^lo '"
# What an old node must learn about new ones; nothing on it is renumbered or reconfigured.
OF_PEERS = {("file", "/etc/hosts"), ("file", "~nvidia/.ssh/authorized_keys"),
            ("file", "~nvidia/.ssh/known_hosts"), ("file", "~nvidia/.ssh/config")}
CABLES = "cables (p0 is the left cage, p1 the right one, seen from the back):\n"
TO_ADD = "next: spark-reconcile trust {0}, access {0}, plan {0}; then apply {0}\n"
TO_REMOVE = """\
note: {1} keeps what was applied to it, unless `spark-reconcile uninstall {0} --node {1}` ran before: afterwards {0} does not name it
next: spark-reconcile plan {0}; then apply {0} --allow-node-removal
"""


class Scaling(LabTest):
    def addresses(self, node):
        return {port.split("@")[0]: sorted(addresses) for port, _, *addresses in map(str.split, self.lab.sh(node, ADDRESSES).splitlines())}

    def assert_all_pairs_verified(self, manifest, nodes, rails):
        report = json.loads(self.spark("verify", manifest, "--format", "json", expect=0).stdout)
        for level in ("ping", "ssh"):
            # Logins over the management network have no rail.
            pairs = {(check["from"], check["to"], check["rail"]) for check in report["checks"]
                     if check["level"] == level and check["outcome"] == "pass" and "rail" in check}
            self.assertEqual(len(pairs), nodes * (nodes - 1) * rails)

    def converge(self, manifest, *options):
        """The way that add-node names."""
        self.spark("trust", manifest, expect=0)
        self.spark("access", manifest, expect=0)
        self.spark("apply", manifest, "--yes", "--brief", *options, expect=0)  # verifies
        self.assert_empty_plan(manifest)

    def start_with_pair(self):
        """Two nodes with a cable between their right cages; returns their manifest."""
        self.lab.lab("swap", "1")
        for node in (2, 3):
            for port in ("enp1s0f0np0", "enP2p1s0f0np0"):
                self.lab.lab("cut", str(node), port)
        manifest = self.variant_of(PAIR)
        self.converge(manifest)
        return manifest

    def become_ring(self, manifest):
        """Adds spark-3 and its cables; returns what add-node said."""
        said = self.spark("add-node", "spark-3", "192.168.1.23", manifest, expect=0).stdout
        self.lab.lab("swap", "1")
        self.lab.lab("reconnect")
        self.converge(manifest)
        self.assert_all_pairs_verified(manifest, 3, 2)
        return said

    def leave(self, manifest, node):
        """What remove-node says, when nothing is left of us on the node."""
        self.spark("uninstall", manifest, "--node", f"spark-{node}", "--yes", "--brief", expect=0)
        self.assertEqual(self.lab.sh(node, "ls -d /etc/netplan/60-* /var/lib/spark-reconcile 2>/dev/null; true"), "")
        done = self.spark("remove-node", f"spark-{node}", manifest, "--yes", expect=0)
        self.assertEqual(done.stderr, "")
        # No pipeline takes this plan for one that can be applied.
        saved = os.path.join(temporary_folder(), "plan.json")
        refused = self.spark("plan", manifest, "--brief", "--out", saved, expect=1)
        self.assertIn(f"spark-{node} (192.168.1.{20 + node}) was applied to and is no longer in ", refused.stderr)
        self.assertTrue(refused.stderr.endswith(f"saved to {saved}, and apply refuses it: see the errors above\n"), refused.stderr)
        return done.stdout


class Cables(Scaling):
    """Two nodes with a cable between their right cages, and a third one that no cable is in yet."""

    nodes = 3
    options = ("--topology", "ring")

    def test_a_pair_becomes_a_ring_of_three_and_a_pair_again_while_its_cable_keeps_its_addresses(self):
        manifest = self.start_with_pair()
        pair = [self.addresses(node) for node in (1, 2)]

        said = self.become_ring(manifest)
        self.assertTrue(said.endswith(f"""
note: the topology is `ring` now, which needs no switch; with --switch it would be `switch`
note: new subnets: 192.168.179.0/24, 192.168.180.0/24, 192.168.181.0/24, 192.168.182.0/24; nothing else may use them
{CABLES}\
  spark-1 p0 to spark-2 p1: is there; spark-1's plug moves from p1 to p0 with its addresses
  spark-2 p0 to spark-3 p1: new
  spark-3 p0 to spark-1 p1: new
{TO_ADD.format(manifest)}"""), said)
        ring = [self.addresses(node) for node in (1, 2, 3)]
        self.assertEqual(ring[1], {**pair[1], **{port: ring[1][port] for port in ("enp1s0f0np0", "enP2p1s0f0np0")}})
        self.assertEqual([ring[0][port] for port in ("enp1s0f0np0", "enP2p1s0f0np0")],
                         [pair[0][port] for port in ("enp1s0f1np1", "enP2p1s0f1np1")])

        said = self.leave(manifest, 3)
        self.assertTrue(said.endswith(f"""
note: the topology is `direct` now, on the cable that is left
note: free subnets: 192.168.179.0/24, 192.168.180.0/24, 192.168.181.0/24, 192.168.182.0/24
{CABLES}\
  spark-1 p0 to spark-2 p1: stays, with its addresses
  spark-2 p0 to spark-3 p1: unused
  spark-3 p0 to spark-1 p1: unused
{TO_REMOVE.format(manifest, "spark-3")}"""), said)
        self.converge(manifest, "--allow-node-removal")
        self.assert_all_pairs_verified(manifest, 2, 2)
        self.assertEqual(self.addresses(2), pair[1])
        self.assertEqual(sorted(self.addresses(1).values()), sorted(pair[0].values()))

        said = self.spark("add-node", "spark-3", "192.168.1.23", manifest, "--switch", expect=0).stdout
        self.assertTrue(said.endswith(f"""
note: the topology is `switch` now: one cable from every node to it, in place of those between nodes
{CABLES}\
  spark-1 p0 to the switch
  spark-2 p1 to the switch
  spark-3 p1 to the switch
{TO_ADD.format(manifest)}"""), said)


class Switch(Scaling):
    """A pair with a cable, then a ring of three, then a switch."""

    nodes = 3
    options = ("--topology", "ring")

    def grow(self, manifest, old, new):
        """By nodes at the switch."""
        before = [self.addresses(node) for node in range(1, old + 1)]
        self.lab.lab("add", str(new))
        for node in range(old + 1, new + 1):
            self.spark("add-node", f"spark-{node}", f"192.168.1.{20 + node}", manifest, expect=0)
        for node, kind, name in self.changes(self.plan(manifest)):
            if int(node.removeprefix("spark-")) <= old:
                self.assertIn((kind, name), OF_PEERS)
        self.converge(manifest)
        self.assert_all_pairs_verified(manifest, new, 2)
        self.assertEqual([self.addresses(node) for node in range(1, old + 1)], before)

    def test_two_nodes_become_three_then_four_then_eight_and_one_of_them_leaves(self):
        manifest = self.start_with_pair()
        self.become_ring(manifest)

        refused = self.spark("add-node", "spark-4", "192.168.1.24", manifest, expect=1)
        self.assertTrue(refused.stderr.endswith(": a ring has no place for one more node\n  hint: cable all nodes to a switch, and give --switch\n"),
                        refused.stderr)
        said = self.spark("add-node", "spark-4", "192.168.1.24", manifest, "--switch", expect=0).stdout
        self.assertTrue(said.endswith(f"""
note: the topology is `switch` now: one cable from every node to it, in place of those between nodes
note: all nodes are in 192.168.177.0/24, 192.168.178.0/24 now; the other subnets are free, and the addresses in them go
{CABLES}\
  spark-1 p1 to the switch
  spark-2 p1 to the switch
  spark-3 p1 to the switch
  spark-4 p1 to the switch
{TO_ADD.format(manifest)}"""), said)
        self.lab.lab("rewire", "switch")
        self.lab.lab("add", "4")
        self.converge(manifest)
        self.assert_all_pairs_verified(manifest, 4, 2)
        for node in range(1, 5):
            found = self.addresses(node)
            self.assertEqual([found.get(port, []) for port in ("enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1")],
                             [[], [], [f"192.168.177.{node}/24"], [f"192.168.178.{node}/24"]])

        self.grow(manifest, 4, 8)
        before = [self.addresses(node) for node in range(1, 8)]
        said = self.leave(manifest, 8)
        self.assertTrue(said.endswith(TO_REMOVE.format(manifest, "spark-8")), said)
        self.assertNotIn("topology", said.split("note:", 1)[1])
        for node, kind, name in self.changes(self.plan(manifest)):
            self.assertIn((kind, name), OF_PEERS)
        self.converge(manifest, "--allow-node-removal")
        self.assertEqual([self.addresses(node) for node in range(1, 8)], before)


if __name__ == "__main__":
    unittest.main()
