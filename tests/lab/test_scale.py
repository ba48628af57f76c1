"""From two nodes to four to eight by editing the manifest: nothing else moves."""

import json
import unittest

from spark_lab import LabTest, cluster

ADDRESSES = "ip -br -4 addr | grep -v '^lo '"
# What an old node must learn about new ones; nothing on it is renumbered or reconfigured.
OF_PEERS = {("file", "/etc/hosts"), ("file", "~nvidia/.ssh/authorized_keys"),
            ("file", "~nvidia/.ssh/known_hosts"), ("file", "~nvidia/.ssh/config")}


class Growing(LabTest):
    def assert_all_pairs_verified(self, manifest, nodes):
        report = json.loads(self.spark("verify", manifest, "--format", "json", expect=0).stdout)
        for level in ("ping", "ssh"):
            pairs = {(check["from"], check["to"], check["rail"]) for check in report["checks"]
                     if check["level"] == level and check["outcome"] == "pass"}
            self.assertEqual(len(pairs), nodes * (nodes - 1) * 2)

    def grow(self, manifest, old, new):
        before = [self.lab.sh(node, ADDRESSES) for node in range(1, old + 1)]
        self.lab.lab("add", str(new))
        planned = self.changes(self.plan(manifest))
        for node, kind, name in planned:
            if int(node.removeprefix("spark-")) <= old:
                self.assertIn((kind, name), OF_PEERS)
        self.spark("apply", manifest, "--yes", "--brief", expect=0)
        self.assert_empty_plan(manifest)
        self.assert_all_pairs_verified(manifest, new)
        self.assertEqual([self.lab.sh(node, ADDRESSES) for node in range(1, old + 1)], before)

    def test_growing_changes_on_old_nodes_only_what_they_know_of_their_peers(self):
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", expect=0)
        self.assert_all_pairs_verified(cluster("pair.yaml"), 2)
        self.grow(cluster("switch-4.yaml"), 2, 4)
        self.grow(cluster("switch-8.yaml"), 4, 8)


if __name__ == "__main__":
    unittest.main()
