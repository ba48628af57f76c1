"""What an apply shows on a terminal while it runs, and at its end."""

import os
import re
import unittest

from spark_lab import LabTest, cluster, temporary_folder

PAIR = cluster("pair.yaml")
REDRAW = re.compile("\r\033\\[([0-9]+)A\033\\[J")


def screens(shown):
    """What stood on the terminal after each redraw, with times as N."""
    pieces = REDRAW.split(shown)
    lines = pieces[0].split("\n")
    found = []
    for count, text in zip(pieces[1::2], pieces[2::2]):
        found.append("\n".join(lines))
        lines = lines[:len(lines) - 1 - int(count)] + text.split("\n")
    found.append("\n".join(lines))
    return [re.sub(r"\b[0-9]+(\.[0-9])? s\b", "N s", re.sub("\033\\[[0-9;]*[mK]|\r", "", one)) for one in found]


class Terminal(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    def apply(self, *arguments, columns, code=0):
        os.environ["TERM"] = "xterm"
        found, shown = self.lab.spark_on_terminal(
            ["--no-color", "apply", PAIR, "--yes", "--brief", *arguments], [], limit_s=300, columns=columns)
        self.assertEqual(found, code, shown)
        return screens(shown)

    def test_1_a_line_per_node_is_redrawn(self):
        shown = self.apply("--no-verify", columns=110)
        self.assertIn("""
lab  0/40  changing  N s
  spark-1   0/20  file, link, sysctl, memlock, ssh …  N s
  spark-2   0/20  file, link, sysctl, memlock, ssh …  N s
""", "\n".join(shown))
        self.assertTrue(shown[-1].endswith("""
lab  40/40  committed and read back  N s
  spark-1  20/20
  spark-2  20/20
Applied: 40 changes on 2 nodes in N s, generation 1, not verified. Undo: spark-reconcile rollback --to 0 """ + PAIR + "\n"), shown[-1])
        self.assertNotIn("trigger", shown[-1])

    def test_2_sixty_columns_are_enough(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        shown = self.apply("--no-verify", columns=60)
        self.assertIn("""
lab  1/1  committed and read back  N s
  spark-1  1/1
Applied: 1 change on 1 node in N s, generation 2, not verified. Undo: spark-reconcile rollback """, shown[-1])
        live = [line for one in shown for line in one.splitlines() if line.startswith(("lab  ", "  spark-"))]
        self.assertLess(max(len(line) for line in live), 60)

    def test_3_plain_is_a_line_per_change_and_the_log_file_has_all(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        log = os.path.join(temporary_folder(), "log")
        done = self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--log-file", log, expect=0)
        lines = [re.sub("^[0-9:]{8} ", "", line) for line in done.stderr.splitlines()]
        self.assertEqual(lines, ["every node would revert this on its own; changing", "spark-1 1/1: sysctl net.ipv4.tcp_mtu_probing",
                                 "every node is ready; committing"])
        with open(log, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"(?m)^[0-9-]{10}T[0-9:.]{12}Z trace spark-1: connection to 192\.168\.1\.21 in [0-9.]+ s$")
        self.assertRegex(text, r"(?m)Z info spark-1 1/1: sysctl net\.ipv4\.tcp_mtu_probing$")
        self.assertRegex(text, r"(?m)Z debug committed and read back: ")

    def test_4_none_is_silent(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        self.assertEqual(self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--progress", "none", expect=0).stderr, "")

    def test_5_nothing_to_do_is_said_at_the_end(self):
        done = self.spark("apply", PAIR, "--yes", expect=0)
        self.assertRegex(done.stdout.splitlines()[-1], r"^No changes: nothing was changed, verified ([0-9]+)/\1\.$")


if __name__ == "__main__":
    unittest.main()
