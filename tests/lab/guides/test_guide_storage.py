"""The guide "DGX Spark direct fabric" with its storage, on virtual machines: spark-1 and spark-2 fresh from installation, and a third one whose
kernel is the guide's storage server. One apply of the whole manifest, what each step of the guide leaves (steps.py), nothing left to do, and
back.

Real are the kernel with NVMe over TCP, soft-RoCE, limits of locked memory, MTUs of all ports, apt, and nvme-cli with its content. **The lab
replaces two things**: the addresses of the management network, which are the lab's, and `gid_index`. Soft-RoCE has no GIDs of RoCE v1, so that
the address which a ConnectX-7 has at index 3 is at 1. There is no GPU: `verify` ends with RDMA, and says why. Before the apply, the lab gives the
management ports the MTU of the guide, which the program never does."""

import unittest

from test_guides import GuideTest, with_addresses  # adds the folder of the lab's modules
from nodes.local_apt import repository
from nodes.nvme_target import serve
from spark_lab import machines_or_skip
from steps import ON_MACHINES, VOLUMES, installed

GUIDE = "003-direct-fabric-storage"
SERVER = "192.168.1.23"
JUMBO = "ip link set enP7s7 mtu 9000"
# What the removal of the package had generated is no change any more that the next reload, the apply's, would bring about.
RELOAD = "networkctl reload; sleep 2"
RELOADS = "journalctl -q -u systemd-networkd | grep -c 'enP7s7: Reconfiguring' || true"
# Connections, mounts, units and a program that are there after the apply only.
STORAGE = """cat /sys/class/nvme-subsystem/*/subsysnqn 2>/dev/null; findmnt -n -t ext4 -o TARGET; systemctl --failed --no-legend; command -v nvme
true"""


def for_machines(name):
    return with_addresses(name).replace("192.168.0.100", SERVER).replace("gid_index: 3", "gid_index: 1")


class GuideStorage(GuideTest):
    maxDiff = None
    nodes = 3
    # Cages p0 of spark-1 and spark-2 share a cable once those of spark-2 are swapped; the others go to the third machine.
    options = ("--vm", "--topology", "ring")
    path = (SERVER, 9000)
    gid_index = "1"
    for_lab = staticmethod(for_machines)

    @classmethod
    def prepare(cls):
        cls.lab.lab("swap", "2")
        cls.lab.sh(3, f"{serve(SERVER, VOLUMES)}\n{JUMBO}")
        for node in (1, 2):
            cls.lab.sh(node, f"{repository((), removed=['nvme-cli'])}\n{RELOAD}\n{JUMBO}")

    def state(self, node):
        """But for the configuration of a removed package, which dpkg keeps."""
        self.lab.sh(node, "[ \"$(dpkg-query -W -f '${db:Status-Status}' nvme-cli)\" != config-files ] || dpkg --purge nvme-cli")
        return super().state(node) + self.lab.sh(node, STORAGE)

    def test_from_bare_nodes_to_the_end_of_the_guide_by_one_apply(self):
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, STORAGE), "/\n")
            self.assertNotEqual(self.user(node, "ulimit -l"), "unlimited")
        self.reloads = [self.lab.sh(node, RELOADS) for node in (1, 2)]
        self.assert_guide_holds(GUIDE)

    def check_steps(self, steps):
        installed("nvme-cli")(self)
        self.assertEqual([self.lab.sh(node, RELOADS) for node in (1, 2)], self.reloads, "management is left alone")
        self.assert_limits()
        self.assert_written_by_rdma()
        self.assert_index_of_the_guide_is_named()
        super().check_steps({**steps, **ON_MACHINES[GUIDE]})

    def assert_limits(self):
        for node in (1, 2):
            self.assertEqual(self.user(node, "ulimit -l"), "unlimited")
            self.assertEqual(self.lab.sh(node, "systemctl show -P DefaultLimitMEMLOCK"), "infinity\n")

    def assert_written_by_rdma(self):
        self.assertEqual(self.report["level"], "rdma")
        written = [(check["from"], check["outcome"]) for check in self.report["checks"] if check["what"] == "write-alone"]
        self.assertEqual(written, [(name, "pass") for name in self.names])
        self.assertIn("has no usable NVIDIA driver", self.report["not_measured"]["why"])

    def assert_index_of_the_guide_is_named(self):
        plan = self.plan(self.written(self.text.replace("gid_index: 1", "gid_index: 3")))
        self.assertEqual([(one["code"], one["nodes"]) for one in plan["diagnostics"] if one["severity"] == "warns"],
                         [("nccl-gid-index-wrong", [name]) for name in self.names])


if __name__ == "__main__":
    machines_or_skip(rdma=True)
    unittest.main(verbosity=2)
