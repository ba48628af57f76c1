"""Who is at the other end of every cable: a wrong one stops the apply before any byte is written."""

import unittest

from cabling_lab import CablingTest
from spark_lab import cluster, speed

PAIR = cluster("pair.yaml")
RING = cluster("ring-3.yaml")
FOUR = cluster("switch-4.yaml")


class Pair(CablingTest):
    options = ("--topology", "direct")

    def test_1_ports_that_are_down_are_left_down_and_nothing_is_known(self):
        before = self.states()
        self.assertEqual(self.spark("cabling", PAIR, expect=7).stdout,
                         "not known  spark-1 right – spark-2 right  ports that are down at spark-1's right cage and "
                         "spark-2's right cage\n")
        self.assertEqual(self.states(), before)

    def test_2_a_plug_in_the_wrong_cage_stops_the_first_apply(self):
        self.lab.lab("swap", "1")
        self.assert_apply_stops(PAIR, "the cable between spark-1 and spark-2 is in spark-1's left cage and belongs in its "
                                      "right cage")

    def test_3_back_in_its_cage_the_apply_converges(self):
        self.lab.lab("swap", "1")
        self.ports_up()
        self.assertEqual(self.cables(PAIR, 0), ([("spark-1.p1 spark-2.p1", "confirmed", "found from both ends")], []))
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)
        self.assert_empty_plan(PAIR)

    def test_4_ports_without_a_link_local_address_get_one_and_lose_it_again(self):
        self.assertEqual(self.lab.sh(1, "ip -6 -o address show dev enp1s0f1np1"), "")
        before = self.states()
        self.assertEqual(self.cables(PAIR, 0)[0][0][1], "confirmed")
        self.assertEqual(self.states(), before)

    def test_5_a_cut_cable_is_not_known(self):
        self.lab.lab("cut", "2", "enp1s0f1np1")
        self.lab.lab("cut", "2", "enP2p1s0f1np1")
        self.assertEqual(self.cables(PAIR, 7), ([(
            "spark-1.p1 spark-2.p1", "not known",
            "no carrier at spark-1's right cage and spark-2's right cage")], []))
        self.lab.lab("reconnect")

    def test_6_a_wrong_cable_stops_an_apply_of_anything_else_too_unless_allowed(self):
        self.lab.lab("swap", "1")
        self.lab.sh(2, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        line = "the cable between spark-1 and spark-2 is in spark-1's left cage and belongs in its right cage"
        self.assert_apply_stops(PAIR, line)
        self.spark("apply", PAIR, "--yes", "--only", "ssh", expect=0)
        done = self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--allow-wrong-cables", expect=0)
        self.assertIn(f"the cabling is not the manifest's:\n  {line}\n", done.stderr)
        self.lab.lab("swap", "1")
        self.spark("verify", PAIR, expect=0)

    def test_7_where_ipv6_is_off_lldp_reports(self):
        self.lab.sh(1, "for port in enp1s0f1np1 enP2p1s0f1np1; do sysctl -qw net.ipv6.conf.$port.disable_ipv6=1; done")
        self.assertEqual(self.cables(PAIR, 7)[0][0][2],
                         "a link without IPv6 at spark-1's right cage, a link without an answer at spark-2's right "
                         "cage")
        self.start_lldpd()
        self.lab.sh(1, f"for i in $(seq {round(speed.scaled(100))}); do lldpcli show neighbors | grep -q enp1s0f1np1 && exit; lldpcli update; "
                       "sleep 0.2; done; exit 1")
        self.assertEqual(self.cables(PAIR, 0)[0][0][1], "confirmed")
        self.lab.sh(1, "systemctl stop lldpd")


class Ring(CablingTest):
    nodes = 3
    options = ("--topology", "ring")

    def test_0_where_the_ports_were_down_the_trial_is_reverted_and_names_the_swap(self):
        self.lab.lab("swap", "1")
        done = self.spark("apply", RING, "--yes", "--brief", expect=4)
        self.assertIn("cabling not known: spark-1 left – spark-2 right: ports that are down at spark-1's left cage and "
                      "spark-2's right cage\n", done.stderr)
        self.assertIn("\nthe cables in spark-1's left and right cage are swapped\n", done.stderr)
        self.assertIn("not applied: every node reverted the plan", done.stdout)
        self.lab.lab("swap", "1")

    def test_1_right_cables_are_confirmed(self):
        self.ports_up()
        cables, wrong = self.cables(RING, 0)
        self.assertEqual([cable[:2] for cable in cables], [("spark-1.p0 spark-2.p1", "confirmed"),
                                                           ("spark-2.p0 spark-3.p1", "confirmed"),
                                                           ("spark-1.p1 spark-3.p0", "confirmed")])
        self.assertEqual(wrong, [])

    def test_2_swapped_cables_stop_the_apply(self):
        self.lab.lab("swap", "2")
        self.assert_apply_stops(RING, "the cables in spark-2's left and right cage are swapped")
        self.lab.lab("swap", "2")

    def test_3_crossed_cables_stop_the_apply(self):
        self.lab.lab("cross", "2", "enp1s0f1np1", "3", "enp1s0f1np1")
        self.assert_apply_stops(
            RING, "the cable that should join spark-1's left cage and spark-2's right cage joins spark-1's left cage and "
                  "spark-3's right cage",
            "the cable that should join spark-2's left cage and spark-3's right cage joins spark-2's left cage and "
            "spark-2's right cage")
        self.lab.lab("cross", "2", "enp1s0f1np1", "3", "enp1s0f1np1")

    def test_4_with_the_cables_back_the_apply_converges(self):
        self.ports_up()
        done = self.spark("apply", RING, "--yes", "--brief", expect=0)
        self.assertNotIn("cabling", done.stderr)
        self.assert_empty_plan(RING)
        self.lab.lab("swap", "3")
        self.lab.sh(1, "echo >>/etc/hosts")
        self.lab.sh(1, "sed -i /spark-2-rail0/d /etc/hosts")
        self.assert_apply_stops(RING, "the cables in spark-3's left and right cage are swapped")
        self.lab.lab("swap", "3")
        self.spark("apply", RING, "--yes", "--brief", expect=0)


class Switch(CablingTest):
    nodes = 4
    options = ("--nm", "1,2,3")  # beside NetworkManager's own addresses

    def test_1_cages_on_the_switch_are_confirmed_and_stay_so_after_the_apply(self):
        self.ports_up()
        confirmed = [(f"spark-{node}.p1", "confirmed", "on one network with 3 others") for node in (1, 2, 3, 4)]
        self.assertEqual(self.cables(FOUR, 0), (confirmed, []))
        self.spark("apply", FOUR, "--yes", "--brief", expect=0)
        self.assertEqual(self.cables(FOUR, 0), (confirmed, []))
        self.assert_empty_plan(FOUR)

    def test_2_a_node_on_the_switch_by_its_other_cage_stops_the_apply(self):
        self.lab.lab("swap", "4")
        self.lab.sh(1, "sed -i /spark-2-rail0/d /etc/hosts")
        self.assert_apply_stops(FOUR, "the cable to the switch is in spark-4's left cage and belongs in its right cage")
        self.lab.lab("swap", "4")
        self.spark("apply", FOUR, "--yes", "--brief", expect=0)


if __name__ == "__main__":
    unittest.main()
