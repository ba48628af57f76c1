"""Commands that need no node."""

import json
import os
import pwd
import re
import shutil
import subprocess
import unittest
from xml.etree import ElementTree

from spark_cli import MANIFEST, OUT_OF_REACH, PROGRAM, ROOT, CliTest

COMMANDS = ("init", "discover", "validate", "add-node", "remove-node", "trust", "access", "plan", "apply", "verify",
            "report", "drift", "status", "history", "graph", "hostfile", "lock", "cabling", "drill", "rollback", "uninstall",
            "env", "schema", "explain", "completion", "help", "man", "version")

# Each schema of the tree is in the program.
SCHEMAS = sorted(name.removesuffix(".schema.json") for name in os.listdir(os.path.join(ROOT, "schema"))
                 if name.endswith(".schema.json"))

NO_MANIFEST = ("`spark-reconcile discover HOST HOST` writes a manifest of nodes as they are, `spark-reconcile init` one to "
               "fill in")

# Each command as it is called with a manifest.
WITH_MANIFEST = {
    "validate": (), "trust": (), "access": (), "plan": (), "apply": (), "verify": (), "drift": (), "status": (),
    "history": (), "graph": (), "hostfile": (), "cabling": (), "rollback": (), "uninstall": (), "drill": ("--node", "spark-1"),
    "env": ("spark-1",), "lock list": (), "lock break": (), "access sudoers": (),
}

# Values that are refused before anything is read: the arguments, and what is said of them.
BAD_VALUES = (
    ("plan --format xml", "--format: xml not in {text,json,markdown}"),
    ("drift --format xml", "--format: xml not in {text,json,markdown}"),
    ("verify --format xml", "--format: xml not in {text,json,markdown}"),
    ("validate --format xml", "--format: xml not in {text,json}"),
    ("verify --level nothing", "--level: nothing not in {auto,link,rdma,nccl}"),
    ("verify --nccl-limit 0", "--nccl-limit: Value 0 not in range 1 to 3600"),
    ("status --format xml", "--format: xml not in {text,json}"),
    ("history --format xml", "--format: xml not in {text,json}"),
    ("history --show -1", "--show: Value -1 not in range 0 to 1000000"),
    ("rollback --to -1", "--to: Value -1 not in range 0 to 1000000"),
    ("rollback --to x", "--to: Value x not in range 0 to 1000000"),
    ("graph --format xml", "--format: xml not in {text,dot,mermaid,svg,json}"),
    ("report", "file is required"),
    ("report a b c", "unknown argument 'c'"),
    ("report a --format xml", "--format: xml not in {text,json,markdown}"),
    ("report a b --noise 101", "--noise: Value 101 not in range 0 to 100"),
    ("hostfile --format xml", "--format: xml not in {openmpi,mpich,torchrun,json}"),
    ("cabling --format xml", "--format: xml not in {text,json}"),
    ("env spark-1 --format xml", "--format: xml not in {sh,docker,compose,podman,enroot,systemd,json}"),
    ("schema xml", f"name: xml not in {{{','.join(SCHEMAS)}}}"),
    ("lock list --format xml", "--format: xml not in {text,json}"),
    ("lock break --format xml", "--format: xml not in {text,json}"),
    ("explain --format xml", "--format: xml not in {text,json,markdown}"),
    ("drill --node spark-1 --format xml", "--format: xml not in {text,json}"),
    ("apply --revert-after 4", "--revert-after: Value 4 not in range 5 to 3600"),
    ("rollback --revert-after 4", "--revert-after: Value 4 not in range 5 to 3600"),
    ("uninstall --revert-after 4", "--revert-after: Value 4 not in range 5 to 3600"),
    ("drill --node spark-1 --revert-after 4", "--revert-after: Value 4 not in range 5 to 3600"),
    ("init --topology xml", "--topology: xml not in {direct,ring,switch}"),
    ("init --nodes many", "--nodes: Value many not in range 2 to 64"),
    ("init --nodes 065", "--nodes: Value 065 not in range 2 to 64"),
    ("init --nodes -1", "--nodes: Value -1 not in range 2 to 64"),
    ("access --sudoers", "--sudoers requires --fix"),
    ("access --fix --format json", "--fix excludes --format"),
    ("trust --yes --format json", "--yes excludes --format"),
    ("access --format xml", "--format: xml not in {text,json}"),
    ("trust --format xml", "--format: xml not in {text,json}"),
    ("access --fix --yes", "--yes requires --sudoers"),
    ("add-node", "name is required"),
    ("add-node spark-3", "address is required"),
    ("remove-node", "name is required"),
    ("drill", "--node is required"),
    ("env", "node is required"),
    ("lock", "wanted one of list, break"),
    ("lock foo", "unknown command 'foo'"),
    ("lock braek", "unknown command 'braek', did you mean 'break'?"),
    ("apply --lock-timeout -1", "--lock-timeout: Value -1 not in range 0 to 86400"),
    ("plan --parallelism 0", "--parallelism: Value 0 not in range 1 to 1000"),
    ("--parallelism many plan", "--parallelism: Value many not in range 1 to 1000"),
    ("status --wait 0", "--wait: Value 0 not in range 1 to 86400"),
    ("access --fix sudoers", "sudoers excludes --fix"),
    ("completion", "shell is required"),
    ("completion csh", "shell: csh not in {bash,zsh,fish}"),
    ("version --format xml", "--format: xml not in {text,json}"),
)


