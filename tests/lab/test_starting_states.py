"""Nodes as tools and guides leave them: what discover and plan say of them, the way to us that they name, and the way back."""

import re
import subprocess
import time
import unittest

import test_adopt
from spark_lab import LAB, cluster, speed
from test_adopt import GUIDE, ONE_SUBNET, OURS, RIGHT, digest
from test_uninstall import PORTS

PAIR = cluster("pair.yaml")
BOTH = " and ".join(RIGHT)

# As NVIDIA's guide of 2025-11 leaves it: the first twin of each cage, with an address that it finds on its own.
LINK_LOCAL = """network:
  version: 2
  ethernets:
    enp1s0f0np0:
      link-local: [ ipv4 ]
    enp1s0f1np1:
      link-local: [ ipv4 ]
"""
# As sparkrun leaves it: the host number of the management address, and the first subnets that are free.
SPARKRUN = """network:
  version: 2
  ethernets:
    enp1s0f1np1:
      dhcp4: false
      dhcp6: false
      link-local: []
      mtu: 9000
      addresses: [192.168.0.{0}/24]
    enP2p1s0f1np1:
      dhcp4: false
      dhcp6: false
      link-local: []
      mtu: 9000
      addresses: [192.168.2.{0}/24]
"""
SERVICE = "/etc/systemd/system/rdma-mesh.service"
SCRIPT = "/usr/local/sbin/rdma-mesh.sh"
# As a guide has it: the address is set by a script at boot, which fails where it is there already.
SERVICE_TEXT = f"""[Unit]
Description=Mesh address
After=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={SCRIPT}

[Install]
WantedBy=multi-user.target
"""
# The same as an instance of a template, with a script that calls another.
TEMPLATE = SERVICE.replace(".service", "@.service")
CALLED = "/usr/local/sbin/rdma-address.sh"
TEMPLATE_TEXT = SERVICE_TEXT.replace(f"ExecStart={SCRIPT}", f"ExecStart={SCRIPT} %i")
CALLING_TEXT = f"#!/bin/sh -e\nip link set $1 up\nexec {CALLED} $1\n"
CALLED_TEXT = "#!/bin/sh -e\nip addr add 192.168.66.{0}/24 dev $1\n"
SCRIPT_TEXT = """#!/bin/sh -e
ip link set enp1s0f1np1 up
ip addr add 192.168.66.{0}/24 dev enp1s0f1np1
"""
BRIDGE_FILE = "/etc/netplan/40-bridge.yaml"
BRIDGE = """network:
  version: 2
  ethernets:
    enp1s0f1np1: {{dhcp4: false}}
    enP2p1s0f1np1: {{dhcp4: false}}
  bridges:
    br-fabric:
      interfaces: [enp1s0f1np1]
      parameters: {{stp: false}}
      addresses: [192.168.50.{0}/24]
"""
# A bridge that only `ip` knows, with settings that are not the kernel's usual ones.
LIVE_BRIDGE = """ip link add br-live address 02:00:00:00:00:0{0} type bridge priority 4096 ageing_time 20000
ip link set {1} master br-live up
ip link set br-live mtu 1400 up
ip address add 192.168.60.{0}/24 broadcast + dev br-live"""
SHOW_BRIDGE = """cd /sys/class/net; for port in *; do echo $port $(readlink $port/master); done
ip -d -o link show br-live 2>/dev/null | grep -o 'mtu [0-9]*\\|link/ether [^ ]*\\|priority [0-9]*\\|ageing_time [0-9]*\\|state UP'
ip -br -4 address show dev br-live 2>/dev/null | awk '{print $3}'; true"""
MATCH = """network:
  version: 2
  ethernets:
    fabric:
      match: {{name: enp1s0f1*}}
      addresses: [192.168.50.{0}/24]
"""
VLAN = """network:
  version: 2
  ethernets:
    enp1s0f1np1: {{}}
  vlans:
    fabric.50: {{id: 50, link: enp1s0f1np1, addresses: [192.168.50.{0}/24]}}
"""


