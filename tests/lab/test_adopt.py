"""Ports that another tool configured: apply takes its netplan file or its profiles over, and uninstall leaves the nodes as that
tool did. Live, after a re-plug and after a restart."""

import hashlib
import re
import subprocess
import tempfile
import time
import unittest

import test_uninstall
from spark_lab import LAB, PROGRAM, cluster, speed

PAIR = cluster("pair.yaml")
RIGHT = test_uninstall.RIGHT
GUIDE = "/etc/netplan/40-cx7.yaml"
OURS = "/etc/netplan/60-spark-reconcile.yaml"
KEYFILES = "/etc/NetworkManager/system-connections/"

# As NVIDIA's guide leaves it: a subnet per twin, and what networkd does where nothing is said.
SEPARATE = """network:
  version: 2
  ethernets:
    enp1s0f1np1:
      dhcp4: false
      addresses: [192.168.100.{0}/24]
    enP2p1s0f1np1:
      dhcp4: false
      addresses: [192.168.101.{0}/24]
"""
# As NVIDIA's script leaves it: both twins in one subnet, and the ports of the other cage listed.
ONE_SUBNET = """network:
  version: 2
  ethernets:
    enp1s0f0np0: {{dhcp4: false}}
    enP2p1s0f0np0: {{dhcp4: false}}
    enp1s0f1np1:
      dhcp4: false
      addresses: [192.168.0.{1}/24]
    enP2p1s0f1np1:
      dhcp4: false
      addresses: [192.168.0.{2}/24]
"""
# As NVIDIA Sync leaves it.
SYNC = """network:
  version: 2
  renderer: NetworkManager
  ethernets:
    enp1s0f1np1:
      dhcp4: false
      mtu: 9000
      addresses: [10.100.16.{0}/24]
    enP2p1s0f1np1:
      dhcp4: false
      mtu: 9000
      addresses: [10.100.17.{0}/24]
"""
# Both twins in one bridge on spark-1, and one of them on spark-2; a bond is the same, but not every kernel has one. With both twins on both
# nodes it is a loop, in which each multicast packet goes round for ever: netplan turns STP on only where the file says so.
BRIDGE = """network:
  version: 2
  ethernets:
    enp1s0f1np1: {{dhcp4: false}}
    enP2p1s0f1np1: {{dhcp4: false}}
  bridges:
    br-fabric:
      interfaces: [enp1s0f1np1{5}]
      addresses: [192.168.50.{0}/24]
"""
# As a person writes it.
UNITS = "/etc/systemd/network/"
UNIT = """[Match]
Name={0}
[Link]
MTUBytes=9000
[Network]
Address=192.168.{1}.{2}/24
"""
LOST = "not carried over: IPv6 link-local, router advertisements"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


