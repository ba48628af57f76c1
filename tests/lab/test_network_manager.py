"""Nodes whose ports NetworkManager owns, as on DGX OS, beside one with networkd."""

import unittest

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
        self.lab.sh(2, "ip link set enp1s0f1np1 mtu 1500; ip addr flush dev enP2p1s0f1np1")
        self.spark("drift", FOUR, expect=2)
        self.spark("apply", FOUR, "--yes", "--brief", expect=0)
        self.assertEqual([line for line in self.lab.sh(2, management).splitlines()
                          if "enP7s7" in line], before)


if __name__ == "__main__":
    unittest.main()