class StartingState(test_adopt.AdoptTest):
    """The states, by the letters of the tests' names:

    a  NVIDIA's guide of 2025-11: a link-local address per cage, in 40-cx7.yaml
    e  sparkrun: a subnet per twin, MTU 9000, in 40-cx7.yaml
    f  a guide for one HCA, followed by hand where NetworkManager has the ports: an nmcli profile, a netplan file for the MTU, and
       lines for sysctl and NCCL; and with either manager the service alone that sets an address at boot
    h  live addresses alone
    i  a bridge, a VLAN and a match in netplan files, and a bridge that no file makes; a bond is the same, but not every kernel has one
    j  spark-1 bare, spark-2 as NVIDIA's script of 2026-03 leaves it: both twins in one subnet

    test_adopt has the others: b and c (NVIDIA's script and its guide of July) and d (NVIDIA Sync).
    """

    def setUp(self):
        if self.bare is None:
            type(self).bare = self.settle_both()
        self.addCleanup(self.make_bare)

    def state(self, node):
        """Without the numbers of link-local addresses, which are other ones each time."""
        return re.sub(r"169\.254\.\d+\.\d+", "169.254.X.Y", super().state(node))

    def settle_both(self):
        """As settle, of both nodes at once."""
        last = None
        while (states := [self.state(1), self.state(2)]) != last:
            last = states
            time.sleep(1.5)
        return states

    def wait_until(self, node, condition, limit_s=30):
        self.lab.sh(node, f"for i in $(seq {int(speed.scaled(limit_s))}); do {condition} && exit 0; sleep 1; done; exit 1")

    def on_both(self, script):
        """Runs it on both nodes at once."""
        running = [speed.start([LAB, "sh", "--run", self.lab.run, str(node), script], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True) for node in (1, 2)]
        ended = [(speed.wait(process, 60), process.communicate()[0]) for process in running]
        self.assertEqual([status for status, _ in ended], [0, 0], ended)

    def set_up(self, path, text, ids=(1, 2)):
        """A tool's file on both nodes, in effect."""
        for node, number in zip((1, 2), ids):
            self.write(path, text.format(number, 2 * node - 1, 2 * node), node)
        self.on_both("netplan apply")

    def take_down(self, *paths):
        """The ports as before set_up, or before something was set live, without a restart."""
        self.on_both(f"rm -f {' '.join(paths)}; netplan generate; networkctl reload; for port in {' '.join(PORTS)}; do "
                     "ip -4 address flush dev $port; ip link set $port nomaster down mtu 1500; done")

    def discover(self, expect):
        """The manifest as a file, and what stands on stderr."""
        done = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=expect)
        return self.written(done.stdout), done.stdout, done.stderr

    def printed_plan(self, manifest):
        """The lines about netplan's parts, without the place in the manifest, and all of it."""
        printed = self.spark("plan", manifest, "--only", "netplan", "--brief", expect=0).stdout
        return [re.sub(r"  cluster\.yaml:\d+.*$", "", line).strip() for line in re.findall(r"(?m)^  [-+~>!] .*$", printed)], printed

    def assert_warned(self, manifest, *wanted, nodes=None):
        """All warnings, each as its message and its next step; both nodes have them, or each has those of `nodes`."""
        found = [one for one in self.plan(manifest)["diagnostics"] if one["severity"] == "warns"]
        self.assertEqual([(one["message"], one["next_step"]) for one in found], list(wanted))
        self.assertEqual([one["nodes"] for one in found], nodes or [["spark-1", "spark-2"]] * len(wanted))

    def restart_both(self):
        self.lab.lab("restart", "1")
        self.lab.lab("restart", "2")

    def assert_becomes(self, wanted):
        speed.eventually(lambda: [self.state(1), self.state(2)] == wanted, 20)
        self.assertEqual(self.settle_both(), wanted)

    def assert_lasts(self, manifest, *paths):
        """Ours, and nothing of what was adopted: now, after a re-plug and after a restart."""
        self.assert_adopted(manifest, *paths)
        ours = self.settle_both()
        self.replug()
        self.assert_adopted(manifest, *paths)
        self.restart_both()
        self.assert_becomes(ours)
        self.assert_adopted(manifest, *paths)
        self.spark("verify", manifest, expect=0)

    def assert_way_back(self, manifest, before, after_restart=None):
        """As before: now, and after a restart, where that is not another state."""
        self.uninstall(manifest)
        self.assert_becomes(before)
        self.restart_both()
        self.assert_becomes(after_restart or before)

    service = "rdma-mesh.service"

    def list_service_files(self, node):
        return ((SERVICE, SERVICE_TEXT, "0644"), (SCRIPT, SCRIPT_TEXT.format(node), "0755"))

    def set_up_service(self):
        """The service on both nodes, as it is from the next boot on; returns what `adopt` says of it."""
        entries = []
        for node in (1, 2):
            files = self.list_service_files(node)
            for path, text, mode in files:
                self.write(path, text, node, mode=mode)
            lines = "".join(f"{digest(text)}  {path}\n" for path, text, _ in (files[0], *sorted(files[1:])))
            entries.append(f"spark-{node}: {digest(lines)[:12]}")
        paths = " ".join(path for path, _, _ in files)
        self.on_both(f"systemctl enable --now {self.service}")
        self.addCleanup(lambda: self.on_both(f"systemctl disable --now {self.service}; rm -f {paths}; "
                                             f"ip address flush dev {RIGHT[0]}; ip link set {RIGHT[0]} down"))
        return entries

    def assert_service(self, *states):
        for node in (1, 2):
            shown = self.lab.sh(node, f"systemctl is-enabled {self.service}; systemctl is-active {self.service}; true")
            self.assertEqual(shown.split(), list(states), f"spark-{node}")


