"""Nodes like DGX OS, where NetworkManager has every port, as NVIDIA's guides, its script and sparkrun leave them: from what discover
says of them to a verified cluster, and the way back. The letters are those of test_starting_states."""

import os
import re
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import test_adopt  # noqa: E402
import test_starting_states  # noqa: E402
from test_adopt import GUIDE, ONE_SUBNET, RIGHT, SEPARATE  # noqa: E402
from test_starting_states import BRIDGE, BRIDGE_FILE, LINK_LOCAL, SPARKRUN  # noqa: E402
from test_uninstall import UninstallTest  # noqa: E402


KEPT = """network:
  version: 2
  ethernets:
    NM-{0}:
      renderer: NetworkManager
      match:
        name: "{2}"
      addresses:
      - "{3}/24"
      mtu: 9000
      networkmanager:
        uuid: "{0}"
        name: "cx7-{1}"
        passthrough:
          connection.autoconnect-priority: "10"
          ethernet._: ""
          ipv6.ip6-privacy: "-1"
          {4}
"""


class DgxOsStates(test_adopt.WithoutLinkFiles, test_starting_states.StartingState):
    options = ("--topology", "direct", "--like", "dgx-os")

    def setUp(self):
        UninstallTest.setUp(self)  # bare is as after a restart

    def walk(self, text, ids, address, expect):
        """discover, plan, apply, verify, re-plug, restart, uninstall, restart. `address`: how those of the file begin. Returns the
        manifest that discover wrote, and what it said."""
        self.set_up(GUIDE, text, ids)
        for node in (1, 2):
            self.wait_until(node, f"ip -br -4 address show dev {RIGHT[0]} | grep -q {address}")
        before = self.settle_both()
        manifest, found, errors = self.discover(expect)
        plan = self.plan(manifest)
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual([one for one in plan["diagnostics"] if one["severity"] != "informs"], [])
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, GUIDE)
        self.spark("verify", manifest, expect=0)
        self.assert_way_back(manifest, before)
        return found, errors

    def test_a_link_local_addresses(self):
        found, errors = self.walk(LINK_LOCAL, (1, 2), "169.254", 2)
        self.assertEqual(errors, f"""\
not as found: rail0: spark-1 {RIGHT[0]} has a link-local address only; 192.168.177.0/24 is free and takes its place
not as found: rail1: spark-1 {RIGHT[1]} has no address; 192.168.178.0/24 is free and takes its place
note: spark-1, spark-2: adopting {GUIDE} does not carry over: IPv4 link-local
""")
        self.assertIn(f"  - {{file: {GUIDE}, nodes: {{spark-1: ", found)

    def test_b_both_twins_in_one_subnet(self):
        found, errors = self.walk(ONE_SUBNET, (1, 2), "192.168.0", 2)
        self.assertEqual(errors, f"""\
not as found: rail1: 192.168.0.0/24 is another rail's too: not expressible, each rail needs its own subnet; 192.168.177.0/24 is \
free and takes its place: spark-1 {RIGHT[1]} 192.168.0.2 → 192.168.177.1, spark-2 {RIGHT[1]} 192.168.0.4 → 192.168.177.3
""")
        self.assertIn("  subnets:\n    - 192.168.0.0/24\n    - 192.168.177.0/24\n", found)

    def test_c_a_subnet_per_twin(self):
        found, errors = self.walk(SEPARATE, (10, 11), "192.168.100", 0)
        self.assertEqual(errors, "")
        self.assertIn("  subnets:\n    - 192.168.100.0/24\n    - 192.168.101.0/24\n", found)

    def test_e_what_sparkrun_made(self):
        found, errors = self.walk(SPARKRUN, (21, 22), "192.168.0", 0)
        self.assertEqual(errors, "")
        self.assertIn("  subnets:\n    - 192.168.0.0/24\n    - 192.168.2.0/24\n", found)

    def test_g_profiles_that_networkmanager_keeps_as_netplan_files(self):
        """As Ubuntu's NetworkManager writes them for `nmcli connection add`; Debian's never writes them."""
        kept = [f"/etc/netplan/90-NM-0c2d7e1a-2222-3333-4444-55556666777{number}.yaml" for number in (0, 1)]
        for node in (1, 2):
            for path, letter, port, subnet, rest in zip(kept, "ab", RIGHT, (177, 178), ('ipv6.method: "disabled"', 'proxy._: ""')):
                self.write(path, KEPT.format(path[19:-5], letter, port, f"192.168.{subnet}.{node}", rest), node)
            self.lab.sh(node, f"touch -d @{1700000000 + node}.123456789 {' '.join(kept)}")
        self.addCleanup(self.on_both, f"rm -f {' '.join(kept)}; netplan generate; nmcli connection reload")
        self.restart_both()
        before = self.settle_both()
        active = self.list_active()
        self.assertEqual(active, [[f"cx7-a:{RIGHT[0]}", f"cx7-b:{RIGHT[1]}"]] * 2)
        manifest, found, errors = self.discover(0)
        self.assertEqual(errors, "")
        entries = []
        for path, letter in zip(kept, "ab"):
            digests = ", ".join(f"spark-{node}: {self.lab.sh(node, f'sha256sum <{path}')[:12]}" for node in (1, 2))
            entries.append(f"  - {{nm_profile: cx7-{letter}, nodes: {{{digests}}}}}\n")
            self.assertIn(entries[-1].rstrip(), found.replace('"', ""))
        lines, printed = self.printed_plan(manifest)
        self.assertIn(f"> file  {kept[0]}: profile cx7-a into 60-spark-reconcile.yaml, 1 port, same addresses and MTU", lines)
        self.assertIn("\nno changes, 4 files taken over on 2 nodes. ", printed)
        quoted = re.sub(r": (\w{12})", r": '\1'", "".join(entries))
        self.cut_off_half_way(self.manifest("adopt:\n" + quoted), lambda: "cx7-" not in self.lab.sh(1, "nmcli -t -f NAME connection show"))
        self.assert_becomes(before)
        self.assertEqual(self.list_active(), active)
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, *kept)
        self.spark("verify", manifest, expect=0)
        self.assert_way_back(manifest, before)
        self.assertEqual(self.list_active(), active)

    def list_active(self):
        """Per node: what is active on its ports."""
        return [sorted(line for line in self.lab.sh(node, "nmcli -t -f NAME,DEVICE connection show --active").splitlines()
                       if line.endswith(RIGHT)) for node in (1, 2)]

    def test_h_live_addresses_last_only_on_a_port_that_networkmanager_leaves_alone(self):
        bare = self.settle_both()
        conf = "/etc/NetworkManager/conf.d/99-fabric.conf"
        for node in (1, 2):
            self.write(conf, f"[keyfile]\nunmanaged-devices={';'.join(f'interface-name:{port}' for port in RIGHT)}\n", node, mode="0644")
            self.lab.sh(node, "nmcli general reload; " + "; ".join(
                f"ip link set {port} mtu 9000 up; ip address add 192.168.{subnet}.{9 + node}/24 broadcast + dev {port}"
                for port, subnet in zip(RIGHT, (100, 101))))
            self.wait_until(node, f"nmcli -t -f DEVICE,STATE device | grep -qx {RIGHT[1]}:unmanaged")
        manifest, found, errors = self.discover(2)
        self.assertIn("  subnets:\n    - 192.168.100.0/24\n    - 192.168.101.0/24\n", found)
        for node in (1, 2):
            self.assertIn(f"note: the addresses of spark-{node}'s {' and '.join(RIGHT)} are live only, as no network manager has them: "
                          "lost at a reboot, unless an apply writes them\n", errors)
        changes = [change for stage in self.plan(manifest)["stages"] for change in stage["changes"]]
        self.assertEqual({change["code"] for change in changes}, {"netplan-port-unmanaged"})
        self.assertIn(f"NetworkManager leaves {RIGHT[0]} alone, and netplan gives it to NetworkManager: ", changes[0]["detail"])
        self.spark("apply", manifest, "--yes", "--brief", expect=2)
        self.on_both(f"rm {conf}; nmcli general reload")
        for node in (1, 2):
            self.wait_until(node, "! nmcli -t -f DEVICE,STATE device | grep -q :unmanaged")
        before = self.settle_both()  # the MTU is still the one set by hand
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest)
        self.assert_way_back(manifest, before, after_restart=bare)

    def test_i_a_bridge_of_a_netplan_file_is_dissolved_until_the_uninstall_makes_it_again(self):
        port = RIGHT[0]
        self.set_up(BRIDGE_FILE, BRIDGE)
        self.wait_for_bridge()
        before = self.settle_both()
        manifest, found, errors = self.discover(2)
        self.assertIn(f"not as found: rail0: spark-1 {port} is a member of br-fabric, which RDMA bypasses: not expressible; "
                      "192.168.177.0/24 is free and takes its place\n", errors)
        self.assertIn(f"  - {{file: {BRIDGE_FILE}, nodes: {{spark-1: ", found)
        self.assertIn("\n  - {master: br-fabric, nodes: [spark-1, spark-2]}\n", found)
        lines, _ = self.printed_plan(manifest)
        self.assertIn("; dissolves br-fabric", lines[0])
        adopt = re.search(r"(?m)^adopt:.*\n((?:  - .*\n)+)", found)[1]
        self.cut_off_half_way(self.manifest("adopt:\n" + adopt), lambda: "br-fabric" not in self.lab.sh(1, "ls /sys/class/net"))
        self.wait_for_bridge()
        self.assert_becomes(before)
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, BRIDGE_FILE)
        for node in (1, 2):
            self.assertNotIn("br-fabric", self.lab.sh(node, "ls /sys/class/net; nmcli -t -f NAME connection show"))
        self.uninstall(manifest)
        self.wait_for_bridge()
        self.assert_becomes(before)
        self.restart_both()
        self.wait_for_bridge()
        self.assert_becomes(before)

    def wait_for_bridge(self):
        for node in (1, 2):
            self.wait_until(node, "ip -br -4 address show dev br-fabric | grep -q 192.168.50 && "
                                  f"readlink /sys/class/net/{RIGHT[0]}/master | grep -q br-fabric")

    def test_j_one_end_bare_and_one_as_nvidia_left_it(self):
        self.write(GUIDE, ONE_SUBNET.format(0, 3, 4), 2)
        self.lab.sh(2, "netplan apply")
        self.wait_until(2, f"ip -br -4 address show dev {RIGHT[1]} | grep -q 192.168.0.4")
        before = self.settle_both()
        manifest, found, errors = self.discover(2)
        self.assertIn(f"not as found: rail0: spark-1 {RIGHT[0]} has no address; the manifest gives it 192.168.0.1\n", errors)
        self.assertRegex(found, rf"  - {{file: {GUIDE}, nodes: {{spark-2: \S+}}}}")
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, GUIDE)
        self.assert_way_back(manifest, before)


if __name__ == "__main__":
    unittest.main()
