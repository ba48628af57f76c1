"""A node whose ports have other names than its hardware profile, as after its card was put into another slot. They are veths, so that
sshd and what it starts are shown a folder for /sys/class/net in which they are functions of a ConnectX; the rest of the node sees
what is there."""

import json
import os
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nodes.shown_interfaces import COPY, HIDE, TO_SSHD  # noqa: E402
from spark_lab import LabTest, cluster  # noqa: E402

PAIR = cluster("pair.yaml")
# The former name, the new one, and the PCI function.
PORTS = (("enp1s0f1np1", "enp3s0f1np1", "0000:03:00.1"), ("enP2p1s0f1np1", "enP4p3s0f1np1", "0004:03:00.1"))
RENAME = "ip link set {0} down; ip address flush dev {0}; ip link set {0} name {1}; ip link set {1} up\n"
SHOW = COPY + """port() {
  open_up $1; mkdir -p /opt/pci/mlx5_core /opt/pci/$2
  rm /opt/net/$1/phys_port_name /opt/net/$1/speed; echo p1 >/opt/net/$1/phys_port_name; echo 200000 >/opt/net/$1/speed
  ln -s /opt/pci/$2 /opt/net/$1/device; ln -s /opt/pci/mlx5_core /opt/pci/$2/driver
}
"""
# What of ours names the former ports, and the others.
LEFT = "grep -rlE 'enp1s0f1np1|enP2p1s0f1np1' /etc /run/systemd/network /run/netplan; true"
LEFT_OF_OTHERS = LEFT.replace("enp1s0f1np1|enP2p1s0f1np1", "enp3s0f1np1|enP4p3s0f1np1")


class OtherNames(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    def show_ports(self, more=()):
        functions = [(new, pci) for _, new, pci in PORTS] + list(more)
        self.lab.sh(2, SHOW + "".join(f"port {name} {pci}\n" for name, pci in functions) + TO_SSHD)

    def test_1_the_ports_have_the_names_of_the_profile(self):
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assertNotEqual(self.lab.sh(2, LEFT).split(), [])

    def test_2_ports_of_other_names_are_found_and_nothing_keeps_the_former_ones(self):
        self.lab.sh(2, "".join(RENAME.format(old, new) for old, new, _ in PORTS))
        self.show_ports()
        plan = self.plan(PAIR)
        self.assertEqual([one["message"] for one in plan["diagnostics"] if one["code"] == "fabric-ports-elsewhere"],
                         ["; ".join(f"{old} is {new} here (driver mlx5_core, port p1)" for old, new, _ in PORTS)])
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual([one["nodes"] for one in plan["diagnostics"] if one["code"] == "fabric-ports-elsewhere"], [["spark-2"]])
        self.assertEqual(self.changes(plan, "spark-1"), [])
        for _, new, _ in PORTS:
            self.assertIn(("spark-2", "link", new), self.changes(plan))
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)  # verified, too
        self.lab.sh(2, "ping -c 1 -W 2 -M do -s 8972 192.168.177.1; ping -c 1 -W 2 -M do -s 8972 192.168.178.1")
        self.assertEqual(self.lab.sh(2, LEFT), "")
        names = [entry["name"] for entry in json.loads(self.lab.sh(2, "cat /var/lib/spark-reconcile/ledger.json"))["entries"]]
        for old, new, _ in PORTS:
            self.assertIn(new, names)
            self.assertEqual([name for name in names if old in name], [])
        self.assert_empty_plan(PAIR)
        self.spark("cabling", PAIR, expect=0)

    def test_3_with_a_second_card_it_is_unclear_and_nothing_is_touched(self):
        self.lab.sh(2, "ip link add enp5s0f1np1 type veth peer name peer0")
        self.show_ports([("enp5s0f1np1", "0000:05:00.1")])
        before = self.lab.sh(2, "ip -br address; cat /etc/netplan/*")
        plan = self.plan(PAIR)
        blocked = {(change["node"], change["name"]): change for stage in plan["stages"] for change in stage["changes"]
                   if change["change"] == "blocked"}
        for old, _, _ in PORTS:
            change = blocked["spark-2", old]
            self.assertEqual(change["code"], "plan-port-unclear")
            self.assertIn("this node has enp3s0f1np1 (0000:03:00.1), enp5s0f1np1 (0000:05:00.1), enP4p3s0f1np1 (0004:03:00.1): name the "
                          "port in its hardware profile", change["detail"])
        self.spark("apply", PAIR, "--yes", "--brief", expect=2)
        self.assertEqual(self.lab.sh(2, "ip -br address; cat /etc/netplan/*"), before)
        self.lab.sh(2, "ip link del enp5s0f1np1")
        self.show_ports()
        self.assert_empty_plan(PAIR)

    def test_4_names_that_come_back_are_the_ports_again(self):
        self.lab.sh(2, "".join(RENAME.format(new, old) for old, new, _ in PORTS) + HIDE)
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(PAIR)
        self.assertEqual(self.lab.sh(2, LEFT_OF_OTHERS), "")

    def test_5_an_uninstall_leaves_nothing_under_either_name(self):
        self.lab.sh(2, "".join(RENAME.format(old, new) for old, new, _ in PORTS))
        self.show_ports()
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.spark("uninstall", PAIR, "--yes", "--brief", expect=0)
        self.assertEqual(self.lab.sh(2, LEFT), "")
        self.assertEqual(self.lab.sh(2, LEFT_OF_OTHERS), "")


if __name__ == "__main__":
    unittest.main()
