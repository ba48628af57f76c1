"""Nodes like DGX OS, where NetworkManager has every port, as NVIDIA's guides, its script and sparkrun leave them: from what discover
says of them to a verified cluster, and the way back. The letters are those of test_starting_states."""

import os
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import test_starting_states  # noqa: E402
from test_adopt import GUIDE, ONE_SUBNET, RIGHT, SEPARATE  # noqa: E402
from test_starting_states import LINK_LOCAL, SPARKRUN  # noqa: E402
from test_uninstall import UninstallTest  # noqa: E402


class DgxOsStates(test_starting_states.StartingState):
    options = ("--topology", "direct", "--like", "dgx-os")

    def setUp(self):
        UninstallTest.setUp(self)  # bare is as after a restart

    def state(self, node):
        """Without udev's files of ports, which are those of the last boot: NetworkManager sets the MTU on its own."""
        return "".join(line for line in super().state(node).splitlines(keepends=True) if ".link " not in line)

    def walk(self, text, ids, address, expect):
        """discover, plan, apply, verify, re-plug, restart, uninstall, restart. `address`: how those of the file begin. Returns the
        manifest that discover wrote, and what it said."""
        self.set_up(GUIDE, text, ids)
        for node in (1, 2):
            self.wait_until(node, f"ip -br -4 address show dev {RIGHT[0]} | grep -q {address}")
        before = self.settle_both()
        manifest, found, errors = self.discover(expect)
        plan = self.plan(manifest)
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual([one for one in plan["diagnostics"] if one["severity"] != "informs"], [])
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, GUIDE)
        self.spark("verify", manifest, expect=0)
        self.assert_way_back(manifest, before)
        return found, errors

    def test_a_link_local_addresses(self):
        found, errors = self.walk(LINK_LOCAL, (1, 2), "169.254", 2)
        self.assertEqual(errors, f"""\
not as found: rail0: spark-1 {RIGHT[0]} has a link-local address only; 192.168.177.0/24 is free and takes its place
not as found: rail1: spark-1 {RIGHT[1]} has no address; 192.168.178.0/24 is free and takes its place
""")
        self.assertIn(f"  - {{file: {GUIDE}, nodes: {{spark-1: ", found)

    def test_b_both_twins_in_one_subnet(self):
        found, errors = self.walk(ONE_SUBNET, (1, 2), "192.168.0", 2)
        self.assertEqual(errors, """\
not as found: rail1: 192.168.0.0/24 is another rail's too: not expressible, each rail needs its own subnet; 192.168.177.0/24 is \
free and takes its place
""")
        self.assertIn("  subnets:\n    - 192.168.0.0/24\n    - 192.168.177.0/24\n", found)

    def test_c_a_subnet_per_twin(self):
        found, errors = self.walk(SEPARATE, (10, 11), "192.168.100", 0)
        self.assertEqual(errors, "")
        self.assertIn("  subnets:\n    - 192.168.100.0/24\n    - 192.168.101.0/24\n", found)

    def test_e_what_sparkrun_made(self):
        found, errors = self.walk(SPARKRUN, (21, 22), "192.168.0", 0)
        self.assertEqual(errors, "")
        self.assertIn("  subnets:\n    - 192.168.0.0/24\n    - 192.168.2.0/24\n", found)

    def test_j_one_end_bare_and_one_as_nvidia_left_it(self):
        self.write(GUIDE, ONE_SUBNET.format(0, 3, 4), 2)
        self.lab.sh(2, "netplan apply")
        self.wait_until(2, f"ip -br -4 address show dev {RIGHT[1]} | grep -q 192.168.0.4")
        before = self.settle_both()
        manifest, found, errors = self.discover(2)
        self.assertIn(f"not as found: rail0: spark-1 {RIGHT[0]} has no address; the manifest gives it 192.168.0.1\n", errors)
        self.assertRegex(found, rf"  - {{file: {GUIDE}, nodes: {{spark-2: \S+}}}}")
        self.spark("apply", manifest, "--yes", "--brief", expect=0)  # verifies
        self.assert_lasts(manifest, GUIDE)
        self.assert_way_back(manifest, before)


if __name__ == "__main__":
    unittest.main()
