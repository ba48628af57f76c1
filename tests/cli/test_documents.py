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
             ("report a.json b.json", 0, "comparison"), ("report a.json", 0, "report"), ("lock list", 3, "lock"),
             ("lock break", 3, "lock"), ("drill --node spark-2", 3, "drill"), ("graph", 0, "graph"), ("hostfile", 0, "hostfile"),
             ("hostfile --network fabric", 0, "hostfile"), ("explain", 0, "explain"), ("explain fabric.mtu", 0, "explain"))
# What a program reads where there is no --format, and the arguments that the command needs. discover is tried in the lab.
OTHERWISE = {
    "init": "it writes a manifest, which programs read as it is",
    "add-node spark-3 127.0.0.3": "it writes the manifest, which programs read as it is",
    "remove-node spark-1": "it writes the manifest, which programs read as it is",
    "apply": "`--events -` writes JSON on stdout, one object per line",
    "rollback": "`--events -` writes JSON on stdout, one object per line",
    "uninstall": "`--events -` writes JSON on stdout, one object per line",
    "schema plan": "it always prints JSON",
    "completion bash": "it prints a script for a shell",
    "help": "it prints text for people; `version --format json` lists the formats of documents",
    "man": "it prints a manual page, which programs such as man read",
}


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

    def test_a_command_without_documents_says_what_a_program_reads_instead(self):
        for command, instead in OTHERWISE.items():
            for option in (("--format", "json"), ("--format=json",)):
                with self.subTest(command):
                    self.assert_ends(self.spark(*command.split(), *option), 1, out="",
                                     err=f"{command.split()[0]} has no --format\n  hint: {instead}\n")

    def test_every_command_writes_documents_or_says_what_a_program_reads(self):
        known = {command.split()[0] for command in [*(one[0] for one in DOCUMENTS), *OTHERWISE, "discover"]}
        self.assertEqual(known, set(self.spark("__complete", "--", "").stdout.split()))

    def test_the_version_lists_the_format_of_each(self):
        formats = self.document("version", 0)["formats"]
        for command, code, name in DOCUMENTS:
            self.assertEqual(formats[name], self.document(command, code)["format"], command)

    def test_an_option_that_json_cannot_go_with_is_refused(self):
        self.assert_ends(self.spark("history", "--show", "1", "--format", "json"), 1, out="", err="""\
--show excludes --format
  hint: `spark-reconcile history --help` lists what it takes
""")
        self.assert_ends(self.spark("explain", "no-carrier", "--format", "markdown"), 1, out="",
                         err="--format markdown is the table of all codes, and takes no name\n")
        self.assert_ends(self.spark("graph", "--report", "a.json"), 1, out="",
                         err="--report goes with a drawing: it needs --format svg, dot, mermaid or json\n")

    def test_locks_hostfile_and_drill_say_what_their_texts_say(self):
        self.assertEqual(self.document("lock list", 3)["nodes"], [{"name": "spark-1", "held": False, "unfinished": []}])
        self.assertEqual(self.document("lock break", 3)["nodes"], [{"name": "spark-1", "held": False, "outcome": "free"}])
        hosts = self.document("hostfile --network fabric", 0)
        self.assertEqual((hosts["network"], hosts["rail"]), ("fabric", 0))
        self.assertEqual(hosts["nodes"], [{"name": "spark-1", "rank": 0, "address": "192.168.177.1", "slots": 1},
                                          {"name": "spark-2", "rank": 1, "address": "192.168.177.2", "slots": 1}])
        self.assertEqual(self.document("drill --node spark-2", 3)["nodes"], [{
            "name": "spark-2", "proved": False, "began": False, "reverted": False, "as_before": [], "ended": [],
            "errors": [{"message": "spark-2 (127.0.0.1:1): connection refused",
                        "next_step": "is sshd running there, and is 1 its port?"}]}])

    def test_a_code_and_a_key_are_explained_by_the_same_document(self):
        codes = [one["code"] for one in self.document("explain", 0)["codes"]]
        self.assertEqual(codes, [line.split()[0] for line in self.spark("explain").stdout.splitlines()])
        self.assertEqual([one["code"] for one in self.document("explain no-carrier", 0)["codes"]], ["no-carrier"])
        self.assertEqual(self.document("explain fabric.mtu", 0)["keys"], [{
            "key": "fabric.mtu", "value": "a whole number, 1500 to 9216", "default": 9000, "keys": [],
            "meaning": "Largest packet on every fabric interface, in bytes. A switch must allow at least 22 bytes more."}])
        self.assert_ends(self.spark("explain", "no-carier", "--format", "json"), 1, out="", err="""\
wanted a code or a key of the manifest, found 'no-carier', did you mean 'no-carrier'?
  hint: `spark-reconcile explain` lists all codes; docs/manifest.md has all keys, written with dots: fabric.mtu
""")

    def test_a_graph_has_what_a_report_measured(self):
        self.write("homelab.yaml", NCCL.replace("cluster: lab", "cluster: homelab"))
        measured = self.document("graph homelab.yaml --report a.json", 0)
        self.assertEqual([error.message for error in self.judge("graph").iter_errors(measured)], [])
        (cable,) = measured["cables"]
        self.assertEqual(cable["ends"], [{"device": "spark-1", "port": "p1"}, {"device": "spark-2", "port": "p1"}])
        drawn = self.spark("graph", "homelab.yaml", "--format", "mermaid", "--report", "a.json").stdout
        self.assertIn(f"{cable['measured_gbps']} of 200 Gb/s", drawn)
        self.assertEqual(measured["pairs"], [{"ends": ["spark-1", "spark-2"], "rails": [0, 1], "gbps": 196.1}])

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
