"""RDMA on two virtual machines with soft-RoCE devices: facts, writes, proof per rail, faults, the whole apply."""

import json
import os
import sys
import threading
import time
import unittest

from relay import Relay, write_command
from spark_lab import LAB, LabTest, PROGRAM, cluster, machines_or_skip, speed

FULL = "--full" in sys.argv
PAIR = cluster("vm-pair.yaml")
RAILS = (("rocep1s0f1", "enp1s0f1np1", 177), ("roceP2p1s0f1", "enP2p1s0f1np1", 178))
# Soft-RoCE on shared cores: little in flight, and patience before a packet counts as lost.
PACE = {"size": 65536, "queue_pairs": 2, "depth": 8, "ack_timeout": 17, "warm_up_ms": 200, "milliseconds": 1500}
LIMIT_S = 60


def end(node, *rails, send=False, **more):
    return {"rails": [{"hca": hca, "ipv4": f"192.168.{net}.{node}"} for hca, _, net in rails], **PACE,
            "limit_ms": round(1000 * speed.scaled(LIMIT_S)), "send": send, **more}


# The core set is a few minutes on two cores without a KVM.
beyond_core = unittest.skipUnless(FULL, "beyond the core set: test_rdma.py --full")


class Rdma(LabTest):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--vm", "--topology", "direct")

    def push(self, node):
        with open(os.path.join(os.path.dirname(PROGRAM), "spark-verify"), "rb") as program:
            data = program.read()
        speed.run([LAB, "ssh", "--run", self.lab.run, str(node),
                   "cat >/tmp/sv && sudo install -m 755 /tmp/sv /var/lib/spark-verify"], 120, input=data, check=True)

    def facts(self, node):
        return {device["hca"]: device for device in
                json.loads(self.lab.sh(node, "/var/lib/spark-verify facts"))["devices"]}

    def counters(self, node):
        """{hca: packets sent}, read from the kernel and not from the program."""
        return {hca: int(self.lab.sh(node, f"cat /sys/class/infiniband/{hca}/ports/1/hw_counters/sent_pkts"))
                for hca, _, _ in RAILS}

    def test_1_apply_ends_with_data_written_over_every_rail(self):
        done = self.spark("apply", PAIR, "--yes", expect=0).stdout
        writes = done.partition("rdma write\n")[2].partition("\n\n")[0].splitlines()
        for line, (own, peer) in zip(writes, ((1, 2), (2, 1)), strict=True):
            self.assertRegex(line, f"^  spark-{own} → spark-{peer}" + "".join(
                f"  rail{rail}{beside} [0-9.]+ Gb/s{latency}" for beside, latency in
                (("", ", [0-9.]+ µs"), (" with the others", "")) for rail in (0, 1)) + "$")
        self.assertRegex(done.splitlines()[-1], r", verified ([0-9]+)/\1\. Undo: ")
        # What was copied there for the run is gone.
        self.assertEqual(self.lab.sh(1, "ls /var/lib/spark-reconcile/bin 2>/dev/null || true"), "")

    def test_2_level_auto_writes_data_and_says_why_nccl_did_not_run(self):
        report = json.loads(self.spark("verify", PAIR, "--level", "auto", "--format", "json", expect=0).stdout)
        self.assertEqual(report["level"], "rdma")
        self.assertEqual({check["outcome"] for check in report["checks"] if check["level"] == "rdma"}, {"pass"})
        self.assertEqual(report["not_measured"]["level"], "nccl")
        self.assertRegex(report["not_measured"]["why"], r"^spark-[12] has no usable NVIDIA driver \(")
        self.assertEqual(report["findings"], [])

    def test_2_limits_are_there_after_a_reboot(self):
        self.lab.lab("restart", "1", limit_s=400)
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max").split(),
                         ["268435456", "268435456"])
        self.assertEqual(self.lab.lab("ssh", "1", "ulimit -l").stdout.strip(), "unlimited")
        self.assertEqual(self.lab.sh(1, "systemctl show -p DefaultLimitMEMLOCK --value").strip(), "infinity")
        self.assert_empty_plan(PAIR)

    def status(self, node, *options):
        text = self.spark("status", PAIR, "--format", "json", *options, expect=0).stdout
        [found] = [one for one in json.loads(text)["nodes"] if one["name"] == f"spark-{node}"]
        return found

    def test_3_facts_are_what_the_system_says(self):
        for node in (1, 2):
            self.push(node)
        facts, verbs = self.status(1, "--verbs"), self.facts(1)
        links = {link["ifname"]: link for link in json.loads(self.lab.sh(1, "rdma -j link show"))}
        self.assertEqual(set(facts["hcas"]), set(links))
        self.assertEqual(set(verbs), set(links))
        for hca, device in facts["hcas"].items():
            port = verbs[hca]["ports"][0]
            self.assertEqual({device["netdev"], verbs[hca]["netdev"]}, {links[hca]["netdev"]})
            self.assertEqual({device["state"], port["state"]}, {links[hca]["state"]})
            files = dict(line.split(":", 1) for line in self.lab.sh(
                1, f"cd /sys/class/infiniband/{hca}; grep -sH . node_guid sys_image_guid ports/1/phys_state "
                   "ports/1/rate ports/1/link_layer ports/1/gid_attrs/types/* ports/1/gid_attrs/ndevs/*; "
                   "grep -sHv 0000:0000:0000:0000:0000:0000:0000:0000 ports/1/gids/*; true").splitlines())
            self.assertEqual({device["node_guid"], verbs[hca]["node_guid"]}, {files["node_guid"]})
            self.assertEqual(device["system_guid"], files["sys_image_guid"])
            self.assertEqual({device["physical_state"], port["physical_state"]}, {files["ports/1/phys_state"].split()[1]})
            self.assertEqual(device["rate_mbps"], 1000 * float(files["ports/1/rate"].split()[0]))
            self.assertEqual(device["link_layer"], files["ports/1/link_layer"])
            gids = [{"index": index, "gid": files[f"ports/1/gids/{index}"],
                     "type": files[f"ports/1/gid_attrs/types/{index}"],
                     "netdev": files[f"ports/1/gid_attrs/ndevs/{index}"]}
                    for index in range(100) if f"ports/1/gids/{index}" in files]
            self.assertEqual(device["gids"], gids)
            self.assertEqual([{key: gid[key] for key in gids[0]} for gid in port["gids"]], gids)
            tool = dict(line.strip().split(":", 1) for line in self.lab.sh(1, f"ibv_devinfo -d {hca}").splitlines()
                        if ":" in line)
            self.assertEqual({device["verbs"]["active_mtu"], port["active_mtu"]}, {int(tool["active_mtu"].split()[0])})
            self.assertEqual(verbs[hca]["vendor_id"], int(tool["vendor_id"].strip(), 16))
            # What a device made of software has not, is not made up.
            self.assertEqual((device["firmware"], device["device"]["lanes"], device["verbs"]["dmabuf"]),
                             ("", 0, False))
            self.assertIn("sent_pkts", device["counters"])

    @beyond_core
    def test_3_facts_of_the_system_around_it(self):
        self.lab.sh(1, "nft 'add table inet t; add chain inet t in { type filter hook input priority 0; policy accept; }'")
        try:
            facts = self.status(1, "--verbs")
            rdma = facts["rdma"]
        finally:
            self.lab.sh(1, "nft delete table inet t")
        self.assertEqual(rdma["hcas"], 4)
        self.assertEqual(rdma["verbs"], 4)
        memory = [int(line.split()[1]) for line in self.lab.sh(1, "grep ^Cma /proc/meminfo || true").splitlines()]
        self.assertEqual(rdma["cma"],
                         dict(zip(("total_kib", "free_kib"), memory)) if memory else {"absent": True})
        self.assertEqual(facts["host"]["kernel"], self.lab.sh(1, "uname -r").strip())
        self.assertEqual({facts["links"][netdev]["manager"] for _, netdev, _ in RAILS}, {"networkd"})
        self.assertEqual(rdma["firewall"],
                         [{"family": "inet", "table": "t", "name": "in", "policy": "accept"}])
        self.assertTrue({"ib_core", "ib_uverbs", "rdma_rxe"} <= set(rdma["modules"]), rdma)
        unlimited = {"soft": "unlimited", "hard": "unlimited"}
        self.assertEqual(facts["memlock"], {"session": "unlimited", "service": unlimited, "user_service": unlimited})
        self.assertEqual(self.lab.lab("ssh", "1", "systemctl --user show -P DefaultLimitMEMLOCK").stdout.strip(),
                         "infinity")

    def assert_written(self, relay, senders, rails):
        self.assertEqual(relay.codes, {1: 0, 2: 0}, relay.messages)
        for node in senders:
            sent = relay.find(node, "sent")[0]["rails"]
            self.assertEqual([rail["hca"] for rail in sent], [hca for hca, _, _ in rails])
            for rail in sent:
                self.assertGreater(rail["gbps"], 0)
                self.assertEqual(rail["path_mtu"], 4096)
            self.assertEqual(relay.find(3 - node, "checked")[0]["bytes"], len(rails) * 2 * 65536)

    def test_4_one_rail_carries_what_it_should_and_the_other_nothing(self):
        for rail, other in (RAILS, RAILS[::-1]):
            before = self.counters(1)
            relay = Relay(self.lab, {1: end(1, rail, send=True, latency=20), 2: end(2, rail)})
            after = self.counters(1)
            self.assert_written(relay, [1], [rail])
            self.assertGreater(relay.find(1, "sent")[0]["rails"][0]["latency_us"], 0)
            counts = relay.find(1, "end")[0]["counters"]
            self.assertGreaterEqual(after[rail[0]] - before[rail[0]], counts[rail[0]]["sent_pkts"])
            self.assertGreaterEqual(counts[rail[0]]["sent_pkts"] * 4096, relay.find(1, "sent")[0]["rails"][0]["total_bytes"])
            self.assertEqual(after[other[0]], before[other[0]])
            self.assertEqual(counts[other[0]]["sent_pkts"], 0)

    def test_5_both_rails_and_both_directions(self):
        relay = Relay(self.lab, {1: end(1, *RAILS, send=True), 2: end(2, *RAILS, send=True)})
        self.assert_written(relay, [1, 2], RAILS)

    def test_6_a_rail_that_breaks_in_the_middle_is_named_within_the_deadline(self):
        def cut(node, message):
            if node == 1 and message["event"] == "connected":
                self.lab.sh(2, f"ip link set {RAILS[1][1]} down")
        try:
            relay = Relay(self.lab, {1: end(1, *RAILS, send=True, milliseconds=30000), 2: end(2, *RAILS)}, cut)
        finally:
            self.reconnect(RAILS[1][1])
        self.assertEqual(relay.codes[1], 1)
        error = relay.find(1, "error")[0]
        self.assertEqual((error["code"], error["hca"]), ("transfer", RAILS[1][0]))
        self.assertIn("transport retry counter exceeded", error["text"])
        speed.assert_within(relay.seconds, LIMIT_S)

    def reconnect(self, netdev):
        self.lab.sh(2, f"ip link set {netdev} up; networkctl reconfigure {netdev}; "
                       f"until ip -4 addr show {netdev} | grep -q inet; do sleep 0.1; done")

    def findings(self, expect):
        report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=expect).stdout)
        return report, {(finding["code"], tuple(finding["nodes"]), tuple(finding["rails"]))
                        for finding in report["findings"]}

    def test_6_verify_names_a_rail_that_breaks_while_it_is_measured(self):
        hca, netdev, _ = RAILS[1]
        # As soon as the write test's connections stand, and before its second of sending is over.
        script = (f"timeout {round(speed.scaled(110))} sh -c 'until rdma resource show qp link {hca} | grep -q \"type RC state RTS\"; do :; done' && "
                  f"ip link set {netdev} down")
        breaker = threading.Thread(target=self.lab.sh, args=(2, script))
        breaker.start()
        began = time.monotonic()
        try:
            report, findings = self.findings(6)
        finally:
            breaker.join()
            self.reconnect(netdev)
        speed.assert_within(time.monotonic() - began, 120)
        self.assertIn(("port-down", ("spark-2",), ("rail1",)), findings)
        # The write's own time can be over before spark-1's device has given up sending again.
        self.assertEqual(len(findings & {("no-acknowledgement", ("spark-1",), ("rail1",)),
                                         ("write-hangs", ("spark-1",), ("rail1",))}), 1, findings)
        outcomes = {(check["what"], check["from"], check["outcome"]) for check in report["checks"]
                    if check["level"] == "rdma" and check["rail"] == "rail0" and check["what"] == "write-alone"}
        self.assertEqual(outcomes, {("write-alone", f"spark-{node}", "pass") for node in (1, 2)})

    def test_7_what_is_missing_is_named(self):
        rail = RAILS[0]
        self.lab.sh(2, f"ip addr flush dev {rail[1]}")
        try:
            relay = Relay(self.lab, {1: end(1, rail, send=True), 2: end(2, rail)})
        finally:
            self.reconnect(rail[1])
        error = relay.find(2, "error")[0]
        self.assertEqual((error["code"], error["hca"]), ("open", rail[0]))
        self.assertIn("wanted a RoCE v2 GID for 192.168.177.2 on rocep1s0f1, found 0 fe80:", error["text"])

        library = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1"
        self.lab.sh(2, f"mv {library} {library}.away")
        try:
            findings = self.findings(7)[1]
            verbs = json.loads(self.lab.sh(2, "/var/lib/spark-verify facts"))
        finally:
            self.lab.sh(2, f"mv {library}.away {library}")
        self.assertEqual({(code, nodes) for code, nodes, _ in findings}, {("no-libibverbs", ("spark-2",))})
        self.assertEqual(verbs["devices"], [])
        self.assertIn("wanted libibverbs.so.1, the loader says: ", verbs["error"])

    def test_7_what_the_facts_show_is_not_measured_again(self):
        """A wrong MTU on one rail and no GID on the other: two findings, and nothing is written there."""
        self.lab.sh(2, f"ip link set {RAILS[0][1]} mtu 1500; ip addr flush dev {RAILS[1][1]}")
        try:
            relay = Relay(self.lab, {1: end(1, RAILS[0], send=True), 2: end(2, RAILS[0])})
            report, findings = self.findings(6)
        finally:
            self.lab.sh(2, f"ip link set {RAILS[0][1]} mtu 9000")
            self.reconnect(RAILS[1][1])
        self.assertEqual(relay.find(2, "ready")[0]["rails"][0]["active_mtu"], 1024)
        self.assertEqual(relay.find(1, "sent")[0]["rails"][0]["path_mtu"], 1024)
        self.assertEqual(findings, {("mtu-wrong", ("spark-2",), ("rail0",)),
                                    ("address-missing", ("spark-2",), ("rail1",))})
        self.assertEqual({check["outcome"] for check in report["checks"] if check["level"] == "rdma"}, {"skipped"})

    @beyond_core
    def test_8_an_end_that_loses_its_controller_or_its_time_is_gone(self):
        gone = json.loads(self.lab.sh(1, f"{write_command(end(1, RAILS[0], send=True))} </dev/null | tail -n 1"))
        self.assertEqual((gone["event"], gone["code"]), ("error", "controller-gone"))
        short = write_command(end(1, RAILS[0], send=True, limit_ms=1500))
        late = json.loads(self.lab.sh(1, f"sleep 6 | {short} | tail -n 1"))
        self.assertEqual((late["event"], late["code"]), ("error", "deadline"))
        self.assertEqual(self.lab.sh(1, "pgrep spark-verify || true"), "")

    @beyond_core
    def test_8_the_program_is_kept_on_demand_and_never_trusted_by_its_name(self):
        report = json.loads(self.spark("verify", PAIR, "--keep-program", "--format", "json", expect=0).stdout)
        self.assertEqual((report["level"], report["findings"]), ("rdma", []))
        writes = {(check["what"], check["from"], check["to"], check["rail"], check["outcome"])
                  for check in report["checks"] if check["level"] == "rdma"}
        self.assertEqual(writes, {(what, f"spark-{a}", f"spark-{3 - a}", rail, "pass")
                                  for what in ("write-alone", "write-together")
                                  for a in (1, 2) for rail in ("rail0", "rail1")})
        path = self.lab.sh(1, "ls -d /var/lib/spark-reconcile/bin/spark-verify-*").strip()
        self.assertTrue(self.lab.sh(1, f"sha256sum {path}").startswith(path.rpartition("-")[2]))
        self.lab.sh(1, f"echo '#!/bin/sh' >{path}")
        self.status(1, "--verbs")  # copies it again, and takes it away
        self.assertEqual(self.lab.sh(1, "ls /var/lib/spark-reconcile/bin 2>/dev/null || true"), "")

    def test_9_an_apply_that_would_cut_an_open_connection_is_refused(self):
        self.lab.sh(1, f"ip link set {RAILS[0][1]} mtu 1500")
        refused = []

        def apply(node, message):
            if node == 1 and message["event"] == "connected":
                refused.append(self.lab.spark("apply", PAIR, "--yes", "--no-verify"))
        Relay(self.lab, {1: end(1, RAILS[0], send=True, milliseconds=1000), 2: end(2, RAILS[0])}, apply)
        self.assertNotEqual(refused[0].returncode, 0, refused[0].stdout)
        self.assertIn("spark-verify", refused[0].stderr)
        self.assertEqual(self.lab.sh(1, f"cat /sys/class/net/{RAILS[0][1]}/mtu").strip(), "1500")
        if FULL:  # the connection is over, and nothing refuses
            self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)

    def test_9_writes_over_a_link_local_rail_too(self):
        manifest = self.variant_of(PAIR, ("subnets: [192.168.177.0/24, 192.168.178.0/24]",
                                          "link_local: true\n  subnets: [192.168.177.0/24]"))
        self.spark("apply", manifest, "--yes", "--no-verify", expect=0)
        for node in (1, 2):
            self.assertRegex(self.lab.sh(node, "ip -4 -br addr show dev enP2p1s0f1np1"), r" 169\.254\.[0-9]+\.[0-9]+/16 ")
        before = self.counters(1)
        report = json.loads(self.spark("verify", manifest, "--format", "json", expect=0).stdout)
        written = {(check["from"], check["to"], check["rail"]) for check in report["checks"]
                   if check["level"] == "rdma" and check["outcome"] == "pass"}
        self.assertLessEqual({("spark-1", "spark-2", "rail1"), ("spark-2", "spark-1", "rail1")}, written)
        self.assertGreater(self.counters(1)["roceP2p1s0f1"], before["roceP2p1s0f1"])


if __name__ == "__main__":
    machines_or_skip(rdma=True)
    if not FULL:
        left_out = [name for name in dir(Rdma) if getattr(getattr(Rdma, name), "__unittest_skip__", False)]
        print(f"core set; left out: {', '.join(left_out)} (test_rdma.py --full)", flush=True)
    unittest.main(argv=[word for word in sys.argv if word != "--full"])
