"""The JSON of each command is what its schema says, and begins with its format, the program's version and the time."""

import copy
import datetime
import json
import sys
import unittest

from spark_cli import MANIFEST, CliTest

import report_samples

try:
    import jsonschema
except ImportError:
    sys.exit(77)

NCCL = MANIFEST + "nccl: {env: {NCCL_SOCKET_IFNAME: =enP7s7}}\n"
# The command, its exit code with spark-2 out of reach, and its schema.
DOCUMENTS = (("history", 3, "history"), ("cabling", 3, "cabling"), ("env spark-1", 0, "env"), ("access", 3, "access"),
             ("trust", 3, "host-keys"), ("validate", 0, "validation"), ("plan", 3, "plan"), ("drift", 3, "plan"),
             ("status", 3, "facts"), ("verify", 6, "report"), ("version", 0, "version"),
             ("report a.json b.json", 0, "comparison"))


class Documents(CliTest):
    def setUp(self):
        super().setUp()
        self.write("cluster.yaml", NCCL)
        for name in ("a.json", "b.json"):
            self.write(name, json.dumps(report_samples.healthy_pair()))
        self.version = self.spark("--version").stdout.strip()

    def judge(self, name):
        return jsonschema.Draft7Validator(json.loads(self.spark("schema", name).stdout))

    def document(self, command, code):
        done = self.spark(*command.split(), "--format", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_each_is_valid_and_begins_in_the_same_way(self):
        for command, code, name in DOCUMENTS:
            with self.subTest(command):
                found = self.document(command, code)
                self.assertEqual([error.message for error in self.judge(name).iter_errors(found)], [])
                self.assertEqual(list(found)[:3], ["format", "program", "time"])
                self.assertEqual(found["program"], self.version)
                time = datetime.datetime.strptime(found["time"], "%Y-%m-%dT%H:%M:%S%z")
                self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - time).total_seconds()), 3600)

    def test_a_schema_refuses_another_version_and_a_property_that_it_does_not_have(self):
        for command, code, name in DOCUMENTS:
            with self.subTest(command):
                found, judge = self.document(command, code), self.judge(name)
                self.assertFalse(judge.is_valid({**found, "format": found["format"] + "0"}))
                self.assertFalse(judge.is_valid({**found, "colour": "red"}))
                self.assertFalse(judge.is_valid({key: value for key, value in found.items() if key != "time"}))
                inner = copy.deepcopy(found)
                lists = [value for value in inner.values() if isinstance(value, list) and value]
                parts = [value[0] for value in lists if isinstance(value[0], dict)]
                for part in parts[:1]:
                    part["colour"] = "red"
                    self.assertFalse(judge.is_valid(inner))

    def test_nodes_are_a_list_of_objects_with_names(self):
        self.assertEqual([node["name"] for node in self.document("access", 3)["nodes"]], ["spark-1", "spark-2"])
        for command in ("history", "status"):
            self.assertEqual([node["name"] for node in self.document(command, 3)["nodes"]], ["spark-1"])
        self.assertEqual([node["name"] for node in self.document("plan", 3)["nodes"]], ["spark-1", "spark-2"])
        self.assertEqual(self.document("trust", 3)["nodes"], [{"name": "spark-2", "address": "127.0.0.1"}])

    def test_access_names_the_first_thing_that_is_missing(self):
        first, second = self.document("access", 3)["nodes"]
        self.assertNotIn("missing", first)
        self.assertEqual(second, {"name": "spark-2", "address": "127.0.0.1", "host_key": "unread", "login": "not-tried",
                                  "root": "not-tried", "missing": "spark-2 (127.0.0.1:1): connection refused"})


if __name__ == "__main__":
    unittest.main()
