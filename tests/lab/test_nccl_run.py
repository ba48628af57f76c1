"""NCCL over real nodes and real ssh, with libraries that need no GPU: a healthy run, the apply that ends with it, and each
fault that was measured with NCCL itself, with its deadline and its finding."""

import unittest

from nccl_nodes import LIBRARIES, LIMIT_S, MANIFEST, Gpus, LittleMemory, NcclLab, Spoiler
from spark_lab import speed

GIB = 1 << 30
MIB = 1 << 20
# A finding comes within a second of the deadline of its phase; the phases before it take their time on shared cores.
FOUND_S = 3 + 1 + 6  # LIMIT_S of the reference machine, a second, the phases before


class Pair(NcclLab):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gpus = Gpus(cls.lab, (1, 2))

    def setUp(self):
        self.gpus.heal()

    def test_01_an_apply_ends_with_the_run(self):
        done = self.spark("apply", MANIFEST, "--yes", expect=0)
        self.assertIn("nccl 2.28.9+cuda13.0, 2 ranks over RDMA\n", done.stdout)
        self.assertIn("all_reduce", done.stdout)
        self.assert_nothing_runs()
        self.assert_empty_plan(MANIFEST)

    def test_02_a_healthy_run_is_reported_whole(self):
        report = self.verify(expect=0)
        self.assertEqual(report["level"], "nccl")
        self.assertEqual(report["findings"], [])
        nccl = report["nccl"]
        self.assertRegex(nccl["root"], r"^192\.168\.1\.2[12]:\d+$")
        self.assertEqual([rank["path"] for rank in nccl["ranks"]], ["rdma", "rdma"])
        self.assertEqual({rank["library"] for rank in nccl["ranks"]}, {f"{LIBRARIES}/libnccl.so.2"})
        tests = {(test["collective"], test["bytes"], test["type"], test["in_place"]) for test in nccl["tests"]}
        for collective in ("all_reduce", "all_gather", "reduce_scatter"):
            for kind in ("float", "bfloat16"):
                for in_place in (False, True):
                    self.assertIn((collective, 1 << 20, kind, in_place), tests)
        self.assertIn(("sendrecv", 1 << 20, "float", False), tests)
        self.assertTrue(all(test["wrong"] == 0 and test["busbw"] > 0 for test in nccl["tests"]))
        self.assert_nothing_runs()

    def test_03_a_peer_that_never_starts_is_named(self):
        self.gpus.configure(2, FAKE_CUDA_FAULT="hang-init")
        report = self.verify()
        finding = self.finding(report, "rank-hung", ["spark-2"])
        self.assertEqual(finding["measured"], "spark-2: wanted cuInit to return in time, found it did not")
        speed.assert_within(report["nccl"]["seconds"], FOUND_S)

    def test_04_a_peer_without_its_interface_is_named_at_once(self):
        self.add_interface(1, "boot0", "192.168.9.1/24")
        try:
            manifest = self.variant(("nccl: {mode: safe}", "nccl: {mode: safe, env: {NCCL_SOCKET_IFNAME: '=boot0'}}"))
            report = self.verify(manifest)
        finally:
            self.lab.sh(1, "ip link del boot0")
        finding = self.finding(report, "bootstrap-interface", ["spark-2"])
        self.assertIn("Bootstrap : no socket interface found", finding["measured"])
        self.assertLess(report["nccl"]["seconds"], LIMIT_S)

    def test_05_an_algorithm_that_one_rank_does_not_know_is_reported_in_its_words(self):
        self.gpus.env(2, NCCL_ALGO="Rnig")
        report = self.verify()
        finding = self.finding(report, "bad-variable", ["spark-2"])
        self.assertIn("Unrecognized element token", finding["measured"] + " ".join(finding["evidence"]))
        self.assertLess(report["nccl"]["seconds"], LIMIT_S)

    def test_06_a_root_that_cannot_be_reached_is_named_with_its_address(self):
        first = self.verify(expect=0)["nccl"]["root"].split(":")[0]
        other = 2 if first.endswith("21") else 1
        self.lab.sh(other, f"ip route add unreachable {first}/32")
        try:
            report = self.verify()
        finally:
            self.lab.sh(other, f"ip route del unreachable {first}/32")
        finding = self.finding(report, "root-unreachable", [f"spark-{other}"])
        self.assertIn(first, finding["cause"])
        speed.assert_within(report["nccl"]["seconds"], FOUND_S)

    def test_07_protocols_that_differ_are_named_with_their_values(self):
        self.gpus.env(2, NCCL_PROTO="LL")
        report = self.verify()
        finding = self.finding(report, "env-differs", [report["findings"][0]["nodes"][0]])
        self.assertIn("NCCL_PROTO: LL on spark-2, not set on spark-1", finding["evidence"])
        speed.assert_within(report["nccl"]["seconds"], FOUND_S)

    def test_08_a_rank_that_is_killed_is_named_and_not_its_peer(self):
        with Spoiler(self.lab, 2, "KILL", after=0.3):
            report = self.verify()
        finding = self.finding(report, "rank-gone", ["spark-2"])
        self.assertIn("found it ended with status 137", finding["measured"])
        self.assertLess(report["nccl"]["seconds"], LIMIT_S)

    def test_09_a_rank_that_is_stopped_is_named_and_ended(self):
        with Spoiler(self.lab, 2, "STOP", after=0.3):
            report = self.verify()
        finding = self.finding(report, "rank-stopped", ["spark-2"])
        self.assertIn("not even to the order to abort", finding["measured"])
        speed.assert_within(report["nccl"]["seconds"], FOUND_S)

    def test_10_rdma_that_was_demanded_and_is_not_there_is_named_at_once(self):
        self.gpus.configure(1, FAKE_NCCL_HCAS="")
        manifest = self.variant(("nccl: {mode: safe}", "nccl: {mode: safe, env: {NCCL_NET: IB}}"))
        report = self.verify(manifest)
        self.finding(report, "no-network", ["spark-1"])
        self.assertLess(report["nccl"]["seconds"], LIMIT_S)

    def test_11_two_nodes_of_one_name_are_reported(self):
        manifest = self.variant(("nccl: {mode: safe}", "nccl: {mode: safe, env: {NCCL_HOSTID: spark}}"))
        report = self.verify(manifest)
        self.assertEqual([finding["code"] for finding in report["findings"]], ["same-host-id"])

    def test_12_sockets_where_rdma_was_promised_are_a_failure(self):
        for node in (1, 2):
            self.gpus.configure(node, FAKE_NCCL_HCAS="")
        report = self.verify()
        self.finding(report, "nccl-socket", ["spark-1", "spark-2"])
        self.assertEqual([rank["path"] for rank in report["nccl"]["ranks"]], ["socket", "socket"])

    def test_13_a_rail_that_is_left_out_is_named(self):
        for node in (1, 2):
            self.gpus.configure(node, FAKE_NCCL_HCAS="rocep1s0f1")
        report = self.verify()
        finding = self.finding(report, "one-rail", ["spark-1", "spark-2"])
        self.assertEqual(finding["rails"], ["rail1"])

    def test_14_wrong_results_are_a_failure_of_their_node(self):
        self.gpus.configure(2, FAKE_NCCL_FAULT="wrong-data:3")
        finding = self.finding(self.verify(), "wrong-data", ["spark-2"])
        self.assertRegex(finding["measured"], r"^\d+ elements? wrong$")

    def test_15_a_crash_and_a_call_that_never_returns_are_named(self):
        self.gpus.configure(1, FAKE_NCCL_FAULT="crash-op:3")
        self.finding(self.verify(), "rank-crashed", ["spark-1"])
        self.gpus.configure(1, FAKE_NCCL_FAULT="hang-call:3")
        self.finding(self.verify(), "rank-hung", ["spark-1"])

    def test_16_a_fault_that_does_not_come_back_is_reported_as_flaky(self):
        with Spoiler(self.lab, 2, "KILL", after=0.3, times=1):
            report = self.verify(expect=0)
        finding = self.finding(report, "flaky", ["spark-1", "spark-2"])
        self.assertEqual(finding["outcome"], "warn")
        self.assertIn("spark-2: wanted a line of spark-verify, found it ended with status 137", finding["measured"])

    def test_17_a_library_that_is_not_there_could_not_be_measured(self):
        self.lab.sh(2, f"mv {LIBRARIES}/libnccl.so.2 /root/; ldconfig")
        try:
            finding = self.finding(self.verify(expect=7), "no-libnccl", ["spark-2"])
        finally:
            self.lab.sh(2, f"mv /root/libnccl.so.2 {LIBRARIES}/; ldconfig")
        self.assertEqual(finding["outcome"], "could-not-measure")

    def test_18_versions_that_differ_are_a_warning(self):
        self.gpus.configure(2, FAKE_NCCL_VERSION=23007)
        report = self.verify(expect=6)
        self.assertIn("nccl-versions", [finding["code"] for finding in report["findings"]])

    def test_19_a_root_elsewhere_reaches_no_node(self):
        """An interface that no other node is on, as docker0 would be."""
        for node in (1, 2):
            self.add_interface(node, "docker0", "172.17.0.1/16")
        manifest = self.variant(("nccl: {mode: safe}\n", ""))
        for node in (1, 2):
            self.gpus.env(node, NCCL_SOCKET_IFNAME="docker0")
        try:
            report = self.verify(manifest)
        finally:
            for node in (1, 2):
                self.lab.sh(node, "ip link del docker0")
        finding = self.finding(report, "nccl-root", [report["findings"][0]["nodes"][0]])
        self.assertIn("in 192.168.1.0/24 (enP7s7), found 172.17.0.1 port", finding["measured"])
        self.assertLess(report["nccl"]["seconds"], LIMIT_S)

    def test_20_a_promise_above_the_links_is_an_error_before_anything_runs(self):
        manifest = self.variant(("size: 1MiB", "size: 1MiB\n  min_busbw: 30"))
        refused = self.spark("verify", manifest, expect=1)
        self.assertIn(f"{manifest}:28:14: verify.min_busbw: wanted at most 24.5 GB/s", refused.stderr)

    def test_21_a_node_that_is_off_skips_the_run(self):
        self.lab.lab("stop", "2")
        try:
            report = self.verify(expect=3)
        finally:
            self.lab.lab("start", "2")
        [run] = [check for check in report["checks"] if check["what"] == "nccl-run"]
        self.assertEqual((run["outcome"], run["why"]), ("skipped", "spark-2 could not be reached"))

    def test_22_a_size_that_memory_does_not_allow_is_made_smaller_or_refused(self):
        manifest = self.variant(("size: 1MiB", "size: 8MiB"))
        with LittleMemory(self.lab, 2, 8 * GIB + 12 * MIB):
            report = self.verify(manifest, expect=0)
        [run] = [check for check in report["checks"] if check["what"] == "nccl-run"]
        self.assertIn("; 2 MiB instead of 8 MiB, for that is what memory allows", run["measured"])
        self.assertEqual(max(test["bytes"] for test in report["nccl"]["tests"]), 2 * MIB)
        with LittleMemory(self.lab, 2, 8 * GIB):
            report = self.verify(manifest, expect=7)
        finding = self.finding(report, "memory-short", ["spark-2"])
        self.assertIn(f"wanted room for {8 * MIB} bytes, found {8 * GIB} bytes of memory available", finding["measured"])

    def test_23_a_gpu_that_is_busy_is_left_alone_unless_allowed(self):
        self.gpus.put(2, "nvml/libnvidia-ml.so.1")
        self.gpus.configure(2, FAKE_NVML_PROCESSES="1:4096")
        try:
            finding = self.finding(self.verify(expect=7), "gpu-busy", ["spark-2"])
            self.assertIn("wanted the GPU to itself, found it used by systemd (pid 1)", finding["measured"])
            self.assertEqual(self.verify(expect=0, options=("--allow-busy",))["findings"], [])
        finally:
            self.lab.sh(2, f"rm {LIBRARIES}/libnvidia-ml.so.1; ldconfig")

    def test_24_a_figure_above_what_the_links_can_carry_is_no_measurement(self):
        for node in (1, 2):
            self.gpus.configure(node, FAKE_NCCL_BUSBW=60, FAKE_NCCL_LATENCY_US=0)
        finding = self.finding(self.verify(expect=7), "measurement-invalid", ["spark-1", "spark-2"])
        self.assertEqual(finding["outcome"], "could-not-measure")

    def test_25_the_lines_of_every_family_of_versions_are_understood(self):
        for version, name in ((22105, "2.21.5"), (23007, "2.30.7")):
            for node in (1, 2):
                self.gpus.configure(node, FAKE_NCCL_VERSION=version)
            nccl = self.verify(expect=0)["nccl"]
            self.assertEqual([rank["path"] for rank in nccl["ranks"]], ["rdma", "rdma"])
            self.assertTrue(nccl["ranks"][0]["version"].startswith(name), nccl["ranks"])