class Commands(CliTest):
    def test_without_a_command_the_next_step_is_named(self):
        self.assert_ends(self.spark(), 1, out="", err="""\
wanted a command
  hint: `spark-reconcile plan` shows what differs from cluster.yaml; `spark-reconcile help` lists all commands
""")
        os.remove(os.path.join(self.folder, "cluster.yaml"))
        self.assert_ends(self.spark(), 1, out="", err=f"""\
wanted a command
  hint: {NO_MANIFEST}; `spark-reconcile help` lists all commands
""")

    def test_a_manifest_in_the_place_of_a_node_or_of_a_saved_plan_is_named(self):
        self.write("other.yaml", MANIFEST)
        self.write("spark-9", "")
        self.assertIn("unknown node 'spark-9'", self.spark("env", "spark-9").stderr)
        self.assertIn("unknown node 'aaa", self.spark("env", "a" * 300).stderr)
        os.remove(os.path.join(self.folder, "cluster.yaml"))
        self.assert_ends(self.spark("env", "other.yaml"), 1, out="", err="""\
wanted the name of a node, found the file 'other.yaml'
  hint: the node comes before the manifest: env spark-1 cluster.yaml
""")
        self.write("cluster.yaml", MANIFEST)
        self.assert_ends(self.spark("apply", "cluster.yaml", "--manifest", "other.yaml"), 1, out="", err="""\
--manifest goes with a saved plan, found the manifest cluster.yaml
  hint: leave --manifest out
""")

    def test_without_a_manifest_of_the_default_name_the_hint_says_how_to_get_one(self):
        os.remove(os.path.join(self.folder, "cluster.yaml"))
        for command in ("validate", "plan", "apply"):
            self.assert_ends(self.spark(command), 1, out="", err=f"""\
cluster.yaml: cannot be read: No such file or directory
  hint: {NO_MANIFEST}
""")

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

    def test_a_report_as_junit_has_a_test_case_per_check(self):
        self.write("away.yaml", OUT_OF_REACH)
        done = self.spark("verify", "away.yaml", "--junit", "report.xml")
        self.assertEqual(done.returncode, 3)
        suites = ElementTree.parse(os.path.join(self.folder, "report.xml")).getroot()
        self.assertEqual(suites.tag, "testsuites")
        cases = suites.findall("testsuite/testcase")
        self.assertEqual(str(len(cases)), suites.get("tests"))
        self.assertGreater(int(suites.get("errors")), 0)

    def test_a_report_as_metrics_says_what_its_exit_code_says(self):
        self.write("away.yaml", OUT_OF_REACH)
        done = self.spark("verify", "away.yaml", "--format", "json", "--prometheus", "verify.prom")
        self.assertEqual(done.returncode, 3)
        metrics = self.read("verify.prom")
        self.assertIn('spark_reconcile_verify_exit_code{cluster="lab"} 3\n', metrics)
        self.assertRegex(metrics, r"(?m)^spark_reconcile_verify_timestamp_seconds\{cluster=\"lab\"\} [0-9]{10}$")
        self.write("report.json", done.stdout)
        self.assert_ends(self.spark("report", "report.json", "--prometheus", "saved.prom"), 0)
        self.assertEqual(self.read("saved.prom"), metrics)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        self.write("away.yaml", OUT_OF_REACH)
        done = self.spark("verify", "away.yaml", "--junit", "/dev/full")
        self.assertEqual(done.returncode, 3)  # what verify found counts more
        self.assertTrue(done.stderr.endswith("/dev/full: cannot be written: No space left on device\n"), done.stderr)

    def test_a_report_that_cannot_be_written_is_an_error_before_any_node_is_read(self):
        os.mkdir(os.path.join(self.folder, "folder"))
        for option in ("--junit", "--report", "--prometheus"):
            for path, why in (("none/report", "No such file or directory"), ("folder", "Is a directory")):
                self.assert_ends(self.spark("verify", option, path), 1, out="", err=f"{path}: cannot be written: {why}\n")

    def test_a_code_and_a_key_are_explained(self):
        done = self.spark("explain", "no-carrier")
        self.assert_ends(done, 0, err="")
        self.assertTrue(done.stdout.startswith("no-carrier (fails; reported by verify, since 0.1.0)\n  seen      A port"))
        self.assert_ends(self.spark("explain", "fabric.mtu"), 0, err="", out="""\
fabric.mtu (key of the manifest)
  meaning   Largest packet on every fabric interface, in bytes. A switch must allow at least 22
            bytes more.
  value     a whole number, 1500 to 9216
  default   9000
""")

    def test_a_name_that_is_neither_a_code_nor_a_key_gets_what_is_near(self):
        self.assert_ends(self.spark("explain", "no-carier"), 1, out="", err="""\
wanted a code or a key of the manifest, found 'no-carier', did you mean 'no-carrier'?
  hint: `spark-reconcile explain` lists all codes; docs/manifest.md has all keys, written with dots: fabric.mtu
""")

    def test_version_is_that_of_the_build(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = file.read().split("project(spark-reconcile VERSION ")[1].split()[0]
        self.assert_ends(self.spark("--version"), 0, out=version + "\n", err="")

    def test_a_good_manifest_is_said_to_be_valid_on_stdout(self):
        self.assert_ends(self.spark("validate"), 0, err="",
                         out="cluster.yaml: valid · lab · 2 nodes · one cable p1–p1\n")

    def test_what_there_is_to_say_of_a_good_manifest_has_its_code_and_its_place(self):
        node = "  - {name: spark-3, address: 127.0.0.3, access: {user: nobody, port: 1}}\n"
        subnets = ", ".join(f"192.168.{number}.0/24" for number in range(177, 183))
        self.write("ring.yaml", MANIFEST.replace("fabric:", node + "fabric:").replace("direct", "ring")
                   .replace("192.168.177.0/24, 192.168.178.0/24", subnets))
        done = self.spark("validate", "ring.yaml")
        self.assert_ends(done, 0, err="")
        self.assertIn("note: 3 nodes are no power of two: tensor-parallel serving splits a model's heads evenly and takes 2 of "
                      "them [fabric-node-count]  ring.yaml:8:1\n", done.stdout)

    def test_a_bad_manifest_is_refused_on_stderr_alone(self):
        self.write("bad.yaml", MANIFEST.replace("fabric:", "fabric:\n  mut: 9000"))
        for command in ("validate", "plan", "apply", "verify", "drift", "status"):
            self.assert_ends(self.spark(command, "bad.yaml"), 1, out="", err="""\
bad.yaml:8:3: unknown key 'mut' in fabric, did you mean 'mtu'?
      mut: 9000
      ^
""")

    def test_a_plugin_refuses_a_manifest_before_any_node_is_queried(self):
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

    def test_every_command_names_the_manifest_that_is_not_there(self):
        for command, arguments in WITH_MANIFEST.items():
            with self.subTest(command):
                self.assert_ends(self.spark(*command.split(), *arguments, "none.yaml"), 1, out="",
                                 err="none.yaml: cannot be read: No such file or directory\n")

    def test_every_command_refuses_an_option_that_it_does_not_know(self):
        for command in (*WITH_MANIFEST, "schema", "explain", "lock", "init", "discover", "add-node", "remove-node"):
            with self.subTest(command):
                required = {"drill": ("--node", "spark-1"), "env": ("spark-1",), "lock": ("list",),
                            "add-node": ("spark-3", "127.0.0.3"), "remove-node": ("spark-1",)}.get(command, ())
                done = self.spark(*command.split(), *required, "--frobnicate")
                called = " ".join([command, *(required if command == "lock" else ())])
                self.assert_ends(done, 1, out="", err=f"""\
unknown option '--frobnicate'
  hint: `spark-reconcile {called} --help` lists what it takes
""")

    def test_an_option_gets_the_one_that_was_meant(self):
        self.assert_ends(self.spark("plan", "--fromat=json"), 1, out="", err="""\
unknown option '--fromat', did you mean '--format'?
  hint: `spark-reconcile plan --help` lists what it takes
""")
        self.assert_ends(self.spark("plan", "cluster.yaml", "other.yaml"), 1, out="", err="""\
unknown argument 'other.yaml'
  hint: `spark-reconcile plan --help` lists what it takes
""")

    def test_options_without_a_command_get_what_was_meant(self):
        self.assert_ends(self.spark("--hepl"), 1, out="", err="""\
unknown option '--hepl', did you mean '--help'?
  hint: `spark-reconcile help` lists all options and commands
""")
        self.assert_ends(self.spark("--no-color"), 1, out="", err="wanted a command\n  hint: `spark-reconcile help` lists all commands\n")
        self.assert_ends(self.spark("--no-color", "aply"), 1, out="", err=f"""\
unknown command 'aply', did you mean 'apply'?
  hint: known: {", ".join(COMMANDS)}
""")

    def test_the_readme_has_the_commands_in_the_groups_of_help(self):
        groups, shown = {}, self.spark("help").stdout
        for group, lines in re.findall(r"(?m)^(\w[^\n]*):\n((?:  [a-z].*\n)+)", shown):
            groups[group] = {line.split()[0] for line in lines.splitlines()}
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            section = file.read().split("\n## Commands\n")[1].split("\n| Exit code |")[0]
        found = {}
        for group, rows in re.findall(r"(?m)^\| ([^|`]+) \| \|\n\|---\|---\|\n((?:\|.*\n)+)", section + "\n"):
            names = [row.split("|")[1] for row in rows.splitlines()]
            found[group] = {words.split()[0] for cell in names for words in re.findall("`([^`]+)`", cell)}
        self.assertEqual(found, groups)

    def test_help_shows_a_command_with_an_example_and_its_exit_codes(self):
        done = self.spark("help", "drift")
        self.assert_ends(done, 0, err="")
        self.assertEqual(done.stdout, self.spark("drift", "--help").stdout)
        self.assertIn("Usage: spark-reconcile drift [OPTIONS] [manifest]\n", done.stdout)
        self.assertIn("""\
Example:
  spark-reconcile drift cluster.yaml --format json

Exit codes:
  0   done, and nothing is wrong
  1   wrong arguments, or a manifest that is not valid
  2   something differs from the manifest, or is blocked
  3   a node could not be read
""", done.stdout)
        self.assertIn("""
  2   the manifest does not have all that was found, as said on stderr
  3   a node could not be read
""", self.spark("help", "discover").stdout)
        self.assertEqual(self.spark("help").stdout, self.spark("--help").stdout)
        self.assertIn("Usage: spark-reconcile lock list", self.spark("help", "lock", "list").stdout)
        self.assert_ends(self.spark("help", "drfit"), 1, out="", err="""\
unknown command 'drfit', did you mean 'drift'?
  hint: `spark-reconcile help` lists all commands
""")

    def test_the_manual_page_has_every_option_and_roff_takes_it_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for words in ((), *((command,) for command in COMMANDS), ("lock", "list")):
            with self.subTest(words):
                page = self.spark("man", *words)
                self.assert_ends(page, 0, err="")
                done = subprocess.run(["groff", "-k", "-man", "-Tutf8", "-ww", "-P-c"], input=page.stdout, capture_output=True,
                                      text=True, check=True, timeout=60, env={**os.environ, "GROFF_NO_SGR": "1"})
                self.assertEqual(done.stderr, "")
                shown = re.sub(".\x08", "", done.stdout).replace("\N{MINUS SIGN}", "-").replace("\N{HYPHEN}", "-")
                for option in re.findall(r"--[a-z][a-z-]+", self.spark("help", *words).stdout.split("\nExample:")[0]):
                    self.assertIn(option, shown)
        whole = self.spark("man").stdout.replace("\\-", "-")
        for command in COMMANDS:
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", self.spark("help", command).stdout):
                self.assertIn(option, whole)
        self.assert_ends(self.spark("man", "paln"), 1, out="", err="""\
unknown command 'paln', did you mean 'plan'?
  hint: `spark-reconcile help` lists all commands
""")

    def test_every_command_has_a_group_an_example_and_exit_codes(self):
        shown = self.spark("help").stdout
        self.assertNotIn("Subcommands:", shown)
        self.assertNotIn("__complete", shown)
        for command in COMMANDS:
            self.assertIn(f"Example:\n  spark-reconcile {command}", self.spark("help", command).stdout)
        for words in (("lock", "list"), ("lock", "break"), ("access", "sudoers")):
            shown = self.spark("help", *words).stdout
            self.assertIn(f"Example:\n  spark-reconcile {' '.join(words)} cluster.yaml", shown)
            self.assertIn("Exit codes:\n  0   ", shown)

    def test_a_manifest_may_come_on_stdin(self):
        self.assert_ends(self.spark("validate", "-", stdin=MANIFEST), 0, err="",
                         out="stdin: valid · lab · 2 nodes · one cable p1–p1\n")
        self.assert_ends(self.spark("validate", "-", stdin=MANIFEST.replace("fabric:", "fabric:\n  mut: 9000")), 1, out="", err="""\
stdin:8:3: unknown key 'mut' in fabric, did you mean 'mtu'?
      mut: 9000
      ^
""")

    def test_nodes_are_selected_by_patterns_and_exclusions(self):
        self.write("away.yaml", OUT_OF_REACH)
        names = [re.search(r"name: (spark-[0-9])", line)[1] for line in OUT_OF_REACH.splitlines() if "name: spark-" in line]
        for arguments, wanted in ((("--node", "spark-[1-9]"), names), (("--exclude", "spark-1"), names[1:]),
                                  (("--node", "spark-*", "--exclude", "spark-[2-9]"), names[:1])):
            found = json.loads(self.spark("plan", "away.yaml", "--format", "json", *arguments).stdout)
            self.assertEqual([node["name"] for node in found["nodes"]], wanted, arguments)
        for arguments, said in ((("--node", "spark-[7-9]"), "no node matches 'spark-[7-9]'"),
                                (("--exclude", "spark-3"), "unknown node 'spark-3', did you mean 'spark-1'?"),
                                (("--exclude", "spark-*"), "--node and --exclude leave no node")):
            self.assert_ends(self.spark("plan", *arguments), 1, out="", err=f"{said}\n  hint: known: spark-1, spark-2\n")
        self.assert_ends(self.spark("env", "spark-*"), 1, out="", err="wanted the name of one node, found 'spark-*'\n")

    def test_the_version_has_a_commit_and_the_formats_of_documents(self):
        self.assertRegex(self.spark("version").stdout, r"\Aspark-reconcile [0-9.]+ \(commit [0-9a-z]+ of [0-9a-z-]+\)\n\Z")
        found = json.loads(self.spark("version", "--format", "json").stdout)
        self.assertEqual(found["formats"]["cluster"], "spark-reconcile/v1")
        self.assertEqual(found["formats"]["plan"], json.loads(
            self.spark("schema", "plan").stdout)["properties"]["format"]["const"])
        self.assertEqual(self.spark("-V").stdout, found["program"] + "\n")

    def complete(self, *words):
        done = self.spark("__complete", "--", *words)
        self.assert_ends(done, 0, err="")
        return done.stdout.split()

    def test_completion_knows_commands_options_values_and_nodes(self):
        self.assertEqual(self.complete("pl"), list(COMMANDS))
        self.assertIn("--detailed-exitcode", self.complete("plan", "--d"))
        self.assertIn("--no-color", self.complete("plan", "--"))
        self.assertEqual(self.complete("plan", "--format", ""), ["text", "json", "markdown"])
        self.assertEqual(self.complete("lock", "list", "--format", ""), ["text", "json"])
        self.assertEqual(self.complete("schema", ""), SCHEMAS)
        self.assertEqual(self.complete("plan", "--node", "sp"), ["spark-1", "spark-2"])
        self.assertIn("netplan", self.complete("plan", "--only", ""))
        self.assertEqual(self.complete("env", ""), ["spark-1", "spark-2"])
        self.assertEqual(self.complete("lock", ""), ["list", "break"])
        self.assertEqual(self.complete("access", ""), [])  # files
        self.assertEqual(self.complete("access", "s"), ["sudoers"])
        self.assertIn("--parallelism", self.complete("verify", "--p"))
        self.assertIn("no-carrier", self.complete("explain", "no"))
        self.assertEqual(self.complete("plan", ""), [])  # files
        self.assertEqual(self.complete("plan", "none.yaml", "--node", ""), [])

    def test_completion_scripts_are_valid_where_their_shell_is_installed(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.spark("completion", shell)
            self.assert_ends(script, 0, err="")
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script.stdout, text=True, check=True, timeout=60)

    def test_bash_completes_a_node(self):
        self.spark("completion", "bash")
        done = subprocess.run(
            ["bash", "-c", f"""PATH={os.path.dirname(PROGRAM)}:$PATH; source <(spark-reconcile completion bash)
COMP_WORDS=(spark-reconcile plan --node spark-2); COMP_CWORD=3; _spark_reconcile; echo "${{COMPREPLY[@]}}" """],
            cwd=self.folder, capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stdout, "spark-2\n")

    def test_validate_prints_the_code_of_each_error_as_json(self):
        self.write("broken.yaml", MANIFEST + "colour: red\n")
        done = self.spark("validate", "broken.yaml", "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        found = json.loads(done.stdout)["findings"]
        self.assertEqual([(one["severity"], one["code"]) for one in found], [("blocks", "manifest-unknown-key")])
        where = found[0]["where"]
        self.assertTrue(self.spark("validate", "broken.yaml").stderr.startswith(
            f"{where['file']}:{where['line']}:{where['column']}: {found[0]['message']}\n"))
        self.assertEqual(self.spark("explain", found[0]["code"]).returncode, 0)
        self.write("good.yaml", MANIFEST)
        self.assertTrue(json.loads(self.spark("validate", "good.yaml", "--format", "json").stdout)["valid"])

    def test_every_command_refuses_a_value_that_it_does_not_know(self):
        for arguments, said in BAD_VALUES:
            with self.subTest(arguments):
                called = [word for word in arguments.split() if word in (*COMMANDS, "sudoers", "list", "break")]
                hint = f"`spark-reconcile {' '.join(called)} --help` lists what it takes"
                self.assert_ends(self.spark(*arguments.split()), 1, out="", err=f"{said}\n  hint: {hint}\n")

    def test_a_node_that_the_manifest_does_not_have_is_refused_before_any_is_queried(self):
        for command in ("plan", "apply", "drift", "status", "history", "cabling", "drill", "uninstall",
                        "trust", "access", "lock list", "lock break"):
            with self.subTest(command):
                self.assert_ends(self.spark(*command.split(), "--node", "spark-3"), 1, out="",
                                 err="unknown node 'spark-3', did you mean 'spark-1'?\n"
                                     "  hint: known: spark-1, spark-2\n")

    def test_the_lines_for_sudoers_are_valid_and_say_what_they_give(self):
        away = OUT_OF_REACH.replace("become: none, ", "").replace("port: 1}}\nfabric", "port: 1, become: none}}\nfabric")
        self.write("away.yaml", re.sub(r"user: \w+", "user: ada", away))
        done = self.spark("access", "sudoers", "away.yaml")
        self.assert_ends(done, 0, err="", out="""\
# For /etc/sudoers.d/spark-reconcile, by `visudo -f`.
# The program runs one command by sudo: a shell that reads its script from its input.
# Whoever may run that may do all that root may. So these lines give as much as a rule
# for every command, and none that give less are enough to read or change a node. They
# name the command, so that nothing else runs as root without a password. What limits a
# login is its key: put from="ADDRESS" of the controller before it in authorized_keys,
# and let nothing else use the account.

# On spark-1:
ada ALL=(root) NOPASSWD: /usr/bin/sh -s -- *, /bin/sh -s -- *

# No sudo, by `become: none`: spark-2
""")
        self.assert_ends(self.spark("access", "sudoers", "away.yaml", "--node", "spark-2"), 0, err="",
                         out=done.stdout.split("\n# On")[0] + "\n# No sudo, by `become: none`: spark-2\n")
        if shutil.which("visudo"):
            self.write("sudoers", done.stdout)
            os.chmod(os.path.join(self.folder, "sudoers"), 0o440)
            subprocess.run(["visudo", "-c", "-q", "-f", os.path.join(self.folder, "sudoers")], check=True, timeout=60)

    def test_the_lines_for_sudoers_name_who_runs_the_program_where_it_runs_itself(self):
        self.write("cluster.yaml", MANIFEST.replace("access: {become: none, ", "access: {user: ada, "))
        done = self.spark("access", "sudoers", "--node", "spark-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        own = pwd.getpwuid(os.geteuid()).pw_name
        self.assertTrue(done.stdout.endswith(
            "\n# No sudo, since root runs the program there: spark-1\n" if own == "root" else
            f"\n# On spark-1:\n{own} ALL=(root) NOPASSWD: /usr/bin/sh -s -- *, /bin/sh -s -- *\n"), done.stdout)

    def test_the_lines_for_sudoers_are_of_the_manifest_that_access_was_given(self):
        self.write("away.yaml", OUT_OF_REACH.replace("become: none, ", ""))
        self.assertEqual(self.spark("access", "away.yaml", "sudoers").stdout, self.spark("access", "sudoers", "away.yaml").stdout)
        self.assertNotEqual(self.spark("access", "away.yaml", "sudoers").stdout, self.spark("access", "sudoers").stdout)

    def test_a_wait_for_nodes_that_no_one_reaches_ends_with_its_time(self):
        self.write("away.yaml", OUT_OF_REACH)
        done = self.spark("status", "away.yaml", "--wait", "1")
        self.assert_ends(done, 3)
        self.assertRegex(done.stderr, r"(?s)\Awaiting, at most 1 s: no node was reached\n.*\nwaited for 1 s: no node was reached\n\Z")
        self.assertEqual(done.stdout, self.spark("status", "away.yaml").stdout)

    def test_one_node_at_a_time_is_read_as_all_of_them_are(self):
        self.write("away.yaml", OUT_OF_REACH)
        for command in ("plan", "status", "verify"):
            one, all_of_them = (self.spark(command, "away.yaml", *options) for options in (("--parallelism", "1"), ()))
            self.assertEqual((one.returncode, one.stdout), (all_of_them.returncode, all_of_them.stdout), command)

    def test_an_unknown_command_is_said_with_the_one_that_was_meant(self):
        self.assert_ends(self.spark("aply"), 1, out="", err=f"""\
unknown command 'aply', did you mean 'apply'?
  hint: known: {", ".join(COMMANDS)}
""")

    def test_a_number_with_zeros_before_it_is_decimal(self):
        self.assertIn("# 10 DGX Sparks on a switch.\n", self.spark("init", "-", "--topology", "switch", "--nodes", "010").stdout)
        self.write("away.yaml", OUT_OF_REACH)
        self.assertEqual(self.spark("apply", "away.yaml", "--yes", "--lock-timeout", "08").returncode, 3)

    def test_a_path_is_not_empty(self):
        for command, name in (("plan --out", "--out"), ("drift --junit", "--junit"), ("verify --report", "--report"),
                              ("verify --prometheus", "--prometheus"), ("apply --events", "--events"),
                              ("rollback --log-file", "--log-file"), ("apply --manifest", "--manifest"), ("apply", "file"),
                              ("graph --report", "--report"), ("plan", "manifest"), ("validate", "manifest"), ("init", "manifest")):
            with self.subTest(command):
                self.assert_ends(self.spark(*command.split(), ""), 1, out="", err=f"""\
{name}: wanted the path of a file, found nothing
  hint: `spark-reconcile {command.split()[0]} --help` lists what it takes
""")

    def test_a_manifest_has_an_end(self):
        for name in ("/dev/zero", "/dev/stdin"):
            self.assert_ends(self.spark("validate", name, stdin="#" * (1 << 20) + "\n"), 1, out="",
                             err=f"{name}: wanted at most 1 MiB, found more\n")

    def test_a_report_alone_has_no_codes_of_a_comparison(self):
        shown = self.spark("help", "report").stdout
        self.assertIn("""
  0   done, and nothing is wrong
  1   wrong arguments, or a report that is not valid
  6   of two reports: something got worse
  7   of two reports: something was not measured again, and nothing got worse
""", shown)

    def test_help_has_the_codes_of_signals(self):
        self.assertIn("\n  130 interrupted, and every node was reverted; where a signal ended the program at once, 128 and its "
                      "number: SIGHUP 129, SIGINT 130, SIGTERM 143\n", self.spark("help", "apply").stdout)

    def test_a_folder_is_no_manifest(self):
        self.assert_ends(self.spark("validate", "."), 1, out="",
                         err=".: cannot be read: Is a directory\n")

    def test_an_empty_file_is_no_manifest(self):
        self.write("empty.yaml", "")
        self.assert_ends(self.spark("validate", "empty.yaml"), 1, out="",
                         err="empty.yaml:1:1: the file is empty\n"
                             "  hint: spark-reconcile init writes one to begin with\n")

    def test_each_schema_comes_out_as_it_stands_in_the_tree(self):
        self.assertIn("plan", SCHEMAS)
        for name in SCHEMAS:
            done = self.spark("schema", name)
            with open(os.path.join(ROOT, "schema", f"{name}.schema.json"), encoding="utf-8") as file:
                self.assert_ends(done, 0, out=file.read(), err="")
            self.assertEqual(json.loads(done.stdout)["$schema"], "http://json-schema.org/draft-07/schema#")
        self.assertEqual(self.spark("schema").stdout, self.spark("schema", "cluster").stdout)


if __name__ == "__main__":
    unittest.main()
