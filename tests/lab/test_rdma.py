"""RDMA on two virtual machines with soft-RoCE devices: facts, writes, proof per rail, faults, the whole apply."""

import json
import os
import subprocess
import unittest

from joined import Joined
from spark_lab import LAB, LabTest, PROGRAM, cluster

PAIR = cluster("vm-pair.yaml")
RAILS = (("rocep1s0f1", "enp1s0f1np1", 177), ("roceP2p1s0f1", "enP2p1s0f1np1", 178))
# Soft-RoCE on shared cores: little in flight, and patience before a packet counts as lost.
PACE = ["--size 65536 --qps 2 --depth 8 --ack-timeout 17 --warm-up 200 --ms 1500 --deadline 60000"]


def words(node, *rails, send=False, more=()):
    return [f"--rail {hca}=192.168.{net}.{node}" for hca, _, net in rails] + PACE + ["--send"] * send + list(more)


class Rdma(LabTest):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--vm", "--topology", "direct")

    def push(self, node):
        with open(os.path.join(os.path.dirname(PROGRAM), "spark-verify"), "rb") as program:
            data = program.read()
        subprocess.run([LAB, "ssh", "--run", self.lab.run, str(node),
                        "cat >/tmp/sv && sudo install -m 755 /tmp/sv /var/lib/spark-verify"], input=data, check=True)

    def facts(self, node):
        return {device["hca"]: device for device in
                json.loads(self.lab.sh(node, "/var/lib/spark-verify facts"))["devices"]}

    def counters(self, node):
        """{hca: packets sent}, read from the kernel and not from the program."""
        return {hca: int(self.lab.sh(node, f"cat /sys/class/infiniband/{hca}/ports/1/hw_counters/sent_pkts"))
                for hca, _, _ in RAILS}

    def test_1_apply_ends_with_data_written_over_every_rail(self):
        done = self.spark("apply", PAIR, "--yes", expect=0)
        self.assertIn("rdma write", done.stdout)
        report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=0).stdout)
        self.assertEqual(report["level"], "rdma")
        writes = {(check["what"], check["from"], check["to"], check["rail"], check["outcome"])
                  for check in report["checks"] if check["rung"] == "rdma"}
        self.assertEqual(writes, {(what, f"spark-{a}", f"spark-{3 - a}", rail, "pass")
                                  for what in ("write-alone", "write-together")
                                  for a in (1, 2) for rail in ("rail0", "rail1")})
        # What was copied there for the run is gone.
        self.assertEqual(self.lab.sh(1, "ls /var/lib/spark-reconcile/bin 2>/dev/null || true"), "")

    def test_2_limits_are_there_after_a_reboot(self):
        self.lab.lab("restart", "1", timeout=400)
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max").split(),
                         ["268435456", "268435456"])
        self.assertEqual(self.lab.lab("ssh", "1", "ulimit -l").stdout.strip(), "unlimited")
        self.assertEqual(self.lab.sh(1, "systemctl show -p DefaultLimitMEMLOCK --value").strip(), "infinity")
        self.assert_empty_plan(PAIR)

    def test_3_facts_are_what_the_system_says(self):
        for node in (1, 2):
            self.push(node)
        facts = self.facts(1)
        links = {link["ifname"]: link for link in json.loads(self.lab.sh(1, "rdma -j link show"))}
        self.assertEqual(set(facts), set(links))
        for hca, device in facts.items():
            port = device["ports"][0]
            self.assertEqual(device["netdev"], links[hca]["netdev"])
            self.assertEqual(port["state"], links[hca]["state"])
            sysfs = f"/sys/class/infiniband/{hca}/"
            self.assertEqual(port["physical_state"], self.lab.sh(1, f"cat {sysfs}ports/1/phys_state").split()[1])
            self.assertEqual(device["node_guid"], self.lab.sh(1, f"cat {sysfs}node_guid").strip())
            tool = dict(line.strip().split(":", 1) for line in self.lab.sh(1, f"ibv_devinfo -d {hca}").splitlines()
                        if ":" in line)
            self.assertEqual(port["active_mtu"], int(tool["active_mtu"].split()[0]))
            self.assertEqual(device["vendor_id"], int(tool["vendor_id"].strip(), 16))
            for gid in port["gids"]:
                self.assertEqual(gid["gid"], self.lab.sh(1, f"cat {sysfs}ports/1/gids/{gid['index']}").strip())
                self.assertEqual(gid["type"],
                                 self.lab.sh(1, f"cat {sysfs}ports/1/gid_attrs/types/{gid['index']}").strip())

    def assert_written(self, joined, senders, rails):
        self.assertEqual(joined.codes, {1: 0, 2: 0}, joined.messages)
        for node in senders:
            sent = joined.of(node, "sent")[0]["rails"]
            self.assertEqual([rail["hca"] for rail in sent], [hca for hca, _, _ in rails])
            for rail in sent:
                self.assertGreater(rail["gbps"], 0)
                self.assertEqual(rail["path_mtu"], 4096)
            self.assertEqual(joined.of(3 - node, "checked")[0]["bytes"], len(rails) * 2 * 65536)

    def test_4_one_rail_carries_what_it_should_and_the_other_nothing(self):
        for rail, other in (RAILS, RAILS[::-1]):
            before = self.counters(1)
            joined = Joined(self.lab, {1: words(1, rail, send=True, more=["--latency 20"]), 2: words(2, rail)})
            after = self.counters(1)
            self.assert_written(joined, [1], [rail])
            self.assertGreater(joined.of(1, "sent")[0]["rails"][0]["latency_us"], 0)
            told = joined.of(1, "end")[0]["counters"]
            self.assertGreaterEqual(after[rail[0]] - before[rail[0]], told[rail[0]]["sent_pkts"])
            self.assertEqual(after[other[0]], before[other[0]])
            self.assertNotIn(other[0], told)

    def test_5_both_rails_and_both_directions(self):
        joined = Joined(self.lab, {1: words(1, *RAILS, send=True), 2: words(2, *RAILS, send=True)})
        self.assert_written(joined, [1, 2], RAILS)

    def test_6_a_rail_that_breaks_in_the_middle_is_named_within_the_deadline(self):
        def cut(node, message):
            if node == 1 and message["event"] == "connected":
                self.lab.sh(2, f"ip link set {RAILS[1][1]} down")
        try:
            joined = Joined(self.lab, {1: words(1, *RAILS, send=True, more=["--ms 30000"]), 2: words(2, *RAILS)}, cut)
            self.assertEqual(joined.codes[1], 1)
            error = joined.of(1, "error")[0]
            self.assertEqual((error["code"], error["hca"]), ("transfer", RAILS[1][0]))
            self.assertIn("transport retry counter exceeded", error["text"])
            self.assertLess(joined.seconds, 60)
        finally:
            self.lab.sh(2, f"ip link set {RAILS[1][1]} up; networkctl reconfigure {RAILS[1][1]}")

    def test_7_what_is_missing_is_named(self):
        self.lab.sh(2, f"ip addr flush dev {RAILS[0][1]}")
        joined = Joined(self.lab, {1: words(1, RAILS[0], send=True), 2: words(2, RAILS[0])})
        error = joined.of(2, "error")[0]
        self.assertEqual((error["code"], error["hca"]), ("open", RAILS[0][0]))
        self.assertIn("wanted a RoCE v2 GID for 192.168.177.2 on rocep1s0f1, found 0 fe80:", error["text"])
        self.lab.sh(2, f"networkctl reconfigure {RAILS[0][1]}")

        library = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1"
        self.lab.sh(2, f"mv {library} {library}.away")
        try:
            report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=7).stdout)
            self.assertEqual([(finding["code"], finding["nodes"]) for finding in report["findings"]],
                             [("no-libibverbs", ["spark-2"])])
            facts = json.loads(self.lab.sh(2, "/var/lib/spark-verify facts"))
            self.assertEqual(facts["devices"], [])
            self.assertIn("wanted libibverbs.so.1, the loader says: ", facts["error"])
        finally:
            self.lab.sh(2, f"mv {library}.away {library}")

    def test_8_a_small_mtu_is_seen_by_both_ends(self):
        self.lab.sh(2, f"ip link set {RAILS[0][1]} mtu 1500")
        try:
            joined = Joined(self.lab, {1: words(1, RAILS[0], send=True), 2: words(2, RAILS[0])})
            self.assertEqual(joined.of(2, "ready")[0]["rails"][0]["active_mtu"], 1024)
            self.assertEqual(joined.of(1, "sent")[0]["rails"][0]["path_mtu"], 1024)
        finally:
            self.lab.sh(2, f"ip link set {RAILS[0][1]} mtu 9000")

    def test_9_an_apply_that_would_cut_an_open_connection_is_refused(self):
        self.lab.sh(1, f"ip link set {RAILS[0][1]} mtu 1500")
        refused = []

        def apply(node, message):
            if node == 1 and message["event"] == "connected":
                refused.append(self.lab.spark("apply", PAIR, "--yes", "--no-verify"))
        Joined(self.lab, {1: words(1, RAILS[0], send=True, more=["--ms 1000"]), 2: words(2, RAILS[0])}, apply)
        self.assertNotEqual(refused[0].returncode, 0, refused[0].stdout)
        self.assertIn("spark-verify", refused[0].stderr)
        self.assertEqual(self.lab.sh(1, f"cat /sys/class/net/{RAILS[0][1]}/mtu").strip(), "1500")
        self.spark("apply", PAIR, "--yes", expect=0)


if __name__ == "__main__":
    unittest.main()
