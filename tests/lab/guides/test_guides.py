"""The manifests of guides on nodes fresh from installation: one apply, what each step of the guide leaves (steps.py), nothing left to do,
and back.

A manifest is applied as it is, but for what is named here: a container has no NVMe over TCP (vm.test_guide_storage has), sets neither net.core.*
nor a higher limit of locked memory, and has no RDMA and no GPU, so that `verify` ends with the links. apt and dpkg are real and install
packages of these names that are empty. **The build of NCCL is not run on hardware**: git, make, g++, nvcc and nvidia-smi are scripts that
stand in (stand_ins), which compile nothing; what calls them, and what becomes of their library, is real. Of the workstation, the names of
its ports are real, and its driver and its modules stand in."""

import base64
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from nodes.local_apt import INSTALLED, Package, repository  # noqa: E402
from nodes.stand_in_modules import DRIVER, MODULES, NONE  # noqa: E402
from spark_lab import LabTest, speed  # noqa: E402
from steps import CUDA, CUDA_FILE, STEPS, returns_to_start  # noqa: E402

GUIDES = HERE.parents[2] / "manifests" / "guides"
ADDRESSES = ("192.168.1.21", "192.168.1.22")
# What an uninstall leaves as it was, of files that are ours and of others, and of all interfaces.
STATE = f"""cat /etc/hosts; ip -4 -o addr show | sed 's/ metric [0-9]*//'; ip -o link show | sed 's/^[0-9]*: //; s/ qdisc .*//'
find /etc/netplan /etc/sysctl.d /etc/security /etc/profile.d /etc/systemd/system /etc/modules-load.d /etc/ld.so.conf.d /opt -type f -o -type l | sort
ls -d /etc/spark-reconcile /var/lib/spark-reconcile /usr/local/lib/spark-reconcile 2>/dev/null
ldconfig -p | grep nccl; {INSTALLED}; cat /home/nvidia/.ssh/config /home/nvidia/.ssh/authorized_keys /home/nvidia/.ssh/known_hosts 2>/dev/null; true"""


def stand_in(name):
    return (HERE / "stand_ins" / name).read_text(encoding="utf-8")


# All that the guides list, where Debian's names have a relation: libnccl-dev brings nothing, and libopenmpi-dev its library.
PACKAGES = (
    Package("git", programs={"/usr/bin/git": stand_in("git")}),
    Package("build-essential", depends="make, g++"), Package("make", programs={"/usr/bin/make": stand_in("make")}),
    Package("g++", programs={"/usr/bin/g++": stand_in("g++")}),
    Package("libopenmpi3"), Package("libopenmpi-dev", depends="libopenmpi3"), Package("openmpi-bin", depends="libopenmpi3"),
    Package("libnccl2", "2.28.9-1"), Package("libnccl-dev", "2.28.9-1", "libnccl2 (= 2.28.9-1)"), Package("nvme-cli"),
    # As new as the node's own rdma-core, which an older one would break.
    *(Package(name, "60.0-1") for name in ("ibverbs-utils", "rdmacm-utils", "libibmad5", "infiniband-diags")),
    Package("perftest"), Package("mstflint"))
# What a program finds in a libnccl, and no code.
LIBRARY = 'const char names[] = "NCCL version 2.28.3\\0NCCL_ALGO\\0NCCL_DEBUG\\0NCCL_IB_HCA\\0NCCL_NET_GDR_LEVEL\\0NCCL_SOCKET_IFNAME";'
# The workstation's names for the ports of the Spark that stands in for it.
RENAMED = (("enp1s0f0np0", "enp3s0f0np0"), ("enp1s0f1np1", "enp3s0f1np1"))


def with_addresses(name):
    """The guide's manifest with the lab's management addresses."""
    addresses = iter(ADDRESSES)
    text = (GUIDES / f"{name}.yaml").read_text(encoding="utf-8")
    return re.sub(r"(\baddress: )[0-9.]+", lambda found: found.group(1) + next(addresses), text, count=len(ADDRESSES))


def for_containers(name):
    """Without its storage, and with values of kernel settings and limits that a container can set."""
    text = re.sub(r"^storage:.*\n(?:[ ].*\n)*", "", with_addresses(name), flags=re.M)
    text = re.sub(r"path: [0-9.]+, mtu: 9000", "path: 192.168.1.1, mtu: 1500", text)
    text = re.sub(r"^sysctl:\n(?:[ ].*\n)*", "sysctl: {net.ipv4.tcp_mtu_probing: 1}\n", text, flags=re.M)
    text = re.sub(r"^memlock:.*$", "memlock: 4096", text, flags=re.M)
    return re.sub(r"^verify:.*$", "verify: {level: link}", text, flags=re.M)


