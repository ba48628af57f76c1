"""What the nodes remember of us: things that the manifest drops return to their originals, an edited file
wants a decision, an earlier generation comes back, and an uninstall leaves nothing."""

import json
import os
import unittest

from spark_lab import LabTest, cluster, temporary_folder
from test_guard import STATE

LEDGER = "/var/lib/spark-reconcile/ledger.json"
PROBING = "cat /proc/sys/net/ipv4/tcp_mtu_probing"
# What networkd sets for a port that it manages.
SETTINGS = ("cd /proc/sys/net && for port in enp1s0f1np1 enP2p1s0f1np1; do "
            "cat ipv6/conf/$port/accept_ra ipv6/conf/$port/addr_gen_mode ipv4/conf/$port/promote_secondaries; done")
UNIT = "systemctl is-active fabric-note 2>&1; ls /etc/systemd/system/*.wants | grep -c fabric-note; true"


def pair_without(*parts):
    """The pair's manifest without some of its top-level sections, in a file of its own."""
    with open(cluster("pair.yaml"), encoding="utf-8") as source:
        blocks = source.read().split("\n\n")
    kept = []
    for block in blocks:
        lines = [line for line in block.split("\n") if line.split(":")[0] not in parts]
        gone = block.split(":")[0] in parts
        if lines and not gone:
            kept.append("\n".join(lines))
    path = os.path.join(temporary_folder(), "cluster.yaml")
    with open(path, "w", encoding="utf-8") as target:
        target.write("\n\n".join(kept) + "\n")
    return path