class AdoptTest(test_uninstall.UninstallTest):
    """`leave` makes the nodes as another tool does; `apply_and_leave` is the whole way to us and out again."""

    timed = ("/etc/netplan", UNITS, KEYFILES)

    def assert_taken_over(self, lines, *paths):
        """These lines of a plan are of our file on each node and of `paths`: a path that reads the same on both stands once."""
        for line in lines:
            self.assertRegex(line, rf"^  > file +({'|'.join((*paths, OURS))})[: ].*  flaps the link$")
        self.assertEqual({line.split()[2].rstrip(":") for line in lines}, {*paths, OURS})
        self.assertEqual(len([line for line in lines if line.split()[2].rstrip(":") == OURS]), 2, lines)

    def cut_off_half_way(self, manifest, is_taken_over):
        """spark-1 loses its power while what is taken over is gone; spark-2 is reverted live."""
        slow = self.variant_of(manifest, ("ExecStart=/bin/true", f"ExecStart=/bin/sleep {min(60, round(speed.scaled(20)))}"))
        with tempfile.TemporaryFile("w+") as said:
            run = speed.start([LAB, "exec", "--run", self.lab.run, "--", PROGRAM, "apply", slow, "--yes", "--brief", "--no-verify"],
                              stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
            while not is_taken_over():
                if run.poll() is not None:
                    said.seek(0)
                    self.fail(f"the apply ended with {run.returncode} before it had taken over what adopt names:\n{said.read()}")
                time.sleep(0.05)
        self.lab.lab("restart", "--hard", "1")
        self.assertEqual(speed.wait(run, 180), 4)

    def leave(self, path, text, ids=(10, 11)):
        """The tool's file on both nodes, in effect; returns what `adopt` says of it and the nodes' states."""
        entries = []
        for node, number in zip((1, 2), ids):
            content = text.format(number, 2 * node - 1, 2 * node, node, 3 - node, ", enP2p1s0f1np1" if node == 1 else "")
            self.write(path, content, node)
            self.lab.sh(node, f"touch -d @{1700000000 + node}.123456789 {path}; netplan apply")
            entries.append(f"spark-{node}: '{digest(content)[:12]}'")
        return f"adopt: [{{file: {path}, nodes: {{{', '.join(entries)}}}}}]\n", test_uninstall.for_both(self.settle)

    def manifest(self, adopt, *replacements):
        return self.variant_of(PAIR, ("verify:", adopt + "verify:"), *replacements)

    def assert_adopted(self, manifest, *paths):
        self.assert_empty_plan(manifest)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, f"ls -d {' '.join(paths)} /run/netplan {OURS} 2>/dev/null; true"), OURS + "\n")

    def link_local(self):
        return [self.lab.sh(node, f"ip -br -6 address show dev {port}").split()[2:] for node in (1, 2) for port in RIGHT]

    def apply_and_leave(self, manifest, before, *paths):
        link_local = self.link_local()
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_adopted(manifest, *paths)
        adopted = test_uninstall.for_both(self.settle)
        self.replug()
        self.assert_adopted(manifest, *paths)
        self.assertEqual(self.restart(), adopted)
        self.assert_adopted(manifest, *paths)
        self.spark("verify", manifest, expect=0)
        self.uninstall(manifest)
        self.assert_stays(before, after_restart=before)
        self.assertEqual(self.link_local(), link_local)


