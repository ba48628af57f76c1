"""A pair whose last rail has link-local addresses: which one a node takes is not known beforehand."""

import json
import os
import re
import sys
import time
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nccl_nodes import MANIFEST as NCCL  # noqa: E402
from nccl_nodes import Gpus, NcclLab  # noqa: E402
from spark_lab import LabTest, cluster, speed  # noqa: E402

PAIR = cluster("pair.yaml")
BOTH = ("subnets: [192.168.177.0/24, 192.168.178.0/24]", "link_local: true\n  subnets: [192.168.177.0/24]")
FIRST = ("subnets: [192.168.177.0/24, 192.168.178.0/24]", "link_local: true\n  twins: first\n  subnets: []")
# discover writes none.
NO_ALIASES = (", aliases: [spark-02-mesh]", "")
RIGHT = ("enp1s0f1np1", "enP2p1s0f1np1")
# What an uninstall brings back.
STATE = f"""cat /etc/hosts; ls /etc/netplan
for port in {' '.join(RIGHT)}; do
  echo "$port $(cat /sys/class/net/$port/mtu) $(($(cat /sys/class/net/$port/flags) & 1))" $(ip -br -4 addr show dev $port)
done"""


class LinkLocalTest(LabTest):
    """Tests run in the order of their names; each leaves the pair converged, the last one as it was."""

    options = ("--topology", "direct")
    edit = BOTH
    port = RIGHT[1]
    rail = "rail1"

    def setUp(self):
        self.manifest = self.variant_of(PAIR, self.edit, NO_ALIASES)

    def addresses(self, node):
        return re.findall(r"inet ([0-9.]+/[0-9]+)", self.lab.sh(node, f"ip -4 addr show {self.port}"))

    def assert_has_one(self, node):
        [address] = self.addresses(node)
        self.assertRegex(address, r"^169\.254\.[0-9]+\.[0-9]+/16$")
        return address

    def wait_for_addresses(self):
        """After a restart, which takes the carrier from the other node too: for as long as nodes may look whether an address is
        free."""
        end = time.monotonic() + speed.scaled(30)
        while not (self.addresses(1) and self.addresses(2)) and time.monotonic() < end:
            time.sleep(0.5)

    def verified(self, expect):
        return json.loads(self.spark("verify", self.manifest, "--format", "json", expect=expect).stdout)

    def check_1_apply_converges_and_verify_finds_the_neighbour(self):
        type(self).before = [self.lab.sh(node, STATE) for node in (1, 2)]
        plan = self.plan(self.manifest)
        [change] = [change for stage in plan["stages"] for change in stage["changes"]
                    if (change["node"], change["kind"], change["name"]) == ("spark-1", "link", self.port)]
        self.assertIn("+link-local", change["detail"])
        self.spark("apply", self.manifest, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(self.manifest)
        for node in (1, 2):
            self.assert_has_one(node)
            self.assertIn("mtu 9000", self.lab.sh(node, f"ip link show {self.port}"))
            self.assertNotIn(f"-{self.rail}", self.lab.sh(node, "cat /etc/hosts ~nvidia/.ssh/config"))
        report = self.verified(0)
        self.assertEqual(report["findings"], [])
        pings = {(check["from"], check["to"], check["outcome"]) for check in report["checks"]
                 if check["level"] == "ping" and check["rail"] == self.rail}
        self.assertEqual(pings, {("spark-1", "spark-2", "pass"), ("spark-2", "spark-1", "pass")})
        other = self.assert_has_one(2).split("/")[0]
        self.lab.sh(1, f"ping -c 1 -W 2 -M do -s 8972 -I {self.port} {other}")

    def check_2_another_link_local_address_is_no_drift_and_none_is(self):
        self.assert_has_one(1)
        self.lab.sh(1, f"ip -4 addr flush dev {self.port}; ip addr add 169.254.77.78/16 dev {self.port}")
        self.spark("drift", self.manifest, expect=0)
        self.lab.sh(1, f"ip -4 addr flush dev {self.port}")
        drift = json.loads(self.spark("drift", self.manifest, "--format", "json", expect=2).stdout)
        self.assertEqual(self.changes(drift), [("spark-1", "link", self.port)])
        [finding] = self.verified(6)["findings"]
        self.assertEqual((finding["code"], finding["nodes"], finding["rails"]), ("address-missing", ["spark-1"], [self.rail]))
        self.spark("apply", self.manifest, "--yes", expect=0)
        self.assert_has_one(1)
        self.assert_empty_plan(self.manifest)

    def check_3_a_neighbour_that_does_not_answer_is_found(self):
        switch = f"/proc/sys/net/ipv6/conf/{self.port}/disable_ipv6"
        self.lab.sh(2, f"echo 1 >{switch}")
        self.addCleanup(self.lab.sh, 2, f"echo 0 >{switch}")
        [finding] = self.verified(6)["findings"]
        self.assertEqual((finding["code"], finding["rails"], finding["explains"]), ("no-path", [self.rail], 2))

    def check_4_a_restart_keeps_it(self):
        self.lab.lab("restart", "1")
        self.wait_for_addresses()
        self.assert_empty_plan(self.manifest)
        self.assertEqual(self.verified(0)["findings"], [])

    def check_5_an_uninstall_leaves_what_was_there(self):
        self.spark("uninstall", self.manifest, "--yes", expect=0)
        self.assertEqual([self.lab.sh(node, STATE) for node in (1, 2)], self.before)


class SecondTwin(LinkLocalTest):
    """The first twin has a subnet, as in guides with one address for each node."""

    def test_1_discover_writes_what_is_there(self):
        found = self.spark("discover", "192.168.1.21", "192.168.1.22", expect=0)
        self.assertEqual(found.stderr, "")
        self.assertIn("  link_local: true               # as found, of the last rail; a subnet is advised\n"
                      "  subnets:\n    - 192.168.177.0/24\n", found.stdout)
        self.assertEqual(self.plan(self.written(found.stdout), "--only", "netplan")["stages"], [])

    test_1 = LinkLocalTest.check_1_apply_converges_and_verify_finds_the_neighbour
    test_2 = LinkLocalTest.check_2_another_link_local_address_is_no_drift_and_none_is
    test_3 = LinkLocalTest.check_3_a_neighbour_that_does_not_answer_is_found
    test_4 = LinkLocalTest.check_4_a_restart_keeps_it
    test_5 = LinkLocalTest.check_5_an_uninstall_leaves_what_was_there


class NoSubnetAtAll(LinkLocalTest):
    """One twin of each cage, as in the guide whose file says nothing but `link-local: [ipv4]`."""

    edit = FIRST
    port = RIGHT[0]
    rail = "rail0"
    test_1 = LinkLocalTest.check_1_apply_converges_and_verify_finds_the_neighbour
    test_5 = LinkLocalTest.check_5_an_uninstall_leaves_what_was_there


class NetworkManagerBesideNetworkd(LinkLocalTest):
    """Each manager chooses an address in its own way."""

    options = ("--topology", "direct", "--nm", "1")
    test_1 = LinkLocalTest.check_1_apply_converges_and_verify_finds_the_neighbour
    test_2 = LinkLocalTest.check_2_another_link_local_address_is_no_drift_and_none_is
    test_4 = LinkLocalTest.check_4_a_restart_keeps_it
    test_5 = LinkLocalTest.check_5_an_uninstall_leaves_what_was_there


class NcclOverIt(NcclLab):
    """With the libraries that need no GPU."""

    options = ("--topology", "direct")

    def test_the_ranks_meet_and_use_both_rails(self):
        Gpus(self.lab, (1, 2))
        manifest = self.variant_of(NCCL, BOTH)
        done = self.spark("apply", manifest, "--yes", expect=0)
        self.assertIn("nccl 2.28.9+cuda13.0, 2 ranks over RDMA\n", done.stdout)
        variables = self.lab.sh(1, "cat /etc/spark-reconcile/nccl.env")
        self.assertIn("\nNCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1\n", variables)


del LinkLocalTest  # its checks are those of the classes above


if __name__ == "__main__":
    unittest.main()
