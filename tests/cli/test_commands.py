"""Commands that need no node."""

import json
import os
import unittest

from spark_cli import MANIFEST, ROOT, CliTest

COMMANDS = ("validate", "plan", "apply", "verify", "drift", "status", "graph", "hostfile", "env", "schema")


class Commands(CliTest):
    def test_no_command_is_a_usage_error(self):
        self.assert_ends(self.spark(), 1, out="",
                         err="A subcommand is required\nRun with --help for more information.\n")

    def test_help_names_every_command(self):
        done = self.spark("--help")
        self.assert_ends(done, 0, err="")
        for command in COMMANDS:
            self.assertRegex(done.stdout, rf"(?m)^  {command} +\w")

    def test_every_command_explains_itself(self):
        for command in COMMANDS:
            done = self.spark(command, "--help")
            self.assert_ends(done, 0, err="")
            self.assertIn("-h,--help", done.stdout)

    def test_version_is_that_of_the_build(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = file.read().split("project(spark-reconcile VERSION ")[1].split()[0]
        self.assert_ends(self.spark("--version"), 0, out=version + "\n", err="")

    def test_a_good_manifest_is_said_to_be_valid_on_stdout(self):
        self.assert_ends(self.spark("validate"), 0, err="",
                         out="cluster.yaml: valid · lab · 2 nodes · one cable p1–p1\n")

    def test_a_bad_manifest_is_refused_on_stderr_alone(self):
        self.write("bad.yaml", MANIFEST.replace("fabric:", "fabric:\n  mut: 9000"))
        for command in ("validate", "plan", "apply", "verify", "drift", "status"):
            self.assert_ends(self.spark(command, "bad.yaml"), 1, out="", err="""\
bad.yaml:8:3: unknown key 'mut' in fabric, did you mean 'mtu'?
      mut: 9000
      ^
""")

    def test_a_plugin_refuses_a_manifest_before_any_node_is_asked(self):
        self.write("bad.yaml", MANIFEST + "units: [{name: a.service, active: true, nodes: [spark-3]}]\n")
        done = self.spark("plan", "bad.yaml")
        self.assert_ends(done, 1, out="")
        self.assertIn("units: a.service: unknown node 'spark-3', did you mean 'spark-1'?\n", done.stderr)
        self.assertNotIn("connection refused", done.stderr)

    def test_a_promise_above_the_links_is_refused_before_anything_runs(self):
        self.write("bad.yaml", MANIFEST + "verify: {level: nccl, min_busbw: 200}\n")
        for command in ("validate", "verify", "apply"):
            self.assert_ends(self.spark(command, "bad.yaml"), 1, out="", err="""\
bad.yaml:10:34: verify.min_busbw: wanted at most 24.5 GB/s, which the links of this cabling carry, found 200
    verify: {level: nccl, min_busbw: 200}
                                     ^
  hint: bus bandwidth is in GB/s, not Gb/s: a cable of 200 Gb/s carries 24.5 at mtu 9000, and two rails behind PCIe 27.9
""")

    def test_a_file_that_is_not_there_is_named(self):
        for command in ("validate", "plan", "apply", "verify", "drift", "status"):
            self.assert_ends(self.spark(command, "none.yaml"), 1, out="",
                             err="none.yaml: cannot be read: No such file or directory\n")

    def test_a_folder_is_no_manifest(self):
        self.assert_ends(self.spark("validate", "."), 1, out="",
                         err=".: cannot be read: Is a directory\n")

    def test_an_empty_file_is_no_manifest(self):
        self.write("empty.yaml", "")
        self.assert_ends(self.spark("validate", "empty.yaml"), 1, out="",
                         err="empty.yaml:1:1: wanted a map, found nothing\n")

    def test_each_schema_comes_out_as_it_stands_in_the_tree(self):
        for name in ("cluster", "facts", "plan", "report"):
            done = self.spark("schema", name)
            with open(os.path.join(ROOT, "schema", f"{name}.schema.json"), encoding="utf-8") as file:
                self.assert_ends(done, 0, out=file.read(), err="")
            self.assertEqual(json.loads(done.stdout)["$schema"], "http://json-schema.org/draft-07/schema#")
        self.assertEqual(self.spark("schema").stdout, self.spark("schema", "cluster").stdout)

    def test_an_unknown_schema_or_format_is_a_usage_error(self):
        tail = "\nRun with --help for more information.\n"
        self.assert_ends(self.spark("schema", "nope"), 1, out="",
                         err="name: nope not in {cluster,facts,plan,report}" + tail)
        self.assert_ends(self.spark("plan", "--format", "xml"), 1, out="",
                         err="--format: xml not in {text,json,markdown}" + tail)


if __name__ == "__main__":
    unittest.main()
