"""Colours: on a terminal, and only there."""

import os
import pty
import subprocess
import unittest

from spark_cli import PROGRAM, SETTING, CliTest, speed

PLAN = ("plan", "--node", "spark-1", "--only", "sysctl")
ESCAPE = "\033["


class Colour(CliTest):
    def on_a_terminal(self, *arguments, **environment):
        """Runs the program with its stdout on a terminal and returns what it wrote there."""
        ours, theirs = pty.openpty()
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
        self.assertEqual(speed.wait(process, 60), 0)
        return text.decode().replace("\r\n", "\n")

    def test_none_in_a_pipe(self):
        for arguments in (PLAN, (*PLAN, "--format", "json"), (*PLAN, "--format", "markdown")):
            self.assertNotIn("\033", self.spark(*arguments).stdout)

    def test_a_terminal_gets_the_same_words_in_colour(self):
        self.write("cluster.yaml", SETTING)
        shown = self.on_a_terminal(*PLAN)
        self.assertIn(ESCAPE + "32m+ file  /etc/sysctl.d/", shown)
        self.assertIn(ESCAPE + "32m+# Written by spark-reconcile for cluster lab", shown)
        for code in ("0m", "2m", "31m", "32m", "33m", "35m"):
            shown = shown.replace(ESCAPE + code, "")
        self.assertEqual(shown, self.spark(*PLAN).stdout)

    def test_no_color_takes_them_away(self):
        plain = self.spark(*PLAN).stdout
        self.assertEqual(self.on_a_terminal(*PLAN, NO_COLOR="1"), plain)
        self.assertEqual(self.on_a_terminal("--no-color", *PLAN), plain)

    def test_json_has_none_on_a_terminal_either(self):
        self.assertNotIn("\033", self.on_a_terminal(*PLAN, "--format", "json"))


if __name__ == "__main__":
    unittest.main()
