"""What an uninstall or a prune leaves: every port as it was before us, or as another owner of it has it by now. Read from
the nodes, live and after a restart, and not from what the program prints alone."""

import concurrent.futures
import re
import time
import unittest

from nodes import port_state
from spark_lab import LabTest, cluster, speed

PAIR = cluster("pair.yaml")
PORTS = ("enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1")
RIGHT = PORTS[2:]  # cage p1
OURS = "find /etc /run /var/lib -xdev -path '*spark-reconcile*' 2>/dev/null; true"


def for_both(work):
    """What `work` returns for each node's number, at the same time on both: most of it is waiting."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, (1, 2)))


class UninstallTest(LabTest):
    """Each test begins with bare nodes, whatever the one before left."""

    maxDiff = None
    options = ("--topology", "direct")
    timed = ()  # folders whose files' times belong to the state

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bare = None

    def setUp(self):
        if self.bare is None:
            type(self).bare = self.restart()
        self.addCleanup(self.make_bare)

    def make_bare(self):
        if [self.state(node) for node in (1, 2)] != self.bare:
            self.lab.spark("uninstall", PAIR, "--yes")
            for node in (1, 2):
                self.lab.sh(node, "rm -rf /var/lib/spark-reconcile " + " ".join(sorted(
                    self.list_files(self.state(node)) - self.list_files(self.bare[node - 1]))))
            self.assertEqual(self.restart("--hard"), self.bare)

    def list_files(self, state):
        """The files of network managers below /etc that a state names."""
        return set(re.findall(r"(?m)^(/etc/\S+) \d+ \S+:\S+ ", state))

    def write(self, path, text, node, mode="0600"):
        self.lab.sh(node, f"cat >{path} <<'END'\n{text}END\nchmod {mode} {path}")

    def set_live(self, *values):
        """Sets (port, MTU, address) live, as a person does; {} is the node's number. Returns the states."""
        for node in (1, 2):
            for port, mtu, address in values:
                self.lab.sh(node, f"ip link set {port} mtu {mtu} up; "
                                  f"ip address add {address.format(node)} broadcast + dev {port}")
        return for_both(self.settle)

    def claim(self, addresses, own_file_goes, extra=""):
        """Another owner's file configures ports of both nodes from now on; returns the states."""
        for node in (1, 2):
            if own_file_goes:
                self.lab.sh(node, "rm /etc/netplan/60-spark-reconcile.yaml")
            with_id = {port: address.format(node) for port, address in addresses.items()}
            self.write("/etc/netplan/99-other.yaml", netplan_file(with_id, extra), node)
            self.lab.sh(node, "netplan apply")
        return for_both(self.settle)

    def assert_left(self, printed, port):
        self.assertRegex(printed, rf"(?m)^  ! link +{port}: now configured by /etc/netplan/99-other.yaml; left as it is .*"
                                  r"blocked \[netplan-port-claimed\]$")

    def state(self, node):
        return port_state.read(self.lab, node, PORTS, self.timed)

    def wait_for(self, node, wanted, limit_s=20):
        """The state, once it is as wanted and then stays so: managers settle after their commands have returned."""
        end = time.monotonic() + limit_s * speed.factor()
        while (state := self.state(node)) != wanted and time.monotonic() < end:
            time.sleep(0.5)
        self.assertEqual(state, wanted, f"spark-{node}")
        time.sleep(2)
        self.assertEqual(self.state(node), wanted, f"spark-{node}, a moment later")

    def wait_for_both(self, wanted, limit_s=20):
        for_both(lambda node: self.wait_for(node, wanted[node - 1], limit_s))

    def settle(self, node):
        """The state, once two readings are the same."""
        last = None
        while (state := self.state(node)) != last:
            last = state
            time.sleep(2)
        return state

    def restart(self, *options):
        for_both(lambda node: self.lab.lab("restart", str(node), *options))
        return for_both(self.settle)

    def replug(self):
        """Long enough that NetworkManager takes the cable for pulled."""
        for port in RIGHT:
            self.lab.lab("cut", "1", port)
        time.sleep(8)
        for port in RIGHT:
            self.lab.lab("reconnect", "1", port)
        time.sleep(5)

    def apply(self, manifest=PAIR, *options):
        return self.spark("apply", manifest, "--yes", "--brief", "--no-verify", *options, expect=0)

    def uninstall(self, manifest=PAIR):
        done = self.spark("uninstall", manifest, "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.assertEqual([line for line in self.lab.sh(node, OURS).splitlines() if "id_ed25519" not in line], [])
        return done.stdout

    def assert_stays(self, wanted, after_restart):
        """The nodes' states: now, after a re-plug, and after a restart."""
        self.wait_for_both(wanted)
        self.replug()
        self.wait_for_both(wanted)
        self.assertEqual(self.restart(), after_restart)


def netplan_file(addresses, extra=""):
    """A file of another owner that gives ports these addresses and an MTU of its own."""
    ports = "".join(f"    {port}:\n      addresses: [{address}]\n      mtu: 1400\n      link-local: []\n{extra}"
                    for port, address in addresses.items())
    return f"network:\n  version: 2\n  ethernets:\n{ports}"


class Networkd(UninstallTest):
    def test_live_values_come_back_also_those_that_were_right_already(self):
        for values in (((RIGHT[0], 9000, "192.168.177.{}/24"), (RIGHT[1], 9000, "192.168.178.{}/24")),
                       ((RIGHT[0], 9000, "192.168.177.{}/24"), (RIGHT[1], 3000, "10.5.5.{}/24"))):
            with self.subTest(values=values):
                before = self.set_live(*values)
                self.apply()
                self.uninstall()
                self.wait_for_both(before)
                self.assertEqual(self.restart(), self.bare)

    def test_ports_that_another_file_has_by_now_are_left_as_they_are(self):
        self.apply()
        before = self.claim({RIGHT[0]: "10.66.0.{}/24", RIGHT[1]: "10.67.0.{}/24"}, own_file_goes=True)
        printed = self.uninstall()
        for port in RIGHT:
            self.assert_left(printed, port)
        self.assert_stays(before, after_restart=before)

    def test_one_port_is_left_and_the_other_as_before(self):
        self.apply()
        self.claim({RIGHT[0]: "10.66.0.{}/24"}, own_file_goes=False)
        live = f"ip -br -4 address show dev {RIGHT[0]}; cat /sys/class/net/{RIGHT[0]}/mtu; sha256sum </run/systemd/network/10-netplan-{RIGHT[0]}.network"
        before = [self.lab.sh(node, live) for node in (1, 2)]
        self.assert_left(self.uninstall(), RIGHT[0])
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, live), before[node - 1])
            self.lab.sh(node, f"test ! -e /run/systemd/network/10-netplan-{RIGHT[1]}.network")
            self.assertIn(f"{RIGHT[1]} mtu 1500 flags 0\n", self.state(node))
        self.restart()
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, f"ip -br -4 address show dev {RIGHT[0]}").split()[2:], [f"10.66.0.{node}/24"])
            self.assertIn(f"{RIGHT[1]} mtu 1500 flags 0\n", self.state(node))

    def test_our_file_stays_while_a_vlan_of_another_file_needs_its_port(self):
        self.apply()
        vlan = f"  vlans:\n    st.50:\n      id: 50\n      link: {RIGHT[0]}\n      addresses: [10.66.0.1/24]\n"
        path = "/etc/netplan/70-storage.yaml"
        generates = "rm -rf /tmp/etc /tmp/run; cp -r --parents /etc/netplan /tmp && netplan generate --root-dir /tmp"
        others = "sha256sum /etc/netplan/*.yaml; ip -br -4 address; cat /sys/class/net/*/mtu"
        for node in (1, 2):
            self.write(path, f"network:\n  version: 2\n{vlan}", node)
        before = [self.lab.sh(node, others) for node in (1, 2)]
        done = self.spark("uninstall", PAIR, "--yes", "--brief", expect=2)
        self.assertIn(f"{path} puts st.50 on {RIGHT[0]}, which only our file defines: add `ethernets: {{{RIGHT[0]}: {{}}}}` to it", done.stdout)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, others), before[node - 1])
            self.assertEqual(self.lab.sh(node, "grep -c spark-reconcile /etc/hosts || true"), "0\n")  # the rest is pruned
            self.lab.sh(node, generates)
            self.write(path, f"network:\n  version: 2\n  ethernets:\n    {RIGHT[0]}: {{}}\n{vlan}", node)
        self.uninstall()
        for node in (1, 2):
            self.lab.sh(node, f"test ! -e /etc/netplan/60-spark-reconcile.yaml && {generates} && rm {path}")

    def test_a_manifest_with_the_other_cage_leaves_the_ports_of_the_first_to_their_owner(self):
        self.apply()
        # Without a carrier, so that the values outlive the cable's move to the other cage.
        before = self.claim({RIGHT[0]: "10.66.0.{}/24", RIGHT[1]: "10.67.0.{}/24"}, own_file_goes=True,
                            extra="      ignore-carrier: true\n")
        for node in ("1", "2"):
            self.lab.lab("swap", node)
        self.addCleanup(lambda: [self.lab.lab("swap", node) for node in ("1", "2")])
        other = self.variant_of(PAIR, ("cage: p1", "cage: p0"))
        moved = for_both(self.settle)
        printed = self.apply(other).stdout
        for port in RIGHT:
            self.assert_left(printed, port)
        for node in (1, 2):
            # Files and ports of the right cage: nothing but what is ours differs.
            wanted = [line for line in moved[node - 1].splitlines() if "np0" not in line]
            now = [line for line in self.settle(node).splitlines()
                   if "np0" not in line and "60-spark-reconcile" not in line and "192.168.17" not in line]
            self.assertEqual(now, wanted)
        # Dropped, not blocked for ever.
        plan = self.plan(other)
        self.assertEqual((self.changes(plan), plan["blocked"]), ([], 0))
        self.uninstall(other)
        self.wait_for_both(moved)
        self.assertEqual([line for state in self.restart() for line in state.splitlines() if line.startswith("/")],
                         [line for state in before for line in state.splitlines() if line.startswith("/")])

    def test_a_unit_of_networkd_keeps_its_port(self):
        self.apply()
        for node in (1, 2):
            self.write("/etc/systemd/network/05-other.network",
                       f"[Match]\nName={RIGHT[0]}\n[Network]\nAddress=10.68.0.{node}/24\nLinkLocalAddressing=no\n"
                       "[Link]\nMTUBytes=1300\n", node, mode="0644")
            self.lab.sh(node, f"networkctl reload; networkctl reconfigure {RIGHT[0]}")
            self.settle(node)
        live = f"ip -br -4 address show dev {RIGHT[0]} | sed 's/@[^ ]*//'; cat /sys/class/net/{RIGHT[0]}/mtu; ip -4 route show dev {RIGHT[0]}"
        before = [self.lab.sh(node, live) for node in (1, 2)]
        self.assertIn("10.68.0.1/24", before[0])
        printed = self.uninstall()
        self.assertRegex(printed, rf"(?m)^  ~ link +{RIGHT[0]}: what was generated for it is removed; its values are left to "
                                  r"/etc/systemd/network/05-other.network")
        for moment in ("now", "restarted"):
            for node in (1, 2):
                self.settle(node)
                self.assertEqual(self.lab.sh(node, live), before[node - 1], moment)
                self.assertEqual(self.lab.sh(node, "ls /run/systemd/network | grep f1np1; true"), "")
            self.restart()


