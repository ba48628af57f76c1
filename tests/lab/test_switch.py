"""Nodes on switches: one switch of four, and two leaves of four nodes each below a spine."""

import json
import unittest

from cabling_lab import CablingTest
from spark_lab import cluster

# The switch and port of each node in leaf-spine-8.yaml.
PLUGS = {node: f"leaf-{(node + 3) // 4} qsfp56-dd-{leg}"
         for node, leg in enumerate(["1-1", "1-5", "2-1", "2-5"] * 2, start=1)}

# The answers of a card that a namespace does not have. The counter starts at the driver's and moves with each look.
ETHTOOL = """cat >/usr/local/sbin/ethtool <<'END'
#!/bin/sh
case $1 in
  --show-fec) exit 1 ;;
  -S) echo >>/run/reads-$2; echo "     rx_crc_errors_phy: $(({grows} * $(wc -l </run/reads-$2)))" ;;
  enP2p*) printf '\tLanes: {lanes}\n' ;;
  *) printf '\tLanes: 4\n' ;;
esac
END
chmod 755 /usr/local/sbin/ethtool"""


class OnSwitches(CablingTest):
    manifest = None

    def converge(self):
        self.spark("apply", self.manifest, "--yes", "--brief", expect=0)
        self.assert_empty_plan(self.manifest)

    def assert_every_pair_answers_on_both_rails(self):
        report = json.loads(self.spark("verify", self.manifest, "--format", "json", expect=0).stdout)
        pings = [check for check in report["checks"] if check["level"] == "ping"]
        self.assertEqual({check["outcome"] for check in pings}, {"pass"})
        self.assertEqual(len(pings), self.nodes * (self.nodes - 1) * 2)
        self.assertEqual({check["rail"] for check in pings}, {"rail0", "rail1"})


class OneSwitch(OnSwitches):
    nodes = 4
    manifest = cluster("switch-4.yaml")

    def test_every_pair_answers_on_both_rails(self):
        self.converge()
        self.assert_every_pair_answers_on_both_rails()

    def test_another_node_with_the_address_of_a_peer_is_named(self):
        self.converge()
        port, address = "enp1s0f1np1", "192.168.177.2"
        for node, change, back in ((2, f"ip link set {port} arp off", f"ip link set {port} arp on"),
                                   (3, f"ip addr add {address}/32 dev {port}", f"ip addr del {address}/32 dev {port}")):
            self.lab.sh(node, change)
            self.addCleanup(self.lab.sh, node, back)
        for node in (1, 4):
            self.lab.sh(node, f"ip neigh flush dev {port}")
            self.addCleanup(self.lab.sh, node, f"ip neigh flush dev {port}")
        report = json.loads(self.spark("verify", self.manifest, "--level", "link", "--format", "json", expect=6).stdout)
        mac = self.lab.sh(3, f"cat /sys/class/net/{port}/address").strip()
        found = {(check["from"], check["to"], check["rail"]): (check["outcome"], check["measured"])
                 for check in report["checks"] if check["what"] == "neighbour"}
        self.assertEqual(found, {(node, "spark-2", "rail0"): ("fail", f"{mac} answers, which is {port} of spark-3")
                                 for node in ("spark-1", "spark-4")})
        self.assertEqual({node for finding in report["findings"] if finding["code"] == "neighbour-wrong"
                          for node in finding["nodes"]}, {"spark-1", "spark-4"})

    def test_the_way_back_from_an_apply_to_a_new_node_touches_no_other_node(self):
        """As after a node was installed again. The command that the last line names is run as it is."""
        self.converge()
        self.spark("uninstall", self.manifest, "--node", "spark-4", "--yes", "--brief", expect=0)
        def state(node):
            return self.lab.sh(node, "cat /var/lib/spark-reconcile/ledger.json /etc/netplan/*; ls -l /var/lib/spark-reconcile/generations; "
                                     "ip -br address; sysctl net.ipv4.tcp_mtu_probing; cat /etc/hosts /home/nvidia/.ssh/* 2>&1; true")
        before = [state(node) for node in (1, 2, 3, 4)]
        done = self.spark("apply", self.manifest, "--node", "spark-4", "--yes", "--brief", "--no-verify", expect=2)  # keys of the others are not read
        self.assertNotEqual(state(4), before[3])
        command = done.stdout.splitlines()[-1].partition(" Undo: spark-reconcile ")[2]
        self.assertEqual(command, f"uninstall --node spark-4 {self.manifest}")
        self.spark(*command.split(), "--yes", "--brief", expect=0)
        self.assertEqual([state(node) for node in (1, 2, 3, 4)], before)
        # The others keep their generations, which depend on the tests before this one. The new node gets the next
        # number, and has no generation before in common with the others.
        newest = max(int(name.split(".")[0]) for node in (1, 2, 3)
                     for name in self.lab.sh(node, "ls /var/lib/spark-reconcile/generations").split())
        last = self.spark("apply", self.manifest, "--yes", "--brief", expect=0).stdout.splitlines()[-1]
        self.assertRegex(last, rf", generation {newest + 1}, verified [0-9]+/[0-9]+\.$")

    def test_a_subnet_that_a_node_routes_elsewhere_is_refused(self):
        self.lab.sh(3, "ip route add 192.168.176.0/22 dev enP7s7")
        self.addCleanup(self.lab.sh, 3, "ip route del 192.168.176.0/22 dev enP7s7")
        plan = self.plan(self.manifest)
        blocked = {change["node"]: change["detail"]
                   for stage in plan["stages"] for change in stage["changes"]
                   if change["change"] == "blocked" and "/netplan/" in change["name"]}
        self.assertEqual(list(blocked), ["spark-3"])
        self.assertIn("fabric subnet 192.168.177.0/24 overlaps 192.168.176.0/22, which this node "
                      "reaches over enP7s7", blocked["spark-3"])
        self.ports_up()  # with a carrier spark-3 could answer the others, and does not
        done = self.spark("apply", self.manifest, "--yes", "--brief", expect=2)
        self.assertIn("not verified, because ports of the fabric are blocked:\n", done.stdout)
        for peer in (2, 4):
            self.lab.sh(1, f"ping -c 1 -W 2 -M do -s 8972 192.168.177.{peer}")

    def test_lanes_unlike_those_of_the_twin_and_counters_that_grow_are_warnings(self):
        self.converge()
        for node in (1, 2, 3, 4):
            self.lab.sh(node, ETHTOOL.format(lanes=2 if node == 3 else 4, grows=int(node == 2)))
            self.addCleanup(self.lab.sh, node, "rm /usr/local/sbin/ethtool /run/reads-*")
        report = json.loads(self.spark("verify", self.manifest, "--format", "json", expect=0).stdout)
        measured = {(check["from"], check["what"]): check["measured"] for check in report["checks"]
                if check["what"] in ("lanes", "errors")}
        self.assertEqual(measured, {
            ("spark-1", "lanes"): "4 lanes", ("spark-1", "errors"): "none grew",
            ("spark-2", "lanes"): "4 lanes", ("spark-2", "errors"): "rx_crc_errors_phy grew by 1 to 3",
            ("spark-3", "lanes"): "2 lanes", ("spark-3", "errors"): "none grew",
            ("spark-4", "lanes"): "4 lanes", ("spark-4", "errors"): "none grew"})
        self.assertEqual([(finding["outcome"], finding["code"], finding["nodes"], finding["rails"])
                          for finding in report["findings"]],
                         [("warn", "errors-grew", ["spark-2"], ["rail0", "rail1"]),
                          ("warn", "cable-lanes-differ", ["spark-3"], ["rail1"])])


