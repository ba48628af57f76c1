"""Three nodes without a switch: six subnets, each pair on its own cable."""

import json
import unittest

from spark_lab import LabTest, cluster

RING = cluster("ring-3.yaml")


class Ring(LabTest):
    nodes = 3
    options = ("--topology", "ring")

    def test_every_pair_reaches_each_other_over_both_twins_of_its_cable(self):
        self.spark("apply", RING, "--yes", "--brief", expect=0)
        self.assert_empty_plan(RING)
        report = json.loads(self.spark("verify", RING, "--format", "json", expect=0).stdout)
        pings = [check for check in report["checks"] if check["level"] == "ping"]
        self.assertEqual(len(pings), 3 * 2 * 2)  # cables, twins, directions
        self.assertEqual({check["rail"] for check in pings}, {f"rail{rail}" for rail in range(6)})


if __name__ == "__main__":
    unittest.main()
