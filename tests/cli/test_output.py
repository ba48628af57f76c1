"""Results that cannot be written: a full disk, and a reader that has gone away."""

import os
import subprocess
import unittest

from spark_cli import OUT_OF_REACH, PROGRAM, CliTest, speed

FULL = "stdout: cannot be written: No space left on device\n"
CLOSED = "stdout: cannot be written: Broken pipe\n"

# Each command that prints a result without changing a node.
PRINTS = ("validate", "plan", "plan --format json", "plan --format markdown", "plan --detailed-exitcode", "drift",
          "verify", "verify --format json", "status", "status --format json", "history --format json", "graph",
          "graph --format dot", "graph --format svg", "graph --format mermaid", "hostfile", "hostfile --format mpich",
          "hostfile --format torchrun", "cabling", "cabling --format json", "trust", "trust --format json", "access", "access --format json",
          "graph --format json",
          "hostfile --format json", "lock list --format json", "explain", "explain --format json",
          "version --format json", "schema", "schema plan", "--help",
          "--version", "plan --help")


class Output(CliTest):
    def setUp(self):
        super().setUp()
        self.write("cluster.yaml", OUT_OF_REACH)

    def spark_to(self, stdout, *arguments):
        return speed.run([PROGRAM, *arguments], 60, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                         stdout=stdout, stderr=subprocess.PIPE, encoding="utf-8")

    def spark_to_full_disk(self, *arguments):
        with open("/dev/full", "wb") as full:
            return self.spark_to(full, *arguments)

    def test_a_result_that_does_not_fit_on_the_disk_is_1_with_the_reason(self):
        for command in PRINTS:
            with self.subTest(command):
                done = self.spark_to_full_disk(*command.split())
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.endswith(FULL), done.stderr)
                self.assertEqual(done.stderr.count(FULL), 1, done.stderr)

    def test_a_reader_that_has_gone_away_is_1_with_the_reason(self):
        for command in ("validate", "plan --format json", "schema", "graph --format svg"):
            with self.subTest(command):
                reading, writing = os.pipe()
                os.close(reading)
                try:
                    done = self.spark_to(writing, *command.split())
                finally:
                    os.close(writing)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.endswith(CLOSED), done.stderr)

    def test_what_prints_nothing_loses_nothing(self):
        self.write("cluster.yaml", "")
        done = self.spark_to_full_disk("validate")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("stdout", done.stderr)

    def test_apply_keeps_its_own_code_and_says_what_was_lost(self):
        for command in ("apply", "uninstall"):
            with self.subTest(command):
                done = self.spark_to_full_disk(command, "--yes")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertTrue(done.stderr.endswith(FULL), done.stderr)


if __name__ == "__main__":
    unittest.main()
