"""graph and hostfile: the fabric of a manifest, without querying any node."""

import unittest
import xml.etree.ElementTree

from spark_cli import MANIFEST, CliTest

RING = """\
api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
  - {name: spark-3, address: 192.168.1.23}
fabric:
  topology: ring
  subnets: [10.0.0.0/24, 10.0.1.0/24, 10.0.2.0/24, 10.0.3.0/24, 10.0.4.0/24, 10.0.5.0/24]
"""


class Graph(CliTest):
    def test_text_is_the_default_and_names_cables_addresses_and_rates(self):
        done = self.spark("graph")
        self.assert_ends(done, 0, err="")
        self.assertEqual(done.stdout.splitlines()[:3], [
            "lab · 2 nodes · one cable p1–p1 · mtu 9000",
            "nodes",
            "  spark-1  p1  rail0  192.168.177.1/24  enp1s0f1np1    rocep1s0f1    to spark-2 p1  200 Gb/s"])
        self.assertIn("  rail0 rail1  196.1 Gb/s, 24.5 GB/s bus bandwidth  spark-1–spark-2\n", done.stdout)

    def test_drawings_are_what_their_programs_read(self):
        self.assertTrue(self.spark("graph", "--format", "dot").stdout.startswith("graph "))
        self.assertTrue(self.spark("graph", "--format", "mermaid").stdout.startswith("---\ntitle: "))
        picture = xml.etree.ElementTree.fromstring(self.spark("graph", "--format", "svg").stdout)
        self.assertEqual(picture.tag, "{http://www.w3.org/2000/svg}svg")

    def test_an_unknown_format_is_a_usage_error(self):
        self.assert_ends(self.spark("graph", "--format", "png"), 1, out="")
        self.assert_ends(self.spark("hostfile", "--format", "slurm"), 1, out="")

    def test_hostfile_has_one_rank_per_node_by_management_address(self):
        self.assert_ends(self.spark("hostfile"), 0, err="", out="""\
# lab: one rank per node, in the order of the ring; management addresses.
# rank 0: spark-1
localhost slots=1
# rank 1: spark-2
127.0.0.1 slots=1
""")
        self.assertIn("\n127.0.0.1:1\n", self.spark("hostfile", "--format", "mpich").stdout)

    def test_hostfile_of_the_fabric_has_the_addresses_of_its_first_rail(self):
        wanted = """\
# lab: one rank per node, in the order of the ring; addresses on rail0.
# rank 0: spark-1
192.168.177.1 slots=1
# rank 1: spark-2
192.168.177.2 slots=1
"""
        self.assert_ends(self.spark("hostfile", "--network", "fabric"), 0, err="", out=wanted)
        self.write("cluster.yaml", MANIFEST + "nccl: {bootstrap: fabric}\n")
        self.assert_ends(self.spark("hostfile"), 0, err="", out=wanted)
        self.assertTrue(self.spark("hostfile", "--format", "torchrun").stdout.endswith("=192.168.177.1:29500\n"))
        self.assertIn("\n127.0.0.1 slots=1\n", self.spark("hostfile", "--network", "management").stdout)

    def test_a_ring_has_no_hostfile_of_the_fabric(self):
        self.write("cluster.yaml", RING)
        self.assert_ends(self.spark("hostfile", "--network", "fabric"), 1, out="", err="""\
cluster.yaml: wanted a rail that reaches every node, found none: each cable is a network of its two nodes alone
  hint: use --network management
""")
        self.write("cluster.yaml", RING + "nccl: {bootstrap: fabric}\n")
        self.assert_ends(self.spark("validate"), 1, out="", err="""\
cluster.yaml:10:19: nccl.bootstrap: wanted a rail that reaches every node, found none: each cable is a network of its \
two nodes alone
    nccl: {bootstrap: fabric}
                      ^
  hint: write management, or remove it
""")

    def test_a_link_local_rail_has_no_hostfile_of_the_fabric(self):
        self.write("cluster.yaml", MANIFEST.replace("[192.168.177.0/24, 192.168.178.0/24]",
                                                    "[]\n  twins: first\n  link_local: true"))
        self.assert_ends(self.spark("hostfile", "--network", "fabric"), 1, out="", err="""\
cluster.yaml: wanted a rail that reaches every node, found none: the only one has link-local addresses, which are not \
known beforehand
  hint: use --network management
""")
        self.assertIn("\n127.0.0.1 slots=1\n", self.spark("hostfile").stdout)

    def test_torchrun_meets_at_the_first_rank(self):
        lines = [line for line in self.spark("hostfile", "--format", "torchrun").stdout.splitlines()
                 if not line.startswith("#")]
        self.assertEqual(len(lines), 2)
        for rank, line in enumerate(lines):
            self.assertIn(f"--nnodes=2 --nproc-per-node=1 --node-rank={rank} ", line)
            self.assertTrue(line.endswith("--rdzv-endpoint=localhost:29500"))


if __name__ == "__main__":
    unittest.main()