class Networkd(AdoptTest):
    same = (("192.168.177.0/24, 192.168.178.0/24", "192.168.100.0/24, 192.168.101.0/24"), ("mtu: 9000", "mtu: 1500"),
            ("192.168.1.21}", "192.168.1.21, id: 10}"), ("192.168.1.22,", "192.168.1.22, id: 11,"))

    def assert_configured(self):
        for node in (1, 2):
            for port in RIGHT:
                # It waits for router advertisements before.
                self.lab.sh(node, f"for i in $(seq {int(speed.scaled(30))}); do "
                                  f"! networkctl status {port} | grep -q '(configured)' || exit 0; sleep 1; done")
                shown = self.lab.sh(node, f"networkctl status {port}")
                self.assertRegex(shown, r"State: routable \(configured\)")
                self.assertIn(f"/run/systemd/network/10-netplan-{port}.network", shown)

    def test_a_file_that_says_the_same_is_taken_over_and_written_back(self):
        adopt, before = self.leave(GUIDE, SEPARATE)
        manifest = self.manifest(adopt, *self.same)
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        lines = re.findall(r"(?m)^  [-+~>!] .*$", printed)
        self.assert_taken_over(lines, GUIDE)
        self.assertIn(f"into 60-spark-reconcile.yaml, 2 ports, same addresses and MTU; {LOST}  ", lines[0])
        self.assertIn("\nno changes, 2 files taken over on 2 nodes. 4 links flap; no RDMA connection is open on them.\n", printed)
        self.assertIn("\nuninstall writes back what is taken over.\n", printed)
        self.assert_configured()
        self.apply_and_leave(manifest, before, GUIDE)
        self.assert_configured()

    def test_two_twins_in_one_subnet_get_subnets_of_their_own_until_the_uninstall(self):
        adopt, before = self.leave(GUIDE, ONE_SUBNET)
        manifest = self.manifest(adopt)
        kinds = [(change["change"], change["name"]) for stage in self.plan(manifest, "--only", "netplan")["stages"]
                 for change in stage["changes"]]
        self.assertEqual(kinds, [("adopt", GUIDE), ("add", OURS), ("modify", RIGHT[0]), ("modify", RIGHT[1])] * 2)
        self.apply_and_leave(manifest, before, GUIDE)

    def test_a_file_that_was_changed_blocks_until_the_manifest_means_it(self):
        adopt, before = self.leave(GUIDE, SEPARATE)
        self.lab.sh(1, f"echo '# changed' >>{GUIDE}")
        manifest = self.manifest(adopt, *self.same)
        planned, now = (digest(SEPARATE.format(10) + end)[:12] for end in ("", "# changed\n"))
        printed = self.spark("plan", manifest, "--brief", expect=0).stdout
        self.assertIn(f"  ! file     {GUIDE}: is not adopted: its SHA-256 begins with {now}, and the manifest has {planned}: "
                      f"read what it says now; to adopt that, write {now} into the manifest  ", printed)
        self.spark("apply", manifest, "--only", "netplan", "--node", "spark-1", "--yes", "--brief", expect=2)
        self.assertEqual(self.lab.sh(1, f"sha256sum <{GUIDE}")[:12], now)
        self.assertEqual(self.state(2), before[1])

    def test_an_apply_that_fails_reverts_to_the_file(self):
        adopt, before = self.leave(GUIDE, SEPARATE)
        broken = self.manifest(adopt, *self.same, ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        self.spark("apply", broken, "--yes", "--brief", "--no-verify", expect=4)
        self.wait_for_both(before)
        self.assert_configured()
        self.assertEqual(self.restart(), before)

    def test_a_rollback_keeps_what_is_adopted_and_one_to_generation_0_writes_it_back(self):
        adopt, before = self.leave(GUIDE, SEPARATE)
        manifest = self.manifest(adopt, *self.same)
        self.apply(manifest)
        adopted = self.without_times()
        other = self.variant_of(manifest, ("mtu: 1500", "mtu: 4000"))
        self.apply(other)
        self.assert_adopted(other, GUIDE)
        rollback = ("rollback", other, "--yes", "--brief", "--no-verify")
        self.spark(*rollback, expect=0)
        self.assertEqual(self.without_times(), adopted)
        self.assert_adopted(manifest, GUIDE)
        self.spark(*rollback, "--to", "0", expect=0)
        self.wait_for_both(before)
        self.assert_configured()
        self.assertEqual(self.restart(), before)

    def without_times(self):
        """The states without the time at which our file was written."""
        return ["".join(line for line in state.splitlines(keepends=True) if not re.match(OURS + r" \d+\.", line))
                for state in test_uninstall.for_both(self.settle)]

    def test_a_file_that_its_owner_wrote_again_is_left_to_him(self):
        adopt, _ = self.leave(GUIDE, SEPARATE)
        manifest = self.manifest(adopt, *self.same)
        self.apply(manifest)
        for node in (1, 2):
            self.lab.sh(node, f"rm {OURS}")
        _, before = self.leave(GUIDE, SEPARATE.replace("192.168.10", "10.66."), ids=(1, 2))
        printed = self.uninstall(manifest)
        self.assertIn(f"\nnote: spark-1, spark-2: {GUIDE} was removed by an apply and made again since: it is left as it is "
                      "[plan-made-again]\n", printed)
        for port in RIGHT:
            self.assertRegex(printed, rf"(?m)^  ! link +{port}: now configured by {GUIDE}; left as it is .*blocked \[netplan-port-claimed\]$")
        self.assert_stays(before, after_restart=before)

    def test_a_file_that_the_manifest_no_longer_names_stays_away_while_ours_is_there(self):
        adopt, before = self.leave(GUIDE, SEPARATE)
        self.apply(self.manifest(adopt, *self.same))
        without = self.variant_of(PAIR, *self.same)
        printed = self.spark("plan", without, "--brief", expect=0).stdout
        self.assertRegex(printed, rf"(?m)^spark-1, spark-2 \(2 nodes\)\n(  .*\n)*  ! file +{GUIDE}: adopt names it no more, but {OURS} "
                                  rf"configures {RIGHT[0]} instead of it: name it there again; uninstall writes it back .*"
                                  r"blocked \[netplan-adopted-in-use\]$")
        self.spark("apply", without, "--yes", "--brief", "--no-verify", expect=2)
        self.uninstall(without)
        self.wait_for_both(before)


class Bridge(AdoptTest):
    def state(self, node):
        return super().state(node) + self.lab.sh(
            node, "cd /sys/class/net; for port in *; do echo $port $(readlink $port/master); done; "
                  "ip -br -4 address show type bridge | awk '{$2 = \"\"; print}'")

    def test_a_bridge_of_an_adopted_file_is_dissolved_until_the_uninstall_makes_it_again(self):
        path = "/etc/netplan/40-bridge.yaml"
        adopt, before = self.leave(path, BRIDGE)
        for node, last in ((1, "enP2p1s0f1np1"), (2, "enp1s0f1np1")):
            self.assertRegex(before[node - 1], rf"(?s){last} \S*br-fabric.*br-fabric +192.168.50.{9 + node}/24")
        run = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=2)
        self.assertIn("is a member of br-fabric, which RDMA bypasses: not expressible; 192.168.177.0/24 is free and takes its place",
                      run.stderr)
        master = "{master: br-fabric, nodes: [spark-1, spark-2]}"
        self.assertIn(f"  - {master}\n", run.stdout)
        manifest = self.manifest(adopt.replace("}]\n", "}, " + master + "]\n"))
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        self.assertIn(f"  > file  {path}: into 60-spark-reconcile.yaml, 2 ports, other addresses and MTU; dissolves br-fabric; {LOST}  ",
                      printed)
        self.cut_off_half_way(manifest, lambda: "br-fabric" not in self.lab.sh(1, "ls /sys/class/net"))
        self.wait_for_both(before, limit_s=60)
        self.apply_and_leave(manifest, before, path)


