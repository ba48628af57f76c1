"""The manifests of guides on nodes fresh from installation: one apply, nothing left to do, and back.

A node of the lab has no apt repository, no storage, no compiler and no GPU, and sets neither net.core.* nor a higher limit of locked memory: these
parts of a manifest are left out here, and have tests of their own. The workstation of one guide is not a Spark, so that its guide is
left out as a whole."""

import pathlib
import re
import unittest

from spark_lab import LabTest

GUIDES = pathlib.Path(__file__).resolve().parents[2] / "manifests" / "guides"
# Keys whose values a lab node cannot have; each is removed with the lines that belong to it.
LEFT_OUT = ("packages", "minimum_versions", "storage", "checks", "gpudirect")
ADDRESSES = ("192.168.1.21", "192.168.1.22")


def for_lab(name):
    """The guide's manifest with what the lab is: its management addresses, its values of kernel settings and limits."""
    text = (GUIDES / f"{name}.yaml").read_text(encoding="utf-8")
    for key in LEFT_OUT:
        text = re.sub(rf"^{key}:.*\n(?:[ ].*\n)*", "", text, flags=re.M)
    addresses = iter(ADDRESSES)
    text = re.sub(r"(\baddress: )[0-9.]+", lambda found: found.group(1) + next(addresses), text)
    text = re.sub(r"^sysctl:\n(?:[ ].*\n)*", "sysctl: {net.ipv4.tcp_mtu_probing: 1}\n", text, flags=re.M)
    text = re.sub(r"^memlock:.*$", "memlock: 4096", text, flags=re.M)
    text = re.sub(r", library: build [^,}]*", "", text)
    return re.sub(r"^verify:.*$", "verify: {level: link}", text, flags=re.M)


class GuideTest(LabTest):
    options = ("--topology", "direct")

    def assert_guide_holds(self, name, port, first, second, mtu):
        """From bare to what the guide ends with, by one apply, and back."""
        manifest = self.written(for_lab(name))
        before = self.lab.sh(1, "cat /etc/hosts; ip -4 -o addr show; ls /etc/netplan")
        self.spark("apply", manifest, "--yes", expect=0)
        self.assert_empty_plan(manifest)
        for node, address in ((1, first), (2, second)):
            shown = self.lab.sh(node, f"ip addr show {port}")
            self.assertIn(f"inet {address}/24", shown)
            self.assertIn(f"mtu {mtu} ", shown)
        self.lab.sh(1, f"ping -c 1 -W 2 -M do -s {mtu - 28} -I {port} {second}")
        self.spark("verify", manifest, expect=0)
        self.spark("uninstall", manifest, "--yes", expect=0)
        self.assertEqual(self.lab.sh(1, "cat /etc/hosts; ip -4 -o addr show; ls /etc/netplan"), before)


class RightCage(GuideTest):
    """Guides whose cable is in the right cage."""

    def test_two_sparks_for_vllm(self):
        self.assert_guide_holds("000-two-sparks-vllm", "enp1s0f1np1", "192.168.177.11", "192.168.177.12", 9000)

    def test_stacked_sparks_with_one_address_per_cage(self):
        self.assert_guide_holds("001-stack-two-sparks", "enP2p1s0f1np1", "192.168.100.10", "192.168.100.11", 1500)


class LeftCage(GuideTest):
    """Guides whose cable is in the left cage."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for node in ("1", "2"):
            cls.lab.lab("swap", node)

    def test_rdma_cluster_with_names_of_its_own(self):
        self.assert_guide_holds("002-rdma-cluster", "enP2p1s0f0np0", "192.168.100.1", "192.168.100.2", 9000)

    def test_direct_fabric_beside_a_storage_network(self):
        self.assert_guide_holds("003-direct-fabric-storage", "enp1s0f0np0", "10.0.0.1", "10.0.0.2", 9000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
