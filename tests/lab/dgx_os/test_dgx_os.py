"""Nodes as DGX OS ships them: NetworkManager has every port by way of netplan and keeps profiles there, ufw and Docker's rules are
active, and the management address is a lease."""

import hashlib
import os
import re
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nccl_nodes import LIBRARIES, MANIFEST, Gpus, NcclLab  # noqa: E402
from spark_lab import LAB, cluster, speed  # noqa: E402

PAIR = cluster("pair.yaml")
PORT = "enp1s0f1np1"
# Live state, files and rules; not what a lease or a profile's use changes on its own.
STATE = r"""for port in enP7s7 enp1s0f0np0 enp1s0f1np1 enP2p1s0f0np0 enP2p1s0f1np1; do
  echo "$port $(cat /sys/class/net/$port/mtu) $(ip -o -4 address show dev $port | grep -o 'inet [^ ]*')"
done
find /etc/netplan /usr/lib/netplan /etc/hosts /etc/sysctl.d /etc/ufw /etc/NetworkManager -xdev -type f -exec sha256sum {} + | sort
find /etc/netplan /run/NetworkManager/system-connections -type f -printf '%m %u %p\n' | sort
iptables-save | grep -v '^#' | sed 's/\[[0-9:]*\]//'; ip6tables-save | grep -v '^#' | sed 's/\[[0-9:]*\]//'
cat /proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore /proc/sys/net/ipv4/ip_forward
nmcli -t -f NAME connection show | sort"""