class Units(AdoptTest):
    def leave_units(self):
        """A unit per port on both nodes, in effect; returns their paths, what `adopt` says of them and the nodes' states."""
        paths = [f"{UNITS}05-cx7-{letter}.network" for letter in "ab"]
        for node in (1, 2):
            for path, port, subnet in zip(paths, RIGHT, (177, 178)):
                self.write(path, UNIT.format(port, subnet, node), node, mode="0640")
                self.lab.sh(node, f"chgrp systemd-network {path}; touch -d @{1700000000 + node}.123456789 {path}")
            self.lab.sh(node, f"networkctl reload; networkctl reconfigure {' '.join(RIGHT)}")
        adopt = "".join(f"  - {{networkd_unit: {path}, nodes: {{"
                        + ", ".join(f"spark-{node}: '{digest(UNIT.format(port, subnet, node))[:12]}'" for node in (1, 2)) + "}}\n"
                        for path, port, subnet in zip(paths, RIGHT, (177, 178)))
        return paths, "adopt:\n" + adopt, test_uninstall.for_both(self.settle)

    def test_units_are_taken_over_and_written_back(self):
        paths, adopt, before = self.leave_units()
        for node in (1, 2):
            self.assertIn(f"192.168.178.{node}/24", before[node - 1])
            self.assertIn(f"{paths[0]} 170000000{node}.1234567890\n", before[node - 1])
        found = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=0).stdout
        for line in adopt.splitlines()[1:]:
            self.assertIn(line.replace("'", ""), found.replace('"', "").splitlines())
        manifest = self.manifest(adopt)
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        lines = re.findall(r"(?m)^  [-+~>!] .*$", printed)
        self.assert_taken_over(lines, *paths)
        for line in lines[:2]:
            self.assertIn(f": unit into 60-spark-reconcile.yaml, 1 port, same addresses and MTU; {LOST}  ", line)
        self.assertIn("\nno changes, 4 files taken over on 2 nodes. 4 links flap; ", printed)

        self.cut_off_half_way(manifest, lambda: not self.lab.sh(1, f"ls {UNITS}"))
        self.wait_for_both(before)

        self.apply_and_leave(manifest, before, *paths)
        self.assertIn(f"Network File: {paths[0]}", self.lab.sh(1, f"networkctl status {RIGHT[0]}"))

    def test_a_unit_that_matches_the_way_to_the_node_blocks_and_says_what_to_take_out(self):
        paths, _, _ = self.leave_units()
        text = UNIT.format("e*", 177, 1)
        self.write(paths[0], text, 1)
        manifest = self.manifest(f"adopt: [{{networkd_unit: {paths[0]}, nodes: {{spark-1: '{digest(text)[:12]}'}}}}]\n")
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        management = "enP7s7"
        self.assertIn(f"  ! file  {paths[0]}: is not adopted: it matches {management} too, which carries this session: take {management} "
                      f"out of its [Match], as with Name={' '.join(sorted(RIGHT))}, and leave another file in effect that configures "
                      f"{management}  ", printed)
        self.spark("apply", manifest, "--only", "netplan", "--yes", "--brief", "--no-verify", expect=2)
        self.assertEqual(self.lab.sh(1, f"cat {paths[0]}"), text)