def compile_library():
    """A library with the soname of NCCL's, and nothing else that a loader looks for."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "libnccl.so")
        speed.run(["cc", "-shared", "-nostdlib", "-Wl,-soname,libnccl.so.2", "-x", "c", "-", "-o", path], 60, input=LIBRARY, text=True, check=True)
        with open(path, "rb") as file:
            return base64.b64encode(file.read()).decode()


class GuideTest(LabTest):
    options = ("--topology", "direct")
    path = ("192.168.1.1", 1500)
    gid_index = "3"
    for_lab = staticmethod(for_containers)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare()

    @classmethod
    def prepare(cls):
        """Makes the nodes what a guide begins with."""
        library = compile_library()
        for node in (1, 2):
            cls.lab.sh(node, repository(PACKAGES))
            # As DGX OS has them from the start.
            cls.lab.sh(node, f"""mkdir -p /usr/local/cuda/bin; printf '%s' '{CUDA % "13.0.1"}' >{CUDA_FILE}
echo {library} | base64 -d >/usr/local/cuda/lab-libnccl.so
echo {base64.b64encode(stand_in("nvcc").encode()).decode()} | base64 -d >/usr/local/cuda/bin/nvcc
echo {base64.b64encode(stand_in("nvidia-smi").encode()).decode()} | base64 -d >/usr/bin/nvidia-smi
chmod 755 /usr/local/cuda/bin/nvcc /usr/bin/nvidia-smi""")

    def user(self, node, command):
        return self.lab.lab("ssh", str(node), command).stdout.strip()

    def state(self, node):
        return self.lab.sh(node, STATE)

    def name_of(self, node, netdev):
        """Of a port that the first node has by that name."""
        return dict(RENAMED).get(netdev, netdev) if (node, self.renamed) == (2, True) else netdev

    def start(self, name, *replacements):
        self.text = self.for_lab(name)
        for old, new in replacements:
            self.assertIn(old, self.text)
            self.text = self.text.replace(old, new)
        self.names = re.findall(r"^ +- (?:\{)?name: ([\w-]+)", self.text, flags=re.M)[:2]
        self.manifest = self.written(self.text)
        self.before = {node: self.state(node) for node in (1, 2)}
        self.renamed = False
        self.addCleanup(self.lab.spark, "uninstall", self.manifest, "--yes")  # where the test fails

    def assert_guide_holds(self, name, renamed=False):
        """From bare to what the guide ends with, by one apply, and back."""
        self.start(name)
        self.renamed = renamed
        self.spark("apply", self.manifest, "--yes", expect=0)
        self.assert_empty_plan(self.manifest)
        self.report = json.loads(self.spark("verify", self.manifest, "--format", "json", expect=0).stdout)
        self.check_steps(STEPS[name])
        returns_to_start(self)

    def check_steps(self, steps):
        for step, checks in steps.items():
            for check in checks:
                with self.subTest(step=step):
                    if check is not returns_to_start:
                        check(self)


class RightCage(GuideTest):
    """Guides whose cable is in the right cage."""

    def test_two_sparks_for_vllm(self):
        self.assert_guide_holds("000-two-sparks-vllm")

    def test_a_build_of_nccl_that_fails_leaves_the_nodes_as_before(self):
        self.start("000-two-sparks-vllm", ("build v2.28.3-1", "build v2.99.9-1"))
        said = self.spark("apply", self.manifest, "--yes", "--no-verify", expect=4)
        self.assertIn("fatal: couldn't find remote ref refs/tags/v2.99.9-1", said.stdout + said.stderr)
        returns_to_start(self)

    def test_stacked_sparks_with_one_address_per_cage(self):
        self.assert_guide_holds("001-stack-two-sparks")


class LeftCage(GuideTest):
    """Guides whose cable is in the left cage."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for node in ("1", "2"):
            cls.lab.lab("swap", node)

    def test_rdma_cluster_with_names_of_its_own(self):
        self.assert_guide_holds("002-rdma-cluster")

    def test_direct_fabric_beside_a_storage_network(self):
        self.assert_guide_holds("003-direct-fabric-storage")

    def test_a_spark_and_a_workstation(self):
        rename = "for pair in {}; do ip link set ${{pair%:*}} down; ip link set ${{pair%:*}} name ${{pair#*:}}; done"
        self.lab.sh(2, rename.format(" ".join(f"{old}:{new}" for old, new in RENAMED)) + f"\n{MODULES}\nGPU='RTX 6000'\n{DRIVER}")
        self.addCleanup(self.lab.sh, 2, rename.format(" ".join(f"{new}:{old}" for old, new in RENAMED)) + "\n" + NONE)
        self.assert_guide_holds("004-spark-and-workstation", renamed=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
