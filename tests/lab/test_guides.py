"""The manifests of guides on nodes fresh from installation: one apply, the end state of the guide, nothing left to do, and back.

A node of the lab has no apt repository, no storage, no compiler and no GPU, and sets neither net.core.* nor a higher limit of locked
memory: these parts of a manifest are left out or replaced here, and have tests of their own. The workstation's card is where the
built-in profile has it."""

import json
import pathlib
import re
import unittest

from spark_lab import LabTest

GUIDES = pathlib.Path(__file__).resolve().parents[2] / "manifests" / "guides"
# Keys whose values a lab node cannot have; each is removed with the lines that belong to it.
LEFT_OUT = ("packages", "storage", "hardware")
ADDRESSES = ("192.168.1.21", "192.168.1.22")
MANAGEMENT = "enP7s7"
# What an uninstall leaves as it was, of files that are ours and of others, and of all interfaces.
STATE = """cat /etc/hosts; ip -4 -o addr show | sed 's/ metric [0-9]*//'; ip -o link show | sed 's/^[0-9]*: //; s/ qdisc .*//'
find /etc/netplan /etc/sysctl.d /etc/security /etc/profile.d /etc/systemd/system /etc/modules-load.d -type f | sort
ls -d /etc/spark-reconcile /var/lib/spark-reconcile 2>/dev/null; true"""
# Where no CUDA is installed: what its version is read from.
CUDA_FILE = "/usr/local/cuda/version.json"
CUDA = '{"cuda": {"name": "CUDA SDK", "version": "13.0.1"}}'

# What a program or a person finds on a node at the end of the guide: a command, and what it prints.
VARIABLE = 'bash -lc "printenv {}; true"'
MTU = "cat /sys/class/net/{}/mtu"
IS_UP = "echo $(($(cat /sys/class/net/{}/flags) & 1))"
END_STATES = {
    "000-two-sparks-vllm": (
        (MTU.format("enP2p1s0f1np1"), "9000"),
        ("ip -4 -br addr show dev enP2p1s0f1np1 | grep -o 169.254", "169.254"),
        (VARIABLE.format("NCCL_IB_HCA"), "=rocep1s0f1,roceP2p1s0f1"),
        (VARIABLE.format("NCCL_SOCKET_IFNAME"), "=enp1s0f1np1"),
        (VARIABLE.format("OMPI_MCA_btl_tcp_if_include"), "enp1s0f1np1"),
    ),
    "001-stack-two-sparks": (
        ("ip -4 -br addr show dev enp1s0f1np1", ""),
        (VARIABLE.format("NCCL_PROTO"), "Simple"),
    ),
    "002-rdma-cluster": (
        ("getent hosts spark-02-mesh", "192.168.100.2   spark-02-rail0 spark-02-mesh"),
        ("ssh -n spark-02-mesh true && echo in", "in"),
        (IS_UP.format("enp1s0f1np1"), "0"),
        (IS_UP.format("enP2p1s0f1np1"), "0"),
        (VARIABLE.format("NCCL_SOCKET_IFNAME"), "=enP2p1s0f0np0"),
    ),
    "003-direct-fabric-storage": (
        (VARIABLE.format("NCCL_NET_GDR_LEVEL"), "LOC"),
        (VARIABLE.format("NCCL_ALGO"), "Ring"),
        (VARIABLE.format("NCCL_IB_TIMEOUT"), "22"),
        (VARIABLE.format("NCCL_IB_GID_INDEX"), "3"),
        (MTU.format(MANAGEMENT), "1500"),
    ),
    "004-spark-and-workstation": (
        (MTU.format("enp1s0f0np0"), "9000"),
        (VARIABLE.format("UCX_NET_DEVICES"), "rocep1s0f0:1,enp1s0f0np0"),
    ),
}


def for_lab(name):
    """The guide's manifest with what the lab is: its management addresses, its values of kernel settings and limits."""
    text = (GUIDES / f"{name}.yaml").read_text(encoding="utf-8")
    for key in LEFT_OUT:
        text = re.sub(rf"^{key}:.*\n(?:[ ].*\n)*", "", text, flags=re.M)
    addresses = iter(ADDRESSES)
    text = re.sub(r"(\baddress: )[0-9.]+", lambda found: found.group(1) + next(addresses), text)
    text = re.sub(r"path: [0-9.]+, mtu: 9000", "path: 192.168.1.1, mtu: 1500", text)
    text = re.sub(r"^sysctl:\n(?:[ ].*\n)*", "sysctl: {net.ipv4.tcp_mtu_probing: 1}\n", text, flags=re.M)
    text = re.sub(r"^memlock:.*$", "memlock: 4096", text, flags=re.M)
    text = re.sub(r", library: build [^,}]*", "", text)
    text = re.sub(r"^    gpudirect:.*\n", "", text, flags=re.M)  # of a node with a driver
    return re.sub(r"^verify:.*$", "verify: {level: link}", text, flags=re.M)


class GuideTest(LabTest):
    options = ("--topology", "direct")

    def assert_guide_holds(self, name, port, first, second, mtu):
        """From bare to what the guide ends with, by one apply, and back."""
        text = for_lab(name)
        manifest = self.written(text)
        for node in (1, 2):
            self.lab.sh(node, f"mkdir -p /usr/local/cuda && printf '%s' '{CUDA}' >{CUDA_FILE}")
        before = [self.lab.sh(node, STATE) for node in (1, 2)]
        self.addCleanup(self.lab.spark, "uninstall", manifest, "--yes")  # where the test fails
        self.spark("apply", manifest, "--yes", expect=0)
        self.assert_empty_plan(manifest)
        for node, address in ((1, first), (2, second)):
            shown = self.lab.sh(node, f"ip addr show {port}")
            self.assertIn(f"inet {address}/24", shown)
            self.assertIn(f"mtu {mtu} ", shown)
        self.lab.sh(1, f"ping -c 1 -W 2 -M do -s {mtu - 28} -I {port} {second}")
        for command, wanted in END_STATES[name]:
            self.assertEqual(self.lab.lab("ssh", "1", command).stdout.strip(), wanted, command)
        report = json.loads(self.spark("verify", manifest, "--format", "json", expect=0).stdout)
        if "\nchecks:" in text:
            self.assertIn("192.168.1.1", json.dumps(report["checks"]))
        self.spark("uninstall", manifest, "--yes", expect=0)
        self.assertEqual([self.lab.sh(node, STATE) for node in (1, 2)], before)


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

    def test_a_spark_and_a_workstation(self):
        self.assert_guide_holds("004-spark-and-workstation", "enp1s0f0np0", "192.168.200.1", "192.168.200.2", 9000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