class Ledger(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Not what a fresh node has, so that it shows what "before us" means.
        for node in (1, 2):
            cls.lab.sh(node, "sysctl -qw net.ipv4.tcp_mtu_probing=2; printf '10.1.2.3 nas # mine' >>/etc/hosts")
        cls.before = [cls.lab.sh(node, STATE) for node in (1, 2)]
        cls.settings = [cls.lab.sh(node, SETTINGS) for node in (1, 2)]
        cls.pair = os.path.join(temporary_folder(), "cluster.yaml")
        with open(cluster("pair.yaml"), encoding="utf-8") as source, \
                open(cls.pair, "w", encoding="utf-8") as target:
            target.write(source.read())

    def ledger(self, node):
        return json.loads(self.lab.sh(node, f"cat {LEDGER}"))

    def ids(self, node):
        return {f"{entry['kind']} {entry['name']}" for entry in self.ledger(node)["entries"]}

    def test_1_an_apply_is_remembered_with_what_was_there_before(self):
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)
        self.assertEqual(self.lab.sh(1, f"stat -c '%a %U' {LEDGER}"), "600 root\n")
        ledger = self.ledger(1)
        self.assertEqual([node["name"] for node in ledger["nodes"]], ["spark-1", "spark-2"])
        self.assertEqual(ledger["generation"], 1)
        probing = [entry for entry in ledger["entries"] if entry["name"] == "net.ipv4.tcp_mtu_probing"]
        self.assertEqual(probing[0]["triggers"][0]["run"], ["sysctl", "-w", "--", "net.ipv4.tcp_mtu_probing=2"])
        self.assert_empty_plan(self.pair)
        history = json.loads(self.spark("history", self.pair, "--format", "json", expect=0).stdout)
        self.assertEqual([node["name"] for node in history["nodes"]], ["spark-1", "spark-2"])
        for node in history["nodes"]:
            self.assertEqual([(one["generation"], one["applied"]["verification"]) for one in node["generations"]], [(1, "passed")])
        with open(self.pair, encoding="utf-8") as text:
            self.assertEqual(self.spark("history", self.pair, "--show", "1", expect=0).stdout, text.read())
        self.assertIn("managed, last changed by generation 1\n", self.spark("status", self.pair, "--details", expect=0).stdout)

    def test_2_what_the_manifest_drops_goes_back_to_what_it_was_before_us(self):
        less = pair_without("sysctl", "units")
        plan = self.spark("plan", less, "--brief", expect=0).stdout
        self.assertIn("net.ipv4.tcp_mtu_probing: no longer in the manifest: set back by sysctl -w -- "
                      "net.ipv4.tcp_mtu_probing=2", plan)
        self.spark("apply", less, "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, PROBING), "2\n")
            self.assertEqual(self.lab.sh(node, UNIT), "inactive\n0\n")
            self.lab.sh(node, "test ! -e /etc/systemd/system/fabric-note.service")
            # The fabric's own keys are still required.
            self.assertIn("arp_ignore", self.lab.sh(node, "cat /etc/sysctl.d/60-spark-reconcile.conf"))
            self.assertNotIn("unit fabric-note.service", self.ids(node))
        self.assert_empty_plan(less)
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)
        self.assertEqual(self.ledger(1)["generation"], 3)

    def test_3_a_prune_that_fails_is_reverted(self):
        before = [self.lab.sh(node, STATE) for node in (1, 2)]
        ledger = self.lab.sh(1, f"cat {LEDGER}")
        self.lab.sh(2, "chattr +i /etc/security/limits.d/60-spark-reconcile.conf")
        try:
            self.spark("apply", pair_without("sysctl", "memlock"), "--yes", "--brief", expect=4)
        finally:
            self.lab.sh(2, "chattr -i /etc/security/limits.d/60-spark-reconcile.conf")
        self.assertEqual([self.lab.sh(node, STATE) for node in (1, 2)], before)
        self.assertEqual(self.lab.sh(1, f"cat {LEDGER}"), ledger)
        self.assert_empty_plan(self.pair)

    def test_4_an_edited_file_wants_a_decision(self):
        path = "/etc/systemd/system/fabric-note.service"
        wanted = self.lab.sh(1, f"cat {path}")
        self.lab.sh(1, f"echo '# by hand' >>{path}; systemctl daemon-reload")
        refused = self.spark("apply", self.pair, "--yes", "--brief", "--no-verify", expect=2)
        self.assertIn(f"{path}: edited on the node since generation 3: --overwrite-edited writes it again",
                      refused.stdout)
        self.assertTrue(self.lab.sh(1, f"cat {path}").endswith("# by hand\n"))
        self.spark("apply", self.pair, "--yes", "--brief", "--no-verify", "--overwrite-edited", expect=0)
        self.assertEqual(self.lab.sh(1, f"cat {path}"), wanted)
        self.assert_empty_plan(self.pair)

    def test_4_links_of_an_edited_network_file_stay_with_it(self):
        path = "/etc/netplan/60-spark-reconcile.yaml"
        mtu = "cat /sys/class/net/enp1s0f1np1/mtu"
        wanted = self.lab.sh(1, f"cat {path}")
        self.lab.sh(1, f"echo '# by hand' >>{path}; ip link set dev enp1s0f1np1 mtu 1500")
        for _ in range(2):
            refused = self.spark("apply", self.pair, "--yes", "--brief", "--no-verify", expect=2)
            self.assertRegex(refused.stdout, rf"this would activate {path}, which was edited on the node since")
            self.assertEqual(self.lab.sh(1, mtu), "1500\n")
        self.spark("apply", self.pair, "--yes", "--brief", "--no-verify", "--overwrite-edited", expect=0)
        self.assertEqual(self.lab.sh(1, f"cat {path}"), wanted)
        self.assertEqual(self.lab.sh(1, mtu), "9000\n")

    def test_5_too_many_at_once_are_blocked_with_their_number(self):
        few = pair_without("sysctl", "units")
        with open(few, "a", encoding="utf-8") as manifest:
            manifest.write("max_prune: 1\n")
        plan = self.spark("plan", few, "--brief", "--detailed-exitcode", expect=2).stdout
        self.assertIn("no longer in the manifest, as 3 things on this node, and max_prune is 1", plan)

    def test_6_an_earlier_generation_comes_back(self):
        done = self.spark("rollback", self.pair, "--to", "2", "--yes", "--brief", expect=0)
        self.assertRegex(done.stdout, r"(?m)^rolling back to generation 2 of .*, applied 20\S+Z by ")
        self.assertIn("rolled back to generation 2", done.stdout)
        self.assertEqual(self.lab.sh(1, PROBING), "2\n")
        history = json.loads(self.spark("history", self.pair, "--format", "json", expect=0).stdout)
        newest = history["nodes"][0]["generations"][-1]
        self.assertEqual(newest["applied"]["rolled_back_to"], 2)
        # What was reviewed is done once, also when the state that it was made for has come back.
        saved = os.path.join(os.path.dirname(self.pair), "plan.json")
        self.spark("plan", self.pair, "--out", saved, expect=0)
        self.spark("apply", saved, "--yes", "--brief", expect=0)
        self.spark("rollback", self.pair, "--to", "2", "--yes", "--brief", expect=0)
        again = self.spark("apply", saved, "--yes", expect=8)
        self.assertRegex(again.stderr, r"spark-1: applied to since the plan was made: generation \d+ then, \d+ now\n")
        self.spark("rollback", self.pair, "--to", "1", "--yes", "--brief", expect=0)
        self.assertEqual(self.lab.sh(1, PROBING), "1\n")
        self.assert_empty_plan(self.pair)
        # A generation that one node alone remembers is no target.
        kept = "/var/lib/spark-reconcile/generations"
        self.lab.sh(2, f"cp {kept}/2.json {kept}/99.json")
        for options in ((), ("--to", "99")):
            alone = self.spark("rollback", self.pair, *options, "--yes", expect=1)
            self.assertIn("spark-2 has it, spark-1 does not", alone.stderr)
        self.lab.sh(2, f"rm {kept}/99.json")
        unknown = self.spark("rollback", self.pair, "--to", "77", "--yes", expect=1)
        self.assertIn("no node has generation 77", unknown.stderr)

    def test_6_what_the_manifest_leaves_alone_from_now_on_goes_back_to_what_it_was_before_us(self):
        arp = "cat /proc/sys/net/ipv4/conf/en*np1/arp_ignore /proc/sys/net/ipv4/conf/en*np1/arp_announce"
        self.assertEqual(self.lab.sh(1, arp).split(), ["1", "1", "2", "2"])
        less = self.variant_of(self.pair, ("  mtu: 9000\n", "  mtu: 9000\n  arp: ignore\n"), ("memlock: 4096\n", "hosts: {manage: false}\n"
                                                                                             "memlock: 4096\n"))
        plan = self.spark("plan", less, expect=0).stdout
        self.assertIn("net.ipv4.conf.enp1s0f1np1.arp_ignore: no longer in the manifest: set back by sysctl -w -- "
                      "net.ipv4.conf.enp1s0f1np1.arp_ignore=0", plan)
        self.assertRegex(plan, "(?m)^  ~ file +/etc/hosts: no longer in the manifest: as it was before")
        # Ends with the verification, and so with logins by the names of the rails.
        self.spark("apply", less, "--yes", "--brief", expect=0)
        self.assertIn("note: spark-1, spark-2: sysctl: fabric.arp is ignore, and a port may answer ARP for the address of another one of its "
                      "node: found arp_ignore 0, arp_announce 0 on enp1s0f1np1, enP2p1s0f1np1 [sysctl-arp-ignored]",
                      self.spark("plan", less, expect=0).stdout)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, arp).split(), ["0"] * 4)
            self.assertNotIn("arp", self.lab.sh(node, "cat /etc/sysctl.d/60-spark-reconcile.conf"))
            self.assertTrue(self.lab.sh(node, "cat /etc/hosts").endswith("10.1.2.3 nas # mine"))
            self.assertFalse({"file /etc/hosts", "sysctl net.ipv4.conf.enp1s0f1np1.arp_ignore"} & self.ids(node))
        self.assert_empty_plan(less)
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)

    def test_7_a_manifest_that_lost_a_node_is_refused(self):
        with open(self.pair, encoding="utf-8") as source:
            text = source.read().replace("{name: spark-2,", "{name: spark-9, id: 2,")
        path = os.path.join(temporary_folder(), "cluster.yaml")
        with open(path, "w", encoding="utf-8") as target:
            target.write(text)
        refused = self.spark("apply", path, "--yes", "--brief", expect=1)
        self.assertIn("spark-2 (192.168.1.22) was applied to and is no longer in", refused.stderr)
        self.assertIn("nothing was changed", refused.stderr)
        with open(path, "a", encoding="utf-8") as target:
            target.write("moved: {nodes: {spark-2: spark-9}}\n")
        plan = self.spark("plan", path, "--brief", expect=0).stdout
        self.assertNotIn("is no longer in the manifest: nothing is done", plan)

    def test_7_what_an_apply_left_out_was_changed_in_the_manifest(self):
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)
        changed = self.variant_of(self.pair, ("net.ipv4.tcp_mtu_probing: 1", "net.ipv4.tcp_mtu_probing: 0"), ("mtu: 9000", "mtu: 8000"))
        self.spark("apply", changed, "--only", "sysctl", "--yes", "--brief", "--no-verify", expect=0)
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        plan = json.loads(self.spark("plan", changed, "--format", "json", expect=0).stdout)
        causes = {change["name"]: change["cause"]["kind"] for stage in plan["stages"] for change in stage["changes"]}
        self.assertEqual(causes.pop("net.ipv4.tcp_mtu_probing"), "drifted")
        self.assertIn("enp1s0f1np1", causes)
        self.assertEqual(set(causes.values()), {"manifest-changed"}, causes)

    def test_7_what_was_blocked_in_an_apply_was_changed_in_the_manifest(self):
        self.spark("apply", self.pair, "--yes", "--brief", "--no-verify", expect=0)
        path = "/etc/security/limits.d/60-spark-reconcile.conf"
        written = self.lab.sh(1, f"cat {path}")
        self.lab.sh(1, f"echo '# by hand' >>{path}")
        changed = self.variant_of(self.pair, ("memlock: 4096", "memlock: 8192"), ("net.ipv4.tcp_mtu_probing: 1", "net.ipv4.tcp_mtu_probing: 0"))
        self.spark("apply", changed, "--yes", "--brief", "--no-verify", expect=2)
        self.assertEqual(self.lab.sh(1, PROBING), "0\n")
        self.lab.sh(1, f"printf %s '{written}' >{path}")
        plan = json.loads(self.spark("plan", changed, "--format", "json", expect=0).stdout)
        causes = {change["name"]: change["cause"]["kind"] for stage in plan["stages"] for change in stage["changes"]}
        self.assertEqual(causes[path], "manifest-changed")
        self.assertEqual(set(causes.values()), {"manifest-changed"}, causes)

    def test_8_an_uninstall_leaves_the_nodes_as_they_were_before_the_first_apply(self):
        done = self.spark("uninstall", self.pair, "--yes", "--brief", expect=0)
        self.assertIn("spark-1: nothing of spark-reconcile is left but ~nvidia/.ssh/id_ed25519_spark, /var/lib/spark-reconcile is gone\n",
                      done.stdout)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, STATE), self.before[node - 1])
            self.assertEqual(self.lab.sh(node, SETTINGS), self.settings[node - 1])
            self.lab.sh(node, "test ! -e /var/lib/spark-reconcile")

    def test_9_what_an_uninstall_cannot_prune_is_reported(self):
        path = "/etc/security/limits.d/60-spark-reconcile.conf"
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)
        self.lab.sh(1, f"echo '# by hand' >>{path}")
        done = self.spark("uninstall", self.pair, "--yes", "--brief", expect=2)
        self.assertIn(f"left on spark-1: file {path}: uninstall: edited on the node since generation 1",
                      done.stdout)
        self.assertEqual([entry["name"] for entry in self.ledger(1)["entries"]], [path])
        self.lab.sh(2, "test ! -e /var/lib/spark-reconcile")
        self.lab.sh(1, f"rm {path}")
        self.spark("uninstall", self.pair, "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, STATE), self.before[node - 1])
            self.lab.sh(node, "test ! -e /var/lib/spark-reconcile")

    def test_a_without_a_ledger_an_uninstall_names_what_is_ours(self):
        self.spark("apply", self.pair, "--yes", "--brief", expect=0)
        self.lab.sh(1, f"rm {LEDGER}")
        done = self.spark("uninstall", self.pair, "--yes", "--brief", expect=2)
        self.assertIn("left on spark-1: file /etc/netplan/60-spark-reconcile.yaml: it has our mark, but the "
                      "node has no ledger with the original: remove it by hand\n", done.stdout)
        self.assertEqual(self.lab.sh(2, STATE), self.before[1])


if __name__ == "__main__":
    unittest.main()
