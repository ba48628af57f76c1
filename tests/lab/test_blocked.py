"""A pair of which one end is claimed by another file, or is left out: both ends stay as they are, and what needs them."""

import os
import tempfile
import unittest

from spark_lab import LabTest, cluster

PAIR = cluster("pair.yaml")
PORTS = ("enp1s0f1np1", "enP2p1s0f1np1")
# What is on a node for its ports, and would be written for them.
FABRIC = """cat /etc/hosts; ls -A /etc/netplan /run/netplan /etc/sysctl.d /etc/profile.d /etc/spark-reconcile 2>&1
ls ~nvidia/.ssh/known_hosts ~nvidia/.ssh/config 2>&1; ip -br address show; ip -br link show
sysctl net.ipv4.conf.enp1s0f1np1.arp_ignore net.ipv4.conf.enp1s0f1np1.arp_announce"""
ALL = FABRIC + """
ls -A /etc/security/limits.d /etc/systemd/system ~nvidia/.ssh; ls -A /var/lib/spark-reconcile 2>&1; true"""
CLAIM = """cat >/etc/netplan/40-cx7.yaml <<'END'
network:
  version: 2
  ethernets: {enp1s0f1np1: {addresses: [10.0.0.2/24]}}
END
chmod 600 /etc/netplan/40-cx7.yaml"""
LEFT_OUT = "{0} would change, and spark-2 at the other end stays as it is: it is not part of this apply"