class NetworkManager(UninstallTest):
    """The same where NetworkManager has the ports."""

    options = ("--topology", "direct", "--nm", "all")

    def test_nothing_of_ours_comes_back_with_a_replug_or_a_restart(self):
        before = for_both(self.settle)
        self.apply()
        self.uninstall()
        self.assert_stays(before, after_restart=self.bare)

    def test_live_values_come_back_also_those_that_were_right_already(self):
        # Else NetworkManager requests a lease on each port, and takes all addresses away when none comes.
        for node in (1, 2):
            self.write("/etc/NetworkManager/conf.d/other.conf", "[main]\nno-auto-default=*\n", node, mode="0644")
        bare = self.restart()
        before = self.set_live((RIGHT[0], 9000, "192.168.177.{}/24"), (RIGHT[1], 3000, "10.5.5.{}/24"))
        self.apply()
        self.uninstall()
        self.wait_for_both(before)
        self.assertEqual(self.restart(), bare)

    def test_a_profile_gets_its_port_back(self):
        for node in (1, 2):
            self.lab.sh(node, f"nmcli connection add type ethernet con-name other ifname {RIGHT[0]} ipv4.method manual "
                              f"ipv4.addresses 10.69.0.{node}/24 ipv6.method disabled 802-3-ethernet.mtu 1400 "
                              f"connection.autoconnect-priority -1 && nmcli --wait 15 connection up other")
        before = self.restart()
        profile = self.profile_file(1, "other")
        self.apply()
        printed = self.uninstall()
        self.assertRegex(printed, rf"(?m)^  ~ link +{RIGHT[0]}: what was generated for it is removed; its values are left to {profile}")
        self.assert_stays(before, after_restart=before)

    def test_ports_that_another_file_has_by_now_are_left_as_they_are(self):
        self.apply()
        before = self.claim({RIGHT[0]: "10.66.0.{}/24", RIGHT[1]: "10.67.0.{}/24"}, own_file_goes=True)
        self.assertIn("10.66.0.1/24", before[0])
        printed = self.uninstall()
        for port in RIGHT:
            self.assert_left(printed, port)
        self.assert_stays(before, after_restart=before)


if __name__ == "__main__":
    unittest.main()