class DgxOs(NcclLab):
    """Tests run in the order of their names."""

    options = ("--topology", "direct", "--like", "dgx-os")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.before = [cls.lab.sh(node, STATE) for node in (1, 2)]

    def test_1_the_nodes_are_as_delivered(self):
        for node in (1, 2):
            self.assertIn("Status: active", self.lab.sh(node, "ufw status"))
            self.assertIn("-P INPUT DROP\n-P FORWARD DROP\n", self.lab.sh(node, "iptables -S"))
            self.assertIn("proto dhcp", self.lab.sh(node, "ip route show default"))
            self.assertIn(f"{PORT}:", self.lab.sh(node, "nmcli -t -f DEVICE,STATE device"))
            self.assertNotIn("unmanaged", self.lab.sh(node, "nmcli -t -f DEVICE,STATE device | grep np"))

    def test_2_they_are_found_as_they_are(self):
        # The address of docker0 comes first, since that of the management port waits for a lease.
        announced = "avahi-browse --parsable --resolve --terminate _ssh._tcp | cut -d';' -f8 | grep '^192\\.168\\.1\\.' | sort -u"
        speed.wait_until(lambda: self.lab.sh(1, announced) == "192.168.1.21\n192.168.1.22\n", 20, "both nodes announced by mDNS")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cluster.yaml")
            done = self.discover_by_mdns(folder, path)
            plan = self.plan(path)
        for node in (1, 2):
            self.assertRegex(done.stderr, rf"(?m)^  spark-{node}  192\.168\.1\.2{node}\b")
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual({change[1] for change in self.changes(plan)} - {"link"}, {"file"})

    def discover_by_mdns(self, folder, path):
        """What spark-1's avahi hears, as the controller has no avahi of its own."""
        with open(os.path.join(folder, "avahi-browse"), "w", encoding="utf-8") as wrapper:
            wrapper.write(f"#!/bin/sh\nexec {LAB} sh --run {self.lab.run} 1 avahi-browse \"$@\"\n")
        os.chmod(wrapper.name, 0o755)
        with mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
            return self.spark("discover", "--mdns", "-o", path, expect=2)

    def test_3_an_apply_is_verified_and_the_next_plan_empty(self):
        plan = self.plan(PAIR)
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual([one for one in plan["diagnostics"] if one["severity"] != "informs"], [])
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(PAIR)
        self.spark("verify", PAIR, expect=0)

    def test_4_a_revert_leaves_profiles_and_lease(self):
        show = ("ip -o -4 address show dev enP7s7; ip -4 route show dev enP7s7; cat /sys/class/net/e*/mtu; "
                "nmcli -t -f NAME,DEVICE connection show --active | sort; ip -br -4 address | awk '{print $1, $3}'")
        before = [self.lab.sh(node, show) for node in (1, 2)]
        fails = self.variant_of(PAIR, ("ExecStart=/bin/true", "ExecStart=/bin/false"), ("mtu: 9000", "mtu: 1500"))
        self.spark("apply", fails, "--yes", "--brief", expect=4)
        self.assertEqual([self.without_lease_time(self.lab.sh(node, show)) for node in (1, 2)],
                         [self.without_lease_time(one) for one in before])
        self.assert_empty_plan(PAIR)

    @staticmethod
    def without_lease_time(text):
        return re.sub(r"_lft \d+sec", "_lft some", text)

    def test_4_the_ports_stay_ours_after_a_replug(self):
        self.lab.lab("cut", "1", PORT)
        time.sleep(8)  # longer than NetworkManager waits before it takes a port for unplugged
        self.lab.lab("reconnect", "1", PORT)
        speed.wait_until(lambda: not self.changes(self.plan(PAIR)), 20, "the port as it was before the re-plug")

    def test_4_what_is_ours_is_there_after_a_restart(self):
        for node in ("1", "2"):
            self.lab.lab("restart", node)
        speed.wait_until(lambda: not self.changes(self.plan(PAIR)), 20, "the ports as they were before the restart")
        self.assert_empty_plan(PAIR)
        self.spark("verify", PAIR, expect=0)

    def test_5_what_ufw_denies_to_nccl_is_named(self):
        Gpus(self.lab, (1, 2))
        self.addCleanup(self.spark, "apply", PAIR, "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.addCleanup(self.lab.sh, node, f"ufw delete allow from 192.168.1.{23 - node}; rm {LIBRARIES}/libnccl.so.2 "
                                               f"{LIBRARIES}/libcuda.so.1 /etc/fake-gpu.conf; ldconfig")
        self.spark("apply", MANIFEST, "--yes", "--brief", "--no-verify", expect=0)
        notes = [(one["nodes"], one["next_step"]) for one in self.plan(MANIFEST)["diagnostics"] if one["code"] == "nccl-firewall"]
        self.assertEqual(notes, [(["spark-1"], "ufw allow from 192.168.1.22"), (["spark-2"], "ufw allow from 192.168.1.21")])
        finding = self.finding(self.verify(), "firewall", ["spark-1", "spark-2"])
        self.assertEqual(finding["cause"], "the ranks wait for each other (init), as where a firewall drops what one sends: one is in force "
                                           "on spark-1, spark-2")
        # What it says to do.
        for node in (1, 2):
            self.lab.sh(node, f"ufw allow from 192.168.1.{23 - node}")
        self.assertEqual(self.verify(expect=0)["findings"], [])
        self.assertNotIn("nccl-firewall", self.spark("plan", MANIFEST, expect=0).stdout)

    def test_5_ufw_lets_the_fabric_in_where_the_manifest_wants_it(self):
        rules = r"iptables-save | grep -v '^#' | sed 's/\[[0-9:]*\]//'; ufw status numbered; cat /etc/ufw/user.rules"
        before = [self.lab.sh(node, rules) for node in (1, 2)]
        # Nothing listens there: what is let in is refused, and what is not let in gets no answer.
        probe = "timeout 3 bash -c 'exec 3<>/dev/tcp/192.168.177.1/47001' 2>&1 || true"
        self.assertNotIn("refused", self.lab.sh(2, probe))
        manifest = self.variant_of(PAIR, ("verify:", "firewall: {allow_fabric: true}\nverify:"))
        self.spark("apply", manifest, "--yes", "--brief", expect=0)
        self.assert_empty_plan(manifest)
        self.assertIn("refused", self.lab.sh(2, probe))
        self.lab.sh(1, "ufw reload")
        self.assertIn("refused", self.lab.sh(2, probe))
        # Rules of a ufw that was removed since are nothing to delete.
        self.lab.sh(1, "mv /usr/sbin/ufw /root")
        said = self.spark("plan", PAIR, expect=0).stdout
        self.assertIn("note: spark-1: firewall: rules of ufw are not deleted: it is not installed any more", said)
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(PAIR)
        self.lab.sh(1, f"mv /root/ufw /usr/sbin; for rule in '{PORT} from 192.168.177.0/24' 'enP2p1s0f1np1 from 192.168.178.0/24'; do "
                       "ufw delete allow in on $rule; done")
        self.assertEqual([self.lab.sh(node, rules) for node in (1, 2)], before)

    def test_6_a_profile_that_networkmanager_keeps_in_netplan_blocks_until_it_is_switched_off(self):
        path = "/etc/netplan/90-NM-11111111-2222-3333-4444-555555555555.yaml"
        text = f"""network:
  version: 2
  ethernets:
    NM-11111111-2222-3333-4444-555555555555:
      renderer: NetworkManager
      match: {{name: {PORT}}}
      addresses: [10.69.0.1/24]
      networkmanager:
        uuid: 11111111-2222-3333-4444-555555555555
        name: cx7
        passthrough:
          connection.autoconnect-priority: "10"
"""
        self.lab.sh(1, f"umask 077; cat >{path} <<'END'\n{text}END")
        try:
            warned = [one for one in self.plan(PAIR)["diagnostics"] if one["severity"] == "warns"]
            self.assertEqual([(one["nodes"], one["code"], one["next_step"]) for one in warned],
                             [(["spark-1"], "netplan-foreign-profile",
                               f'add {{nm_profile: cx7, nodes: {{spark-1: "{hashlib.sha256(text.encode()).hexdigest()[:12]}"}}}} to adopt, '
                               "or: nmcli connection modify cx7 connection.autoconnect no, then plan again")])
            self.assertEqual(warned[0]["message"], f"cx7 ({path}) connects {PORT} automatically, priority 10 (ours 0): it comes back "
                                                   "at the next boot or re-plug")
            # What the plan says is true.
            self.lab.lab("restart", "1")
            speed.wait_until(lambda: "10.69.0.1" in self.lab.sh(1, f"ip -4 -o address show dev {PORT}"), 20, "the other profile's address")
            # As Ubuntu's NetworkManager writes the file when that advice is followed.
            self.lab.sh(1, f"echo '          connection.autoconnect: \"false\"' >>{path}")
            self.lab.lab("restart", "1")
            speed.wait_until(lambda: not self.changes(self.plan(PAIR)), 20, "the port as the manifest has it")
            self.assert_empty_plan(PAIR)
        finally:
            self.lab.sh(1, f"rm -f {path}; netplan generate; nmcli connection reload")

    def test_7_uninstall_leaves_them_as_delivered(self):
        self.spark("uninstall", PAIR, "--yes", expect=0)
        for node in (1, 2):
            speed.eventually(lambda node=node: self.lab.sh(node, STATE) == self.before[node - 1], 20)
            self.assertEqual(self.lab.sh(node, STATE), self.before[node - 1])
        for node in ("1", "2"):
            self.lab.lab("restart", node)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, STATE), self.before[node - 1])


if __name__ == "__main__":
    unittest.main()