class LeafSpine(OnSwitches):
    nodes = 8
    options = ("--topology", "leaf-spine")
    manifest = cluster("leaf-spine-8.yaml")

    def assert_confirmed_in_their_ports(self):
        self.assert_plugs(PLUGS)
        self.assertEqual(self.cables(self.manifest, 0), (
            [(f"spark-{node}.p1", "confirmed", f"on one network with 7 others, in {plug} by LLDP")
             for node, plug in PLUGS.items()], []))

    def test_1_every_node_is_found_in_its_port_of_its_leaf(self):
        self.ports_up()
        self.start_lldpd()
        self.assert_confirmed_in_their_ports()

    def test_2_plugs_that_changed_their_leaves_stop_the_first_apply(self):
        self.lab.lab("cross", "4", "enp1s0f1np1", "5", "enp1s0f1np1")
        self.assert_plugs({4: PLUGS[5], 5: PLUGS[4]})
        self.assert_apply_stops(
            self.manifest,
            "spark-4's right cage is in leaf-2 qsfp56-dd-1-1, the manifest has leaf-1 qsfp56-dd-2-5",
            "spark-5's right cage is in leaf-1 qsfp56-dd-2-5, the manifest has leaf-2 qsfp56-dd-1-1")
        self.lab.lab("cross", "4", "enp1s0f1np1", "5", "enp1s0f1np1")

    def test_3_plugs_that_changed_their_ports_of_one_leaf_stop_it_too(self):
        self.lab.lab("cross", "7", "enp1s0f1np1", "8", "enp1s0f1np1")
        self.assert_plugs({**PLUGS, 7: PLUGS[8], 8: PLUGS[7]})
        self.assert_apply_stops(
            self.manifest,
            "spark-7's right cage is in leaf-2 qsfp56-dd-2-5, the manifest has leaf-2 qsfp56-dd-2-1",
            "spark-8's right cage is in leaf-2 qsfp56-dd-2-1, the manifest has leaf-2 qsfp56-dd-2-5")
        self.lab.lab("cross", "7", "enp1s0f1np1", "8", "enp1s0f1np1")

    def test_4_with_the_plugs_back_every_pair_answers_on_both_rails_also_over_the_spine(self):
        self.assert_plugs(PLUGS)
        done = self.spark("apply", self.manifest, "--yes", "--brief", expect=0)
        self.assertNotIn("cabling", done.stderr)
        self.assert_empty_plan(self.manifest)
        self.assert_confirmed_in_their_ports()
        self.assert_every_pair_answers_on_both_rails()
        graph = self.spark("graph", self.manifest, expect=0).stdout
        self.assertIn("ring order: " + " ".join(f"spark-{node}" for node in range(1, 9)), graph)
        self.assertIn("switch spine-1: ", graph)


if __name__ == "__main__":
    unittest.main()