class Networkd(StartingState):
    def test_a_link_local_addresses_get_free_subnets_until_the_uninstall(self):
        self.set_up(GUIDE, LINK_LOCAL)
        for node in (1, 2):
            self.wait_until(node, f"ip -br -4 address show dev {RIGHT[0]} | grep -q 169.254")
        before = [self.state(1), self.state(2)]
        manifest, text, errors = self.discover(expect=2)
        self.assertEqual(errors, f"""\
not as found: rail0: spark-1 {RIGHT[0]} has a link-local address only; 192.168.177.0/24 is free and takes its place
not as found: rail1: spark-1 {RIGHT[1]} has no address; 192.168.178.0/24 is free and takes its place
note: spark-1, spark-2: adopting {GUIDE} does not carry over: IPv4 link-local
""")
        self.assertIn(f"  - {{file: {GUIDE}, nodes: {{spark-1: {digest(LINK_LOCAL)[:12]}, ", text)
        lines, _ = self.printed_plan(manifest)
        self.assertEqual(lines[0], f"> file  {GUIDE}: into 60-spark-reconcile.yaml, 1 port, other addresses and MTU; "
                                   "not carried over: IPv4 link-local; no longer configured: enp1s0f0np0")
        self.apply(manifest)
        self.assert_lasts(manifest, GUIDE)
        self.assert_way_back(manifest, before)
        self.take_down(GUIDE)

    def test_e_what_sparkrun_made_is_taken_over_as_it_is_and_again_when_it_runs_again(self):
        same_time = f"touch -d @1700000000.123456789 {GUIDE}"
        self.set_up(GUIDE, SPARKRUN, ids=(21, 22))
        self.on_both(same_time)
        for node in (1, 2):
            self.wait_until(node, f"ip -br -4 address show dev {RIGHT[1]} | grep -q 192.168.2.")
        before = self.settle_both()
        manifest, text, errors = self.discover(expect=0)
        self.assertEqual(errors, "")
        self.assertIn("  - {name: spark-1, address: 192.168.1.21, id: 21}\n  - {name: spark-2, address: 192.168.1.22, id: 22}\n"
                      "fabric:\n  topology: direct               # as found\n  cage: p1\n  mtu: 9000\n  subnets:\n"
                      "    - 192.168.0.0/24\n    - 192.168.2.0/24\n", text)
        lines, printed = self.printed_plan(manifest)
        self.assertEqual(lines[0], f"> file  {GUIDE}: into 60-spark-reconcile.yaml, 2 ports, same addresses and MTU")
        self.assertIn("\nno changes, 2 files taken over on 2 nodes. ", printed)
        self.apply(manifest)
        self.assert_adopted(manifest, GUIDE)
        self.set_up(GUIDE, SPARKRUN, ids=(21, 22))
        self.on_both(same_time)
        self.apply(manifest)
        self.assert_lasts(manifest, GUIDE)
        self.assert_way_back(manifest, before)
        self.take_down(GUIDE)

    def test_f_a_service_that_sets_an_address_at_boot_is_disabled_until_the_uninstall(self):
        entries = self.set_up_service()
        before = self.restart()
        self.assertIn(f"{RIGHT[0]} mtu 1500 flags 1 192.168.66.1/24\n", before[0])
        self.assert_service("enabled", "active")
        found = [one for one in self.plan(PAIR)["diagnostics"] if one["severity"] == "warns"]
        self.assertEqual([(one["nodes"], one["message"]) for one in found],
                         [(["spark-1", "spark-2"],
                           f"rdma-mesh.service runs {SCRIPT}, which configures {RIGHT[0]} again at the next boot")])
        self.assertEqual([one["next_step"].replace('"', "") for one in found],
                         [f"add {{unit: rdma-mesh.service, nodes: {{{', '.join(entries)}}}}} to adopt, or: systemctl disable "
                          "rdma-mesh.service, then plan again"])
        _, text, _ = self.discover(expect=2)
        entry = next(line for line in text.splitlines() if "unit: rdma-mesh.service" in line)
        self.assertEqual(entry.replace('"', ""), f"  - {{unit: rdma-mesh.service, nodes: {{{', '.join(entries)}}}}}")
        manifest = self.manifest(f"adopt:\n{entry}\n")
        lines, printed = self.printed_plan(manifest)
        self.assertEqual([line for line in lines if line.startswith(">")],
                         [f"> unit  rdma-mesh.service: stopped and disabled; {SCRIPT} configures {RIGHT[0]}"])
        self.assertIn("2 units taken over on 2 nodes", printed)
        # An apply that fails.
        broken = self.manifest(f"adopt:\n{entry}\n", ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        self.spark("apply", broken, "--yes", "--brief", "--no-verify", expect=4)
        for node in (1, 2):
            self.wait_for(node, before[node - 1])
        self.assert_service("enabled", "active")
        # One that does not.
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_service("disabled", "inactive")
        self.assert_empty_plan(manifest)
        adopted = [self.settle(node) for node in (1, 2)]
        self.assertEqual(self.restart(), adopted)
        self.assertIn(f"{RIGHT[0]} mtu 9000 flags 1 192.168.177.1/24\n", adopted[0])
        self.assert_service("disabled", "inactive")
        self.assert_empty_plan(manifest)
        # While our file configures the port, it is not started again.
        without = self.spark("plan", PAIR, "--brief", expect=0).stdout
        self.assertEqual(len(re.findall(r"(?m)^  ! unit +rdma-mesh.service: adopt names it no more, .*"
                                        r"blocked \[netplan-adopted-in-use\]$", without)), 1, without)
        self.uninstall(manifest)
        for node in (1, 2):
            self.wait_for(node, before[node - 1])
        self.assert_service("enabled", "active")
        self.assertEqual(self.restart(), before)
        self.assert_service("enabled", "active")

    def test_h_what_is_live_only_is_reported_as_lost_at_a_reboot(self):
        for node in (1, 2):
            for port, subnet in zip(RIGHT, (100, 101)):
                self.lab.sh(node, f"ip link set {port} mtu 9000 up; "
                                  f"ip address add 192.168.{subnet}.{9 + node}/24 broadcast + dev {port}")
        before = self.settle_both()
        manifest, text, errors = self.discover(expect=0)
        notes = [f"the addresses of spark-{node}'s {BOTH} are live only, as no network manager has them: lost at a reboot, "
                 "unless an apply writes them\n" for node in (1, 2)]
        self.assertEqual(errors, "".join("note: " + note for note in notes))
        self.assertTrue(text.endswith("".join("# Note: " + note for note in notes)), text)
        self.assertNotIn("adopt:", text)
        kinds = [(change["change"], change["name"]) for stage in self.plan(manifest)["stages"] for change in stage["changes"]]
        self.assertEqual(kinds, [("add", OURS)] * 2)
        self.apply(manifest)
        self.assert_lasts(manifest)
        self.assertEqual(self.discover(expect=0)[2], "")
        self.assert_way_back(manifest, before, after_restart=self.bare)
        self.take_down()

    def test_i_a_member_of_a_bridge_is_blocked_until_both_the_file_and_the_bridge_are_gone(self):
        port = RIGHT[0]
        self.set_up(BRIDGE_FILE, BRIDGE)
        for node in (1, 2):
            self.wait_until(node, "ip -br -4 address show dev br-fabric | grep -q 192.168.50")
        manifest, text, errors = self.discover(expect=2)
        self.assertEqual(errors, f"""\
not as found: rail0: spark-1 {port} is a member of br-fabric, which RDMA bypasses: not expressible; 192.168.177.0/24 is free and \
takes its place
not as found: rail1: spark-1 {RIGHT[1]} has no address; 192.168.178.0/24 is free and takes its place
""")
        self.assertIn("\n  - {master: br-fabric, nodes: [spark-1, spark-2]}\n", text)
        manifest = self.written(re.sub(r"(?m)^adopt:.*\n(  - .*\n)+", "", text))
        digests = [test_adopt.digest(BRIDGE.format(node))[:12] for node in (1, 2)]
        nodes = ", ".join(f'spark-{node}: "{now}"' for node, now in zip((1, 2), digests))
        self.assert_warned(manifest, (f"{BRIDGE_FILE} configures {', '.join(RIGHT)}",
                                      f"add {{file: {BRIDGE_FILE}, nodes: {{{nodes}}}}} and {{master: br-fabric, nodes: [spark-1, spark-2]}} "
                                      "to adopt, or move it away or remove them from it, then plan again"))
        self.spark("apply", manifest, "--yes", "--brief", expect=2)
        for node in (1, 2):
            self.assertIn("master br-fabric", self.lab.sh(node, f"ip link show dev {port}"))
        self.on_both(f"rm {BRIDGE_FILE}; netplan apply")
        # networkd leaves it there.
        self.assert_warned(manifest, (f"br-fabric has {port} among its members, and no netplan file says so: an apply would cut off "
                                      "what uses br-fabric",
                                      "add {master: br-fabric, nodes: [spark-1, spark-2]} to adopt, or: "
                                      f"ip link set dev {port} nomaster, remove what makes br-fabric at boot, then plan again"))
        self.on_both(f"ip link set dev {port} nomaster; ip link delete br-fabric")
        before = self.settle_both()
        self.apply(manifest)
        self.assert_empty_plan(manifest)
        self.assert_way_back(manifest, before, after_restart=self.bare)
        self.take_down()

    def test_i_a_live_bridge_is_dissolved_until_the_uninstall_makes_it_again(self):
        for node in (1, 2):
            self.lab.sh(node, LIVE_BRIDGE.format(node, RIGHT[0]))
        before = self.settle_both()
        bridges = [self.lab.sh(node, SHOW_BRIDGE) for node in (1, 2)]
        for words in (f"{RIGHT[0]} ../br-live", "mtu 1400", "state UP", "link/ether 02:00:00:00:00:01", "ageing_time 20000",
                      "priority 4096", "192.168.60.1/24"):
            self.assertIn(words, bridges[0])
        manifest, text, errors = self.discover(expect=2)
        self.assertIn(f"not as found: rail0: spark-1 {RIGHT[0]} is a member of br-live, which RDMA bypasses: ", errors)
        self.assertIn("note: spark-1's br-live is live only, as no network manager has it: lost at a reboot\n", errors)
        self.assertIn("\n  - {master: br-live, nodes: [spark-1, spark-2]}\n", text)
        lines, printed = self.printed_plan(manifest)
        self.assertEqual(lines[0], f"> master  br-live: bridge of {RIGHT[0]}, dissolved; it is live only: uninstall makes it again, a "
                                   "restart does not")
        self.assertIn("2 masters taken over on 2 nodes", printed)
        broken = self.manifest("adopt: [{master: br-live, nodes: [spark-1, spark-2]}]\n", ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        self.spark("apply", broken, "--yes", "--brief", "--no-verify", expect=4)
        self.assert_becomes(before)
        self.assertEqual([self.lab.sh(node, SHOW_BRIDGE) for node in (1, 2)], bridges)
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest)
        for node in (1, 2):
            self.assertNotIn("br-live", self.lab.sh(node, SHOW_BRIDGE))
        self.uninstall(manifest)
        self.assert_becomes(before)
        self.assertEqual([self.lab.sh(node, SHOW_BRIDGE) for node in (1, 2)], bridges)
        self.restart_both()
        self.assert_becomes(self.bare)

    def test_i_a_match_and_a_vlan_block_with_what_to_do(self):
        for node, text in ((1, MATCH), (2, VLAN)):
            self.write("/etc/netplan/40-other.yaml", text.format(node), node)
        in_the_way = (f"not as found: spark-1, spark-2: /etc/netplan/40-other.yaml configures {RIGHT[0]}; "
                      "move it away or remove them from it, then plan again\n")
        manifest, text, errors = self.discover(expect=2)
        self.assertTrue(errors.endswith(in_the_way), errors)
        self.assertTrue(text.endswith(f"# N{in_the_way[1:]}"), text)
        self.assertNotIn("adopt:", text)
        self.spark("validate", manifest, expect=0)
        self.assert_warned(PAIR, (f"/etc/netplan/40-other.yaml configures {RIGHT[0]}",
                                  "move it away or remove them from it, then plan again"))
        self.spark("apply", PAIR, "--only", "netplan", "--yes", "--brief", expect=2)
        for node in (1, 2):
            self.lab.sh(node, "rm /etc/netplan/40-other.yaml")

    def test_j_one_end_bare_and_one_as_nvidia_left_it_become_one_cluster(self):
        configured = ONE_SUBNET.format(0, 3, 4)
        self.write(GUIDE, configured, 2)
        self.lab.sh(2, "netplan apply")
        self.wait_until(2, f"ip -br -4 address show dev {RIGHT[1]} | grep -q 192.168.0.4")
        before = self.settle_both()
        manifest, text, errors = self.discover(expect=2)
        self.assertEqual(errors, f"""\
not as found: spark-1's left cage: switched off, so that no cable was found
not as found: spark-1's right cage: switched off, so that no cable was found
not as found: spark-2's left cage: no carrier, so that no cable was found
not as found: spark-2's right cage: a link, but nothing answers, so that no cable was found
not as found: rail0: spark-1 {RIGHT[0]} has no address; the manifest gives it 192.168.0.1
not as found: rail1: 192.168.0.0/24 is another rail's too: not expressible, each rail needs its own subnet; 192.168.177.0/24 is \
free and takes its place: spark-2 {RIGHT[1]} 192.168.0.4 → 192.168.177.3
""")
        self.assertIn("  - {name: spark-1, address: 192.168.1.21}\n  - {name: spark-2, address: 192.168.1.22, id: 3}\n", text)
        self.assertIn(f"  - {{file: {GUIDE}, nodes: {{spark-2: {digest(configured)[:12]}}}}}", text)
        lines, _ = self.printed_plan(manifest)
        self.assertEqual(lines[1:3] + lines[5:], [f"~ link  {RIGHT[0]}: down → up, +192.168.0.1/24",
                                                  f"~ link  {RIGHT[1]}: down → up, +192.168.177.1/24",
                                                  f"~ link  {RIGHT[1]}: -192.168.0.4/24, +192.168.177.3/24"])
        # Without the entry no end is changed.
        without = self.written(re.sub(r"(?m)^adopt:.*\n  - .*\n", "", text))
        self.spark("apply", without, "--yes", "--brief", expect=2)
        self.assertEqual([self.state(1), self.state(2)], before)
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, GUIDE)
        self.assert_way_back(manifest, before)
        self.take_down(GUIDE)


