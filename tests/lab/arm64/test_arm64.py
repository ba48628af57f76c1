"""A node of the type that Sparks are, with a kernel of its own: spark-2 is a virtual machine for arm64 whose every instruction is
computed, spark-1 one of this machine's type. Facts, plan, apply, proof by data that RDMA wrote between the two, drift, reboot, rollback."""

import json
import os
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import LAB, PROGRAM, LabTest, cluster, machines_or_skip, speed  # noqa: E402

PAIR = cluster("vm-pair.yaml")
TYPES = {"spark-1": "x86_64", "spark-2": "aarch64"}
HCAS = ("rocep1s0f1", "roceP2p1s0f1")


class Arm64(LabTest):
    """Tests run in the order of their names; each goes on from where the one before it ended."""

    options = ("--vm", "--arm64", "2", "--topology", "direct")

    def status(self, *options):
        text = self.spark("status", PAIR, "--format", "json", *options, expect=0).stdout
        return {node["name"]: node for node in json.loads(text)["nodes"]}

    def sent_packets(self):
        """{(node, hca): packets}, read from the kernel and not from the program."""
        return {(node, hca): int(self.lab.sh(node, f"cat /sys/class/infiniband/{hca}/ports/1/hw_counters/sent_pkts"))
                for node in (1, 2) for hca in HCAS}

    def test_1_facts_name_each_node_s_type(self):
        self.assertEqual({name: node["host"]["arch"] for name, node in self.status().items()}, TYPES)
        self.assertEqual([self.lab.sh(node, "uname -m").strip() for node in (1, 2)], list(TYPES.values()))

    def test_2_each_node_runs_the_spark_verify_of_its_type(self):
        for name, node in self.status("--verbs").items():
            # Counted by spark-verify, through the node's own libibverbs.
            self.assertEqual((node["rdma"]["hcas"], node["rdma"]["verbs"]), (4, 4), name)
        # The other one would not have run there.
        with open(os.path.join(os.path.dirname(PROGRAM), "spark-verify"), "rb") as program:
            data = program.read()
        done = speed.run([LAB, "ssh", "--run", self.lab.run, "2", "cat >/tmp/sv && chmod +x /tmp/sv && /tmp/sv --help; rm /tmp/sv"],
                         120, input=data, capture_output=True, check=False)
        self.assertIn(b"Exec format error", done.stderr)

    def test_3_the_plan_is_the_same_for_both(self):
        plan = self.plan(PAIR)
        one, other = ([(kind, name) for _, kind, name in self.changes(plan, node)] for node in TYPES)
        self.assertTrue(one)
        self.assertEqual(one, other)

    def test_4_apply_ends_with_data_written_over_every_rail_both_ways(self):
        before = self.sent_packets()
        done = self.spark("apply", PAIR, "--yes", expect=0).stdout
        writes = done.partition("rdma write\n")[2].partition("\n\n")[0].splitlines()
        for line, (own, peer) in zip(writes, ((1, 2), (2, 1)), strict=True):
            self.assertRegex(line, f"^  spark-{own} → spark-{peer}  rail0 [0-9.]+ Gb/s.*  rail1 [0-9.]+ Gb/s.*  "
                                   "rail0 with the others [0-9.]+ Gb/s.*  rail1 with the others [0-9.]+ Gb/s")
        self.assertRegex(done.splitlines()[-1], r", verified ([0-9]+)/\1\. Undo: ")
        for (node, hca), packets in self.sent_packets().items():
            self.assertGreater(packets, before[node, hca], (node, hca))

    def test_5_the_arm64_node_itself_shows_it(self):
        self.assertIn("mtu 9000", self.lab.sh(2, "ip link show enp1s0f1np1"))
        self.assertIn("192.168.178.2/24", self.lab.sh(2, "ip -4 addr show enP2p1s0f1np1"))
        self.assertEqual(self.lab.sh(2, "cat /proc/sys/net/core/rmem_max").strip(), "268435456")
        self.assertEqual(self.lab.lab("ssh", "2", "ulimit -l").stdout.strip(), "unlimited")
        # What was copied there for a measurement is gone.
        self.assertEqual(self.lab.sh(2, "ls /var/lib/spark-reconcile/bin 2>/dev/null || true"), "")

    def test_6_verify_reaches_rdma_and_finds_only_that_the_kernels_differ(self):
        report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=0).stdout)
        self.assertEqual(report["level"], "rdma")
        # Debian's kernels have the machine's type in their names.
        self.assertEqual([(one["code"], one["outcome"]) for one in report["findings"]], [("versions-differ", "warn")])
        self.assertIn("-arm64 on spark-2", report["findings"][0]["measured"])
        writes = {(check["from"], check["to"], check["rail"]) for check in report["checks"] if check["what"] == "write-alone"}
        self.assertEqual(writes, {(f"spark-{own}", f"spark-{3 - own}", rail) for own in (1, 2) for rail in ("rail0", "rail1")})
        self.assertEqual({check["outcome"] for check in report["checks"] if check["level"] == "rdma"}, {"pass"})

    def test_7_drift_is_found_and_repaired_and_a_reboot_keeps_the_rest(self):
        self.lab.sh(2, "ip link set enp1s0f1np1 mtu 1500")
        drift = json.loads(self.spark("drift", PAIR, "--format", "json", expect=2).stdout)
        self.assertEqual(self.changes(drift), [("spark-2", "link", "enp1s0f1np1")])
        self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)
        self.lab.lab("restart", "2", limit_s=1200)
        self.assert_empty_plan(PAIR)

    def test_8_rollback_leaves_nothing_on_it(self):
        self.spark("rollback", "--to", "0", PAIR, "--yes", expect=0)
        self.assertEqual(self.lab.sh(2, "ls /etc/netplan"), "01-management.yaml\n")
        self.assertNotIn("192.168.178.2", self.lab.sh(2, "ip -4 addr"))


if __name__ == "__main__":
    machines_or_skip("arm64", rdma=True)
    unittest.main()
