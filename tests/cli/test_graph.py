"""graph and hostfile: the fabric of a manifest, without querying any node."""

import unittest
import xml.etree.ElementTree

from spark_cli import CliTest


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

    def test_torchrun_meets_at_the_first_rank(self):
        lines = [line for line in self.spark("hostfile", "--format", "torchrun").stdout.splitlines()
                 if not line.startswith("#")]
        self.assertEqual(len(lines), 2)
        for rank, line in enumerate(lines):
            self.assertIn(f"--nnodes=2 --nproc-per-node=1 --node-rank={rank} ", line)
            self.assertTrue(line.endswith("--rdzv-endpoint=localhost:29500"))


if __name__ == "__main__":
    unittest.main()