TUNING = "/etc/sysctl.d/90-rdma-tuning.conf"
TUNING_TEXT = "# Mine.\nnet.ipv4.tcp_mtu_probing=2\nvm.swappiness=10\n"
VARIABLES = "/etc/profile.d/nccl-env.sh"
LINES_STATE = f"cat {TUNING} {VARIABLES}; stat -c '%a %U %G %y' {TUNING} {VARIABLES}"
VARIABLES_TEXT = "export NCCL_IB_HCA=roceP2p1s0f1\nexport NCCL_NET_GDR_LEVEL=5\nexport EDITOR=vi\n"
MTU_FILE = "/etc/netplan/90-rdma-mtu.yaml"
MTU = """network:
  version: 2
  ethernets:
    enP2p1s0f1np1:
      renderer: NetworkManager
      mtu: 9000
"""


class NetworkManager(test_adopt.WithoutLinkFiles, StartingState):
    options = ("--topology", "direct", "--nm", "all")

    def make_bare(self):
        """The lab ends with its one test."""

    def test_f_what_was_made_by_hand_is_named_until_it_is_gone(self):
        port = RIGHT[1]
        for node in (1, 2):
            self.write(MTU_FILE, MTU, node)
            self.write(TUNING, TUNING_TEXT, node, mode="0640")
            self.write(VARIABLES, VARIABLES_TEXT, node, mode="0755")
            # With the file's MTU, whichever of the two is active first.
            self.lab.sh(node, f"nmcli connection add type ethernet con-name mesh ifname {port} ipv4.method manual "
                              f"ipv4.addresses 192.168.100.{node}/24 802-3-ethernet.mtu 9000")
        self.on_both(f"netplan apply; for i in $(seq {int(speed.scaled(30))}); do nmcli general >/dev/null 2>&1 && break; sleep 1; done; "
                     "nmcli --wait 15 connection up mesh >/dev/null")
        self.settle_both()
        contradicts = "this is read after /etc/profile.d/60-spark-reconcile-nccl.sh and wins"
        _, text, errors = self.discover(expect=2)
        self.assertEqual(errors, f"""\
not as found: rail0: spark-1 {RIGHT[0]} has no address; 192.168.177.0/24 is free and takes its place
not as found: the first twins have no address, and the manifest gives them some, as advised for full speed; `twins: second` with \
`subnets: [192.168.100.0/24]` keeps what was found
not as found: the ports have the MTUs 1500, 9000; the manifest has 9000
note: spark-1, spark-2: with `nccl: {{}}` in the manifest: {VARIABLES}:1 NCCL_IB_HCA=roceP2p1s0f1: the manifest has \
=rocep1s0f1,roceP2p1s0f1: {contradicts}
note: spark-1, spark-2: with `nccl: {{}}` in the manifest: {VARIABLES}:2 NCCL_NET_GDR_LEVEL=5: the manifest has LOC: {contradicts}
""")
        self.assertIn("  subnets:\n    - 192.168.177.0/24\n    - 192.168.100.0/24\n", text)
        self.assertIn(f"  - {{file: {MTU_FILE}, nodes: {{spark-1: {digest(MTU)[:12]}, spark-2: {digest(MTU)[:12]}}}}}\n", text)
        manifest = self.written(text + "sysctl: {net.ipv4.tcp_mtu_probing: 1}\nnccl: {}\n")
        self.assertRegex(text, r"(?m)^  - \{nm_profile: mesh, nodes: \{spark-1: \S+, spark-2: \S+\}\}")
        lines = f"lines: {TUNING}, match: [net.ipv4.tcp_mtu_probing]"
        tuned = digest(TUNING_TEXT)[:12]
        variables = f"lines: {VARIABLES}, match: [NCCL_IB_HCA, NCCL_NET_GDR_LEVEL]"
        about_nccl = digest(VARIABLES_TEXT)[:12]
        advice = f"add {{{variables}, nodes: {{spark-1: \"{about_nccl}\", spark-2: \"{about_nccl}\"}}}} to adopt, or remove it there"
        both = ["spark-1", "spark-2"]
        self.assert_warned(
            manifest,
            ("sysctl: the next boot sets net.ipv4.tcp_mtu_probing to 2 and not to 1: "
             f"{TUNING} is read after /etc/sysctl.d/60-spark-reconcile.conf",
             f"add {{{lines}, nodes: {{spark-1: \"{tuned}\", spark-2: \"{tuned}\"}}}} to adopt, or remove net.ipv4.tcp_mtu_probing "
             f"from {TUNING}"),
            (f"{VARIABLES}:1 NCCL_IB_HCA=roceP2p1s0f1: the manifest has =rocep1s0f1,roceP2p1s0f1: {contradicts}", advice),
            (f"{VARIABLES}:2 NCCL_NET_GDR_LEVEL=5: the manifest has LOC: {contradicts}", advice),
            nodes=[both] * 3)
        entries = "".join(f"  - {{{one}, nodes: {{spark-1: '{digits}', spark-2: '{digits}'}}}}\n"
                          for one, digits in ((lines, tuned), (variables, about_nccl)))
        manifest = self.written(re.sub(r"(?m)^(adopt:.*\n)", lambda found: found[1] + entries,
                                       text) + "sysctl: {net.ipv4.tcp_mtu_probing: 1}\nnccl: {}\n")
        self.assert_warned(manifest)
        printed = self.spark("plan", manifest, "--brief", expect=0).stdout
        self.assertEqual(printed.count(f" {TUNING}: without 1 line that wins over /etc/sysctl.d/60-spark-reconcile.conf: "
                                       "net.ipv4.tcp_mtu_probing  "), 1, printed)
        before = [self.files(node) for node in (1, 2)]
        tuning = [self.lab.sh(node, LINES_STATE) for node in (1, 2)]
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, MTU_FILE)
        self.assertEqual(self.lab.sh(1, f"cat {TUNING} {VARIABLES}"), "# Mine.\nvm.swappiness=10\nexport EDITOR=vi\n")
        self.on_both("test ! -e /etc/NetworkManager/system-connections/mesh.nmconnection")
        self.uninstall(manifest)
        # Which of the two profiles of this port is active then is NetworkManager's choice: they have one priority.
        self.assertEqual([self.files(node) for node in (1, 2)], before)
        self.assertEqual([self.lab.sh(node, LINES_STATE) for node in (1, 2)], tuning)

    def files(self, node):
        return [line for line in self.state(node).splitlines() if line.startswith("/")]