class BlockedEnds(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    def looks(self, script):
        return {node: self.lab.sh(node, script + "; true") for node in (1, 2)}

    def manifest(self):
        return self.variant_of(PAIR, ("memlock: 4096", "nccl: {mode: safe}\nmemlock: 4096"))

    def test_0_one_end_of_a_bare_cable_is_refused_and_the_plan_says_so(self):
        before = self.looks(ALL)
        plan = self.plan(PAIR, "--node", "spark-1")
        self.assertEqual([one["message"] for one in plan["diagnostics"] if one["code"] == "plan-half-cable"],
                         [LEFT_OUT.format(port) for port in PORTS])
        refused = "nothing was changed, because it would change one end of a cable only:\n" + "".join(
            f"  spark-1: {LEFT_OUT.format(port)}\n" for port in sorted(PORTS))
        done = self.spark("apply", PAIR, "--node", "spark-1", "--yes", "--brief", expect=2)
        self.assertIn(refused, done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "plan.json")
            self.spark("plan", PAIR, "--node", "spark-1", "--out", saved, expect=0)
            self.assertIn(refused, self.spark("apply", saved, "--yes", "--brief", expect=2).stderr)
        self.assertEqual(self.looks(ALL), before)
        # What is about no port goes on.
        self.spark("apply", PAIR, "--node", "spark-1", "--only", "memlock", "--yes", "--brief", expect=0)

    def test_1_a_claimed_end_holds_both_and_all_that_needs_them(self):
        manifest = self.manifest()
        self.lab.sh(2, CLAIM)
        before = self.looks(FABRIC)
        plan = self.plan(manifest)
        blocked = {(change["node"], change["name"]): change["detail"]
                   for stage in plan["stages"] for change in stage["changes"] if change["change"] == "blocked"}
        self.assertEqual(blocked["spark-2", PORTS[0]], "/etc/netplan/40-cx7.yaml configures it as well")
        for port in PORTS:
            self.assertEqual(blocked["spark-1", port], f"spark-2's {port} at the other end is blocked")
        for node in ("spark-1", "spark-2"):
            for name in ("/etc/hosts", "~nvidia/.ssh/known_hosts", "~nvidia/.ssh/config", "/etc/spark-reconcile/nccl.env",
                         "/etc/profile.d/60-spark-reconcile-nccl.sh", "/etc/sysctl.d/60-spark-reconcile.conf",
                         "net.ipv4.conf.enp1s0f1np1.arp_ignore"):
                self.assertEqual(blocked[node, name], f"needs enp1s0f1np1 of {node}, which is blocked")
        only = self.plan(manifest, "--only", "hosts")
        self.assertEqual([(change["plugin"], change["change"]) for stage in only["stages"] for change in stage["changes"]],
                         [("hosts", "blocked")] * 2)
        planned = self.changes(plan)
        for change in (("spark-1", "sysctl", "net.ipv4.tcp_mtu_probing"), ("spark-2", "unit", "fabric-note.service"),
                       ("spark-2", "file", "/etc/security/limits.d/60-spark-reconcile.conf")):
            self.assertIn(change, planned)
        self.assertFalse([change for change in planned if change[1] == "link"])

        done = self.spark("apply", manifest, "--yes", "--brief", expect=2)
        self.assertRegex(done.stdout.splitlines()[-1], r"^BLOCKED, with 1 warning: \d+ changes are blocked; 1 thing on 1 node wins over the manifest at the "
                                                      r"next boot or re-plug; applied: \d+ changes on 2 nodes in ")
        self.assertIn("not proved: what happens when the controller is lost during the commit\n", done.stdout)
        self.assertIn("  next step: correct what blocks them, and apply again\n", done.stdout)
        self.assertIn("not verified, because ports of the fabric are blocked:\n", done.stdout)
        self.assertEqual(self.looks(FABRIC), before)
        self.assertEqual(self.lab.sh(2, "systemctl is-active fabric-note"), "active\n")
        again = self.spark("apply", manifest, "--yes", "--brief", expect=2)
        self.assertIn("\n26 blocked, 1 warning.\n", again.stdout)
        self.assertIn("not verified", again.stdout)

    def test_2_half_a_cable_can_be_planned_on_purpose_and_is_permitted_again_for_a_saved_plan(self):
        manifest = self.manifest()
        plan = self.plan(manifest, "--allow-half-cables")
        planned = self.changes(plan)
        for port in PORTS:
            self.assertIn(("spark-1", "link", port), planned)
            self.assertNotIn(("spark-2", "link", port), planned)
        self.assertIn(("spark-1", "file", "/etc/hosts"), planned)
        self.assertNotIn(("spark-2", "file", "/etc/hosts"), planned)
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "plan.json")
            self.spark("plan", manifest, "--out", saved, expect=0)
            done = self.spark("apply", saved, "--yes", "--brief", "--allow-half-cables", expect=2)  # it fits, and changes nothing
            self.assertIn("\n26 blocked, 1 warning.\n", done.stdout)
            self.spark("plan", manifest, "--allow-half-cables", "--out", saved, expect=0)
            refused = self.spark("apply", saved, "--yes", "--brief", expect=1)
            self.assertIn("was made with --allow-half-cables", refused.stderr)
            self.assertNotIn("mtu 9000", self.lab.sh(1, "ip link show enp1s0f1np1"))
            self.spark("apply", saved, "--yes", "--brief", "--allow-half-cables", expect=2)
        self.assertIn("mtu 9000", self.lab.sh(1, "ip link show enp1s0f1np1"))
        self.assertNotIn("mtu 9000", self.lab.sh(2, "ip link show enp1s0f1np1"))

    def test_3_without_the_claim_all_of_it_is_applied_and_verified(self):
        manifest = self.manifest()
        self.lab.sh(2, "rm /etc/netplan/40-cx7.yaml")
        self.spark("apply", manifest, "--yes", "--brief", expect=0)
        self.assert_empty_plan(manifest)

    def test_4_what_holds_is_not_blocked_by_a_claim_that_comes_later(self):
        manifest = self.manifest()
        self.lab.sh(2, CLAIM)
        self.assertEqual(self.plan(manifest)["blocked"], 0)
        self.lab.sh(1, "sed -i /spark-2-rail1/d /etc/hosts")
        self.assertEqual(self.changes(self.plan(manifest)), [("spark-1", "file", "/etc/hosts")])
        self.lab.sh(2, "rm /etc/netplan/40-cx7.yaml")


class MissingPort(LabTest):
    options = ("--topology", "direct")

    def test_a_port_that_is_not_there_holds_up_no_other_rail(self):
        self.lab.sh(2, f"ip link set {PORTS[1]} down && ip link set {PORTS[1]} name other0")
        plan = self.plan(PAIR)
        blocked = [(change["node"], change["name"]) for stage in plan["stages"] for change in stage["changes"]
                   if change["change"] == "blocked"]
        self.assertIn(("spark-2", PORTS[1]), blocked)
        self.assertFalse([name for node, name in blocked if node == "spark-1"])
        planned = self.changes(plan)
        for change in (("spark-1", "link", PORTS[0]), ("spark-1", "link", PORTS[1]), ("spark-2", "link", PORTS[0])):
            self.assertIn(change, planned)
        done = self.spark("apply", PAIR, "--yes", "--brief", expect=2)
        self.assertIn("not verified, because ports of the fabric are blocked:\n", done.stdout)
        self.lab.sh(1, "ping -c 1 -W 2 -M do -s 8972 192.168.177.2")
        self.lab.sh(2, f"ip link set other0 name {PORTS[1]}")
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(PAIR)


if __name__ == "__main__":
    unittest.main()