class Four(NcclLab):
    nodes = 4
    options = ("--topology", "switch")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gpus = Gpus(cls.lab, (1, 2, 3, 4))

    def setUp(self):
        self.gpus.heal()

    def manifest(self):
        return self.variant_of_four()

    def variant_of_four(self, *more):
        return self.variant(
            *more,
            ("  - {name: spark-2, address: 192.168.1.22}\n",
             "".join(f"  - {{name: spark-{node}, address: 192.168.1.2{node}}}\n" for node in (2, 3, 4))),
            ("topology: direct", "topology: switch"))

    def test_1_four_ranks_agree(self):
        self.spark("apply", self.manifest(), "--yes", expect=0)
        report = self.verify(self.manifest(), expect=0)
        self.assertEqual(len(report["nccl"]["ranks"]), 4)
        self.assert_nothing_runs()

    def test_2_pairs_name_the_node_with_which_every_run_fails(self):
        self.gpus.configure(3, FAKE_NCCL_FAULT="error-op:2")
        report = self.verify(self.manifest())
        pairs = {(pair["a"], pair["b"]): pair["good"] for pair in report["nccl"]["pairs"]}
        self.assertEqual(len(pairs), 6)
        for pair, good in pairs.items():
            self.assertEqual(good, "spark-3" not in pair, pair)
        self.assertIn("spark-3", report["findings"][0]["nodes"])

    def test_3_a_slow_node_is_named_by_the_majority_of_the_pairs(self):
        for node in (1, 2, 3, 4):
            self.gpus.configure(node, FAKE_NCCL_BUSBW=2 if node == 3 else 20, FAKE_NCCL_LATENCY_US=0)
        promised = self.variant_of_four(("size: 1MiB", "size: 1MiB\n  min_busbw: 10"))
        finding = self.finding(self.verify(promised), "slow-node", ["spark-3"])
        self.assertIn("spark-2 with spark-3 alone: 3.6 GB/s", finding["evidence"])
        self.assertIn("spark-2 with spark-4 alone: 20.0 GB/s", finding["evidence"])


if __name__ == "__main__":
    unittest.main()