class ServiceOfNetworkManager(test_adopt.WithoutLinkFiles, StartingState):
    """With an instance of a template, and a script that calls another."""

    options = ("--topology", "direct", "--nm", "all")
    service = f"rdma-mesh@{RIGHT[0]}.service"

    def make_bare(self):
        """The lab ends with its one test."""

    def list_service_files(self, node):
        return ((TEMPLATE, TEMPLATE_TEXT, "0644"), (SCRIPT, CALLING_TEXT, "0755"), (CALLED, CALLED_TEXT.format(node), "0755"))

    def test_f_a_service_that_sets_an_address_at_boot_brings_none_back_until_the_uninstall(self):
        entries = self.set_up_service()
        self.restart_both()
        before = self.settle_both()
        self.assertIn(f"{RIGHT[0]} mtu 1500 flags 1 192.168.66.1/24\n", before[0])
        _, text, _ = self.discover(expect=2)
        entry = next(line for line in text.splitlines() if f"unit: {self.service}" in line)
        self.assertEqual(entry.replace('"', ""), f"  - {{unit: {self.service}, nodes: {{{', '.join(entries)}}}}}")
        manifest = self.manifest(f"adopt:\n{entry}\n")
        lines, _ = self.printed_plan(manifest)
        self.assertEqual([line for line in lines if line.startswith(">")],
                         [f"> unit  {self.service}: stopped and disabled; {CALLED} configures {RIGHT[0]}"])
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_service("disabled", "inactive")
        self.assert_lasts(manifest)
        for node in (1, 2):
            self.assertIn(f"{RIGHT[0]} mtu 9000 flags 1 192.168.177.{node}/24\n", self.state(node))
        self.assert_service("disabled", "inactive")
        self.assert_way_back(manifest, before)
        self.assert_service("enabled", "active")


if __name__ == "__main__":
    unittest.main()