# Both cables between two nodes.
ALL_PORTS = """network:
  version: 2
  ethernets:
    enp1s0f0np0: {{addresses: [10.1.{3}.{0}/24], mtu: 4000}}
    enP2p1s0f0np0: {{addresses: [10.2.{3}.{0}/24], mtu: 4000}}
    enp1s0f1np1: {{addresses: [10.1.{4}.{0}/24]}}
    enP2p1s0f1np1: {{addresses: [10.2.{4}.{0}/24]}}
"""


class BothCables(AdoptTest):
    """Each node's p0 is cabled to the other's p1, and the manifest has one of the two cables."""

    options = ("--topology", "ring")

    def test_the_cable_that_the_manifest_leaves_out_is_as_after_a_restart(self):
        # The cable of spark-1's p1 is that of spark-2's p0.
        adopt, before = self.leave(GUIDE, ALL_PORTS)
        manifest = self.manifest(adopt, ("topology: direct\n  cage: p1", "links: [[spark-1.p1, spark-2.p0]]"))
        self.apply_and_leave(manifest, before, GUIDE)


class WithoutLinkFiles(AdoptTest):
    def state(self, node):
        """Without udev's files of ports, which are those of the last boot: NetworkManager sets the MTU on its own."""
        return "".join(line for line in super().state(node).splitlines(keepends=True) if ".link " not in line)


class BothCablesOfNetworkManager(WithoutLinkFiles, BothCables):
    options = ("--topology", "ring", "--nm", "all")


