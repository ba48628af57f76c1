"""Nodes on switches: one switch of four, and two leaves of four nodes each below a spine."""

import json
import unittest

from spark_lab import LabTest, cluster


class OnSwitches(LabTest):
    manifest = None

    def converge(self):
        self.spark("apply", self.manifest, "--yes", "--brief", expect=0)
        self.assert_empty_plan(self.manifest)

    def assert_every_pair_talks_on_both_rails(self):
        report = json.loads(self.spark("verify", self.manifest, "--format", "json", expect=0).stdout)
        pings = [check for check in report["checks"] if check["rung"] == "ping"]
        self.assertEqual({check["outcome"] for check in pings}, {"pass"})
        self.assertEqual(len(pings), self.nodes * (self.nodes - 1) * 2)
        self.assertEqual({check["rail"] for check in pings}, {"rail0", "rail1"})


class OneSwitch(OnSwitches):
    nodes = 4
    manifest = cluster("switch-4.yaml")

    def test_every_pair_talks_on_both_rails(self):
        self.converge()
        self.assert_every_pair_talks_on_both_rails()

    def test_a_subnet_that_a_node_routes_elsewhere_is_refused(self):
        self.lab.sh(3, "ip route add 192.168.176.0/22 dev enP7s7")
        self.addCleanup(self.lab.sh, 3, "ip route del 192.168.176.0/22 dev enP7s7")
        plan = self.plan(self.manifest)
        blocked = {change["node"]: change["detail"]
                   for stage in plan["stages"] for change in stage["changes"]
                   if change["change"] == "blocked" and change["kind"] == "file"}
        self.assertEqual(list(blocked), ["spark-3"])
        self.assertIn("fabric subnet 192.168.177.0/24 overlaps 192.168.176.0/22, which this node "
                      "reaches over enP7s7", blocked["spark-3"])


class LeafSpine(OnSwitches):
    nodes = 8
    options = ("--topology", "leaf-spine")
    manifest = cluster("leaf-spine-8.yaml")

    def test_every_pair_talks_on_both_rails_also_over_the_spine(self):
        self.converge()
        self.assert_every_pair_talks_on_both_rails()
        graph = self.spark("graph", self.manifest, expect=0).stdout
        self.assertIn("ring order: " + " ".join(f"spark-{node}" for node in range(1, 9)), graph)
        self.assertIn("switch spine-1: ", graph)


if __name__ == "__main__":
    unittest.main()
