"""Nodes whose ports NetworkManager owns, as on DGX OS, beside one with networkd."""

import unittest

from management import Management
from spark_lab import LabTest, cluster

FOUR = cluster("switch-4.yaml")


class NetworkManagerNodes(LabTest):
    nodes = 4
    options = ("--nm", "1,2,3")

    def test_1_converges_verifies_and_survives_a_reboot(self):
        self.spark("apply", FOUR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(FOUR)
        self.assertIn("netplan-enp1s0f1np1",
                      self.lab.sh(1, "nmcli -t -f NAME connection show --active"))
        self.lab.lab("restart", "1")
        self.assert_empty_plan(FOUR)
        self.spark("verify", FOUR, expect=0)

    def test_2_live_drift_is_repaired_and_management_stays(self):
        management = "ip -br -4 addr show enP7s7; nmcli -t -f UUID,DEVICE connection show --active"
        before = [line for line in self.lab.sh(2, management).splitlines() if "enP7s7" in line]
        # Of IPv4: NetworkManager brings the link-local address of IPv6 back as fast as ip removes it.
        self.lab.sh(2, "ip link set enp1s0f1np1 mtu 1500; ip -4 addr flush dev enP2p1s0f1np1")
        self.spark("drift", FOUR, expect=2)
        self.spark("apply", FOUR, "--yes", "--brief", expect=0)
        self.assertEqual([line for line in self.lab.sh(2, management).splitlines()
                          if "enP7s7" in line], before)

    # What is added by hand to the management interface, and what of it is there.
    ADD = """ip address add 10.99.0.9/32 dev enP7s7; ip address add fd00:77::9/64 dev enP7s7 nodad
ip route add 172.31.0.0/16 via 192.168.1.1 dev enP7s7; ip rule add pref 500 from 10.99.0.9 lookup 100"""
    SHOW = """ip -o address show dev enP7s7 | grep -o ' 10.99.0.9/32\\| fd00:77::9/64'
ip route show 172.31.0.0/16; ip rule show pref 500; stat -c '%n %i %Y' /run/systemd/network/*enP7s7*"""

    def other(self):
        """Another manifest for all that FOUR is for."""
        return self.variant_of(FOUR, ("Says that", "Shows that"), ("mtu: 9000", "mtu: 1500"), ("4096", "2048"))

    def test_3_an_apply_leaves_what_was_added_by_hand_to_management(self):
        other = self.other()
        before = {}
        for node in (1, 4):
            self.lab.sh(node, self.ADD)
            before[node] = self.lab.sh(node, self.SHOW + "; true")
            self.assertEqual(before[node].count("10.99.0.9"), 2)
        for manifest in (other, FOUR):  # the second one's reload of the network comes after the first one's of the units
            self.spark("apply", manifest, "--yes", "--brief", expect=0)
            for node in (1, 4):
                self.assertEqual(self.lab.sh(node, self.SHOW + "; true"), before[node])

    def test_4_an_apply_and_its_revert_leave_the_lease_of_management(self):
        other = self.other()
        fails = self.variant_of(other, ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        management = Management(self.lab, "dhcp", {1: "NetworkManager", 4: "networkd"})
        for manifest, code in ((other, 0), (FOUR, 0), (fails, 4)):
            self.spark("apply", manifest, "--yes", "--brief", expect=code)
            self.assertEqual(management.changes(), [], f"{manifest} with exit {code}")
        # The last test: NetworkManager would give routes other metrics than at the boot, so that nothing is restored.


if __name__ == "__main__":
    unittest.main()