class NetworkManager(WithoutLinkFiles):
    options = ("--topology", "direct", "--nm", "all")

    def test_the_file_of_nvidia_sync_is_taken_over_and_written_back(self):
        path = "/etc/netplan/99-nvidia-sync-cluster.yaml"
        # It renames what is in its way.
        renamed = "/etc/netplan/99-fastlink.yaml.sync-disabled-20260801"
        for node in (1, 2):
            self.write(renamed, SYNC.format(node), node)
        self.addCleanup(lambda: [self.lab.sh(node, f"rm {renamed}") for node in (1, 2)])
        adopt, before = self.leave(path, SYNC, ids=(1, 2))
        found = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=0).stdout
        self.assertRegex(found, rf"(?m)^  - {{file: {path}, nodes: {{.*}}}}  # probably written by NVIDIA Sync, which made "
                                r"99-fastlink.yaml.sync-disabled-20260801 of a file in its way$")
        manifest = self.manifest(adopt, ("192.168.177.0/24, 192.168.178.0/24", "10.100.16.0/24, 10.100.17.0/24"))
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        self.assertIn("\nno changes, 2 files taken over on 2 nodes. ", printed)
        self.apply_and_leave(manifest, before, path)

    def active(self):
        """Per node: what is active on its ports."""
        return [sorted(line for line in self.lab.sh(node, "nmcli -t -f NAME,DEVICE connection show --active").splitlines()
                       if line.endswith(RIGHT)) for node in (1, 2)]

    def leave_profiles(self):
        """A profile per port on both nodes, active; returns their files, what `adopt` says of them and the nodes' states."""
        for node in (1, 2):
            for letter, port, subnet, rest in zip("ab", RIGHT, (177, 178), ("ipv6.method disabled", "")):
                self.lab.sh(node, f"nmcli connection add type ethernet con-name cx7-{letter} ifname {port} mtu 9000 "
                                  f"connection.uuid 00000000-0000-4000-8000-00000000000{letter} ipv4.method manual "
                                  f"ipv4.addresses 192.168.{subnet}.{node}/24 connection.autoconnect-priority 10 {rest} && "
                                  f"nmcli connection up cx7-{letter}")
        paths = [self.profile_file(1, f"cx7-{letter}") for letter in "ab"]
        digests = [[self.lab.sh(node, f"sha256sum <{path}")[:12] for node in (1, 2)] for path in paths]
        adopt = "".join(f"  - {{nm_profile: cx7-{letter}, nodes: {{spark-1: '{one}', spark-2: '{two}'}}}}\n"
                        for letter, (one, two) in zip("ab", digests))
        return paths, "adopt:\n" + adopt, test_uninstall.for_both(self.settle)

    def test_profiles_are_taken_over_and_written_back(self):
        paths, adopt, before = self.leave_profiles()
        active = self.active()
        self.assertEqual(active, [[f"cx7-a:{RIGHT[0]}", f"cx7-b:{RIGHT[1]}"]] * 2)
        ipv6 = f"/proc/sys/net/ipv6/conf/{RIGHT[0]}/disable_ipv6"
        self.assertEqual([self.lab.sh(node, f"cat {ipv6}").strip() for node in (1, 2)], ["1", "1"])
        found = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=0)
        self.assertNotIn("not as found", found.stderr)
        for line in adopt.splitlines()[1:]:
            self.assertRegex(found.stdout.replace('"', ""), "(?m)^" + re.escape(line.replace("'", "")) + "($|  # )")
        manifest = self.manifest(adopt)
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        lines = re.findall(r"(?m)^  [-+~>!] .*$", printed)
        self.assert_taken_over(lines, *paths)
        # netplan's text of any profile has settings more.
        kept = "/netplan/" in paths[0]
        for line, lost in zip(lines, (["wakeonlan"] * kept, ["router advertisements", *["dhcp6", "wakeonlan"] * kept])):
            rest = f"; not carried over: {', '.join(lost)}" if lost else ""
            self.assertIn(f" into 60-spark-reconcile.yaml, 1 port, same addresses and MTU{rest}  ", line)
        self.assertIn("\nno changes, 4 files taken over on 2 nodes. 4 links flap; ", printed)

        self.cut_off_half_way(manifest, lambda: "cx7-" not in self.lab.sh(1, "nmcli -t -f NAME connection show"))
        self.wait_for_both(before)
        self.assertEqual(self.active(), active)

        self.apply_and_leave(manifest, before, *paths)
        self.assertEqual(self.active(), active)


if __name__ == "__main__":
    unittest.main()
