"""Colours: on a terminal, and only there."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import unittest

from spark_cli import PROGRAM, SETTING, CliTest, speed

import report_samples

PLAN = ("plan", "--node", "spark-1", "--only", "sysctl")
ESCAPE = "\033["


class Colour(CliTest):
    def on_a_terminal(self, *arguments, columns=0, code=0, **environment):
        """Runs the program with its stdout on a terminal and returns what it wrote there. 0 columns: it does not say how many."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 0, columns, 0, 0))
        process = speed.start([PROGRAM, *arguments], cwd=self.folder, env=self.environment(**environment),
                              stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that no one holds the other end any more
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        self.assertEqual(speed.wait(process, 60), code)
        return text.decode().replace("\r\n", "\n")

    def test_none_in_a_pipe(self):
        for arguments in (PLAN, (*PLAN, "--format", "json"), (*PLAN, "--format", "markdown")):
            self.assertNotIn("\033", self.spark(*arguments).stdout)

    def test_a_terminal_gets_the_same_words_in_colour(self):
        self.write("cluster.yaml", SETTING)
        shown = self.on_a_terminal(*PLAN)
        self.assertIn(ESCAPE + "32m+ file  /etc/sysctl.d/", shown)
        self.assertIn(ESCAPE + "32m        +# Written by spark-reconcile for cluster lab", shown)
        for code in ("0m", "2m", "31m", "32m", "33m", "35m"):
            shown = shown.replace(ESCAPE + code, "")
        self.assertEqual(shown, self.spark(*PLAN).stdout)

    def test_no_color_takes_them_away(self):
        plain = self.spark(*PLAN).stdout
        self.assertEqual(self.on_a_terminal(*PLAN, NO_COLOR="1"), plain)
        self.assertEqual(self.on_a_terminal("--no-color", *PLAN), plain)

    def test_a_dumb_terminal_gets_none(self):
        self.assertNotIn("\033", self.on_a_terminal(*PLAN, TERM="dumb"))

    def test_validate_shows_in_colour_whether_the_manifest_is_valid(self):
        self.assertTrue(self.on_a_terminal("validate").startswith("cluster.yaml: \033[32mvalid\033[0m · lab · 2 nodes · "))
        self.assertEqual(self.on_a_terminal("validate", NO_COLOR="1"), self.spark("validate").stdout)

    def test_a_plan_keeps_to_the_width_of_the_terminal(self):
        self.write("cluster.yaml", SETTING)
        self.assertEqual(self.on_a_terminal(*PLAN, "--brief", columns=60, NO_COLOR="1"), """\
lab · 2 nodes · one cable p1–p1 · mtu 9000
spark-1  localhost
  + file  /etc/sysctl.d/60-spark-reconcile.conf (0644, 3
            lines)
            cluster.yaml:11
+ created
first apply to spark-1
1 change on 1 node.
Each node is armed to revert the plan before its first
  change.
""")

    def test_other_tables_keep_to_it_too(self):
        for command, code in (("status", 3), ("history", 3), ("explain", 0), ("explain plan-state-unknown", 0),
                              ("access", 3), ("cabling", 3), ("graph", 0), ("lock list", 3), ("trust", 3)):
            for line in self.on_a_terminal(*command.split(), columns=60, code=code, NO_COLOR="1").splitlines():
                self.assertLessEqual(len(line), 60, line)

    def test_a_report_keeps_to_it(self):
        self.write("eight.json", json.dumps(report_samples.degraded_eight()))
        for line in self.on_a_terminal("report", "eight.json", columns=60).splitlines():
            self.assertLessEqual(len(line), 60, line)

    def test_help_keeps_to_it_but_for_examples_that_are_copied(self):
        for command in (("--help",), ("help",), ("apply", "--help"), ("help", "lock", "list"), ("help", "schema")):
            lines = self.on_a_terminal(*command, columns=60).splitlines()
            self.assertEqual([line for line in lines if len(line) > 60 and not line.startswith("  spark-reconcile ")], [], command)
        self.assertIn("""\
  --only TEXT ...             Only this plugin's resources
                              (may be given several times)
""", self.on_a_terminal("plan", "--help", columns=60))
        self.assertIn("\n  spark-reconcile completion bash >/etc/bash_completion.d/spark-reconcile\n",
                      self.on_a_terminal("completion", "--help", columns=60))
        self.assertEqual(self.on_a_terminal("plan", "--help", columns=0), self.spark("plan", "--help").stdout)

    def test_json_has_none_on_a_terminal_either(self):
        self.assertNotIn("\033", self.on_a_terminal(*PLAN, "--format", "json"))


if __name__ == "__main__":
    unittest.main()
