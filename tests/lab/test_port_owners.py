"""Who has a port besides us: a profile of NetworkManager, a unit of networkd, a live bridge, a script or rule. spark-1 has NetworkManager,
spark-2 networkd."""

import re
import time
import unittest

from spark_lab import LabTest, cluster, speed

PAIR = cluster("pair.yaml")
PORT = "enp1s0f1np1"
UNIT = "/etc/systemd/network/05-fabric.network"


class PortOwners(LabTest):
    options = ("--topology", "direct", "--nm", "1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab.spark("apply", PAIR, "--yes", "--brief", "--no-verify")

    def addresses(self, node):
        return self.lab.sh(node, f"ip -br -4 address show dev {PORT}").split()[2:]

    def assert_stays_ours(self, node):
        """Live, after a re-plug that NetworkManager takes for one, and after a restart."""
        for moment in ("now", "re-plugged", "restarted"):
            if moment == "re-plugged":
                self.lab.lab("cut", "1", PORT)
                time.sleep(8)
                self.lab.lab("reconnect", "1", PORT)
                time.sleep(5)
            elif moment == "restarted":
                self.lab.lab("restart", str(node))
                time.sleep(5)
            self.assertEqual(self.addresses(node), [f"192.168.177.{node}/24"], moment)
        self.assert_empty_plan(PAIR)

    def assert_blocks(self, node, link, code, message, next_step):
        """Nothing differs but the owner, and that is said: `link` at the port, the rest below the plan."""
        printed = self.spark("plan", PAIR, expect=0).stdout
        self.assertRegex(printed, rf"(?m)^  ! link +{PORT}: {re.escape(link)} .*blocked \[{code}\]$")
        self.assertIn("\n1 blocked, 1 warning.\n", printed)
        warnings = [one for one in self.plan(PAIR)["diagnostics"] if one["severity"] == "warns"]
        self.assertEqual([(one["nodes"], one["code"], one["message"], one["next_step"]) for one in warnings],
                         [([f"spark-{node}"], code, message, next_step)])
        self.spark("drift", PAIR, expect=2)
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=2)

    def test_1_a_profile_that_would_win_blocks_until_it_is_switched_off(self):
        self.assert_empty_plan(PAIR)
        self.lab.sh(1, f"nmcli connection add type ethernet con-name cx7-a ifname {PORT} ipv4.method manual "
                       "ipv4.addresses 10.69.0.1/24 ipv6.method disabled connection.autoconnect-priority 10")
        profile = self.profile_file(1, "cx7-a")
        digest = self.lab.sh(1, f"sha256sum <{profile}")[:12]
        connects = f"cx7-a ({profile}) connects {PORT} automatically, priority 10 (ours 0)"
        self.assert_blocks(1, connects.replace(PORT, "it"), "netplan-foreign-profile",
                           f"{connects}: it comes back at the next boot or re-plug",
                           f"add {{nm_profile: cx7-a, nodes: {{spark-1: \"{digest}\"}}}} to adopt, or: nmcli connection modify "
                           "cx7-a connection.autoconnect no, then plan again")
        # What the plan says is true.
        self.lab.lab("restart", "1")
        time.sleep(5)
        self.assertEqual(self.addresses(1), ["10.69.0.1/24"])
        self.lab.sh(1, "nmcli connection modify cx7-a connection.autoconnect no")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_stays_ours(1)

    def test_2_a_unit_that_is_read_before_ours_blocks_until_it_is_renamed(self):
        self.lab.sh(2, f"printf '[Match]\\nName={PORT}\\n[Network]\\nAddress=10.68.0.2/24\\n' >{UNIT}")
        digest = self.lab.sh(2, f"sha256sum <{UNIT}")[:12]
        self.assert_blocks(2, f"{UNIT} is read before our file and matches it", "netplan-foreign-unit",
                           f"{UNIT} is read before our file and matches {PORT}: networkd uses the first file that matches, and "
                           "not ours",
                           f"add {{networkd_unit: {UNIT}, nodes: {{spark-2: \"{digest}\"}}}} to adopt, or remove it, or give it a "
                           f"name that sorts after 10-netplan-{PORT}.network, then plan again")
        self.lab.sh(2, f"mv {UNIT} /etc/systemd/network/90-fabric.network")
        self.assert_stays_ours(2)

    def assert_overridden(self, node, path, line, says):
        """Nothing differs now, and the plan, an apply and `status` say that it does not last."""
        printed = self.spark("plan", PAIR, expect=0).stdout
        self.assertIn(f"\nspark-{node}  192.168.1.2{node}  nothing to change, but see the warnings\n", printed)
        self.assertIn("\nnothing to change, but 1 thing on 1 node wins over the manifest at the next boot or re-plug, 1 warning.\n", printed)
        self.assertNotIn("\nno changes", printed)
        self.assertEqual([(one["nodes"], one["code"], one["message"]) for one in self.plan(PAIR)["diagnostics"] if one["severity"] == "warns"],
                         [([f"spark-{node}"], "netplan-boot-hook", f"{path}:{line} {says}")])
        done = self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=2)
        self.assertRegex(done.stdout.splitlines()[-1], r"^OVERRIDDEN, with 1 warning: 1 thing on 1 node wins over the manifest at the next "
                                                       r"boot or re-plug; nothing was changed, ")
        self.assertRegex(self.spark("status", PAIR, expect=0).stdout, rf"(?m)^spark-{node}  overridden ")

    def test_4_a_script_of_the_dispatcher_wins_at_a_replug(self):
        path = "/etc/NetworkManager/dispatcher.d/50-fabric"
        self.lab.sh(1, f"printf '#!/bin/sh\n# The fabric.\n[ \"$1 $2\" = \"{PORT} up\" ] || exit 0\nip address flush dev \"$1\"\n"
                       f"ip address add 10.67.0.1/24 dev \"$1\"\n' >{path}; chmod 755 {path}")
        self.addCleanup(self.lab.sh, 1, f"rm -f {path}")
        self.assert_overridden(1, path, 3, f"configures {PORT} again when NetworkManager's dispatcher runs it, as at the next boot or re-plug")
        # What the plan says is true.
        self.lab.lab("cut", "1", PORT)
        time.sleep(8)
        self.lab.lab("reconnect", "1", PORT)
        speed.wait_until(lambda: "10.67.0.1/24" in self.addresses(1), 20, "the script's address")
        self.lab.sh(1, f"rm {path}")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_stays_ours(1)

    def test_5_a_rule_of_udev_wins_at_a_boot(self):
        path = "/etc/udev/rules.d/70-fabric.rules"
        self.lab.sh(2, f"printf 'SUBSYSTEM==\"net\", KERNEL==\"{PORT}\", ATTR{{mtu}}=\"4000\"\n' >{path}")
        self.addCleanup(self.lab.sh, 2, f"rm -f {path}")
        self.assert_overridden(2, path, 1, f"is a rule of udev that renames or sets {PORT} at the next boot or re-plug")
        self.lab.sh(2, f"rm {path}")
        self.assert_empty_plan(PAIR)

    def test_3_a_live_bridge_keeps_its_member(self):
        self.lab.sh(2, f"ip link add br-lab type bridge; ip link set {PORT} master br-lab")
        self.assert_blocks(2, "br-lab has it among its members", "netplan-foreign-master",
                           f"br-lab has {PORT} among its members, and no netplan file says so: an apply would cut off what uses br-lab",
                           f"ip link set dev {PORT} nomaster, remove what makes br-lab at boot, then plan again")
        self.assertIn("master br-lab", self.lab.sh(2, f"ip link show dev {PORT}"))
        self.lab.sh(2, f"ip link set dev {PORT} nomaster; ip link delete br-lab")
        self.assert_empty_plan(PAIR)


class SwitchedOffProfile(LabTest):
    options = ("--topology", "direct", "--nm", "1")

    def test_it_has_no_port_and_an_uninstall_restores_the_live_address(self):
        self.lab.sh(1, f"nmcli connection add type ethernet con-name cx7-a ifname {PORT} ipv4.method manual "
                       "ipv4.addresses 10.69.0.1/24 ipv6.method disabled connection.autoconnect no")
        self.lab.sh(1, f"ip link set {PORT} up; ip addr add 10.70.0.1/24 dev {PORT}")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.lab.sh(1, f"ip -br -4 address show dev {PORT}").split()[2:], ["192.168.177.1/24"])
        self.spark("uninstall", PAIR, "--yes", "--brief", expect=0)
        self.assertEqual(self.lab.sh(1, f"ip -br -4 address show dev {PORT}").split()[2:], ["10.70.0.1/24"])


if __name__ == "__main__":
    unittest.main()
