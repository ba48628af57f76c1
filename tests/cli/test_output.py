"""Results that cannot be written: a full disk, a reader that has gone away, and a file that is something else."""

import json
import os
import subprocess
import unittest

from spark_cli import MANIFEST, OUT_OF_REACH, PROGRAM, CliTest, speed

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


# Each command that writes files, and the option.
WRITES = ("plan --out", "drift --junit", "drift --prometheus", "verify --junit", "verify --report", "verify --prometheus",
          "apply --yes --events", "apply --yes --log-file", "rollback --yes --events", "uninstall --yes --log-file")


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

    def test_a_manifest_that_is_read_is_not_overwritten(self):
        for command in WRITES:
            with self.subTest(command):
                done = self.spark(*command.split(), "./cluster.yaml", "cluster.yaml")
                self.assert_ends(done, 1, out="", err=f"""\
./cluster.yaml: is the manifest that is read
  hint: name another file with {command.split()[-1]}
""")
                self.assertEqual(self.read("cluster.yaml"), OUT_OF_REACH)

    def test_a_saved_plan_and_its_manifest_are_not_overwritten(self):
        self.assert_ends(self.spark("plan", "--out", "plan.json"), 3)
        plan = self.read("plan.json")
        for name, what in (("plan.json", "saved plan"), ("cluster.yaml", "manifest")):
            for option in ("--events", "--log-file"):
                self.assert_ends(self.spark("apply", "plan.json", "--yes", option, name), 1, out="", err=f"""\
{name}: is the {what} that is read
  hint: name another file with {option}
""")
        self.assertEqual((self.read("plan.json"), self.read("cluster.yaml")), (plan, OUT_OF_REACH))

    def test_two_options_do_not_write_one_file(self):
        for command, one, other in (("apply --yes", "--events", "--log-file"), ("drift", "--junit", "--prometheus"),
                                    ("verify", "--junit", "--report")):
            with self.subTest(command):
                self.assert_ends(self.spark(*command.split(), one, "x", other, "./x"), 1, out="", err=f"""\
x: wanted a file for each of {one} and {other}
  hint: name another file with one of them
""")
                self.assertEqual(os.listdir(self.folder), ["cluster.yaml"])
        self.assert_ends(self.spark("drift", "--junit", "/dev/null", "--prometheus", "/dev/null"), 3)

    def closing(self, number):
        return ("sh", "-c", f'exec "$@" {number}>&-', "sh")

    def test_no_file_takes_the_place_of_a_closed_stream(self):
        for number, said in ((1, "stdout: cannot be written: Bad file descriptor\n"), (2, "")):
            with self.subTest(number):
                done = self.spark("apply", "--yes", "--brief", "--events", "events", before=self.closing(number))
                self.assertEqual(done.returncode, 3)
                self.assertTrue(done.stderr.endswith(said), done.stderr)
                self.assertEqual([json.loads(line)["event"] for line in self.read("events").splitlines()], ["ended"])
        done = self.spark("validate", before=self.closing(1))
        self.assert_ends(done, 1, out="", err="stdout: cannot be written: Bad file descriptor\n")
        self.assertEqual(self.spark("validate", before=self.closing(0)).returncode, 0)

    def test_what_prints_nothing_loses_nothing(self):
        self.write("cluster.yaml", "")
        done = self.spark_to_full_disk("validate")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("stdout", done.stderr)

    def test_the_last_event_has_the_code_of_the_program_where_stdout_was_lost(self):
        self.write("cluster.yaml", MANIFEST)
        command = ("apply", "--node", "spark-1", "--only", "memlock", "--events", "events")
        for run, code in ((self.spark, 0), (self.spark_to_full_disk, 1)):
            done = run(*command)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr, FULL if code else "")
            self.assertEqual([json.loads(line)["exit_code"] for line in self.read("events").splitlines()], [code])

    def test_apply_keeps_its_own_code_and_says_what_was_lost(self):
        for command in ("apply", "uninstall"):
            with self.subTest(command):
                done = self.spark_to_full_disk(command, "--yes")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertTrue(done.stderr.endswith(FULL), done.stderr)


if __name__ == "__main__":
    unittest.main()
