"""The scripts of manifests/gitops as a pipeline calls them, on a cluster of which no node or one node can be read."""

import os
import stat
import subprocess
import unittest
import xml.etree.ElementTree

from spark_cli import OUT_OF_REACH, PROGRAM, REFUSED, ROOT, CliTest, speed

SCRIPTS = os.path.join(ROOT, "manifests", "gitops")
# Says what a command that login.sh runs finds.
SHOW_LOGIN = 'echo "$HOME"; stat -c %a "$HOME" "$HOME/.ssh/id_ed25519"; cat "$HOME/.ssh/id_ed25519" "$HOME/.ssh/known_hosts"; ' \
             'echo "${SPARK_SSH_KEY-no key}"; exit 3'


class GitOpsScripts(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(PROGRAM, self.path("bin/spark-reconcile"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def script(self, name, *arguments, **more):
        environment = self.environment(PATH=f"{self.path('bin')}:{os.environ['PATH']}", **more)
        return speed.run([os.path.join(SCRIPTS, name), *arguments], 60, cwd=self.folder, env=environment,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def replace_program(self, text):
        os.remove(self.path("bin/spark-reconcile"))
        self.write("bin/spark-reconcile", "#!/bin/sh\n" + text)
        os.chmod(self.path("bin/spark-reconcile"), 0o755)

    def test_an_invalid_manifest_is_shown_on_the_page_of_the_change_and_leaves_no_plan(self):
        self.write("cluster.yaml", OUT_OF_REACH.replace("subnets", "subents"))
        os.mkdir(self.path("out"))
        self.write("out/plan.json", "of an earlier run")
        done = self.script("plan.sh", "cluster.yaml", "out")
        self.assert_ends(done, 1, out="")
        self.assertIn("cluster.yaml:9:3: unknown key 'subents' in fabric, did you mean 'subnets'?\n", done.stderr)
        self.assertEqual(self.read("out/comment.md"),
                         f"**The manifest is not valid.** Nothing was planned.\n\n```\n{done.stderr}```\n")
        self.assertEqual(os.listdir(self.path("out")), ["comment.md"])

    def test_a_plan_without_a_node_cannot_be_applied(self):
        done = self.script("plan.sh", "cluster.yaml", "out")
        said = REFUSED + "saved to out/plan.json without spark-2, which could not be read: plan again before you apply it\n"
        self.assert_ends(done, 3, err=said)
        self.assertEqual(self.read("out/comment.md"),
                         f"{done.stdout}\n**Exit code 3: there is no plan that can be applied.**\n\n```\n{said}```\n")
        self.assertEqual(os.listdir(self.path("out")), ["comment.md"])
        done = self.script("apply.sh", "cluster.yaml", "out")
        self.assert_ends(done, 1, out="", err="""\
apply.sh: wanted a reviewed plan in out/plan.json, found none; nothing was changed
  next step: run plan.sh on this commit, review what it shows, then run apply.sh again
""")

    def test_a_plan_that_apply_refuses_is_shown_and_not_kept(self):
        self.replace_program('[ "$1" = validate ] || { echo shown; echo why >&2; : >out/plan.json; exit 1; }\n')
        self.assert_ends(self.script("plan.sh", "cluster.yaml", "out"), 1, out="shown\n", err="why\n")
        self.assertEqual(self.read("out/comment.md"),
                         "shown\n\n**Exit code 1: there is no plan that can be applied.**\n\n```\nwhy\n```\n")
        self.assertEqual(os.listdir(self.path("out")), ["comment.md"])

    def test_a_plan_that_is_longer_than_a_comment_may_be_is_shortened(self):
        self.replace_program('[ "$1" = validate ] || { head -c 70000 /dev/zero | tr "\\0" x; : >out/plan.json; }\n')
        done = self.script("plan.sh", "cluster.yaml", "out")
        self.assert_ends(done, 0, out="x" * 70000, err="")
        self.assertEqual(self.read("out/comment.md"),
                         "x" * 60000 + "\n\nThe rest of the plan is left out here. It is in the log of the job.\n")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["comment.md", "plan.json"])

    def test_a_stale_plan_keeps_its_exit_code_and_says_the_next_step(self):
        self.replace_program('echo "$@"; exit 8\n')
        os.mkdir(self.path("out"))
        self.write("out/plan.json", "")
        self.assert_ends(self.script("apply.sh", "cluster.yaml", "out"), 8,
                         out="apply out/plan.json --manifest cluster.yaml --yes --brief --events out/events.ndjson\n", err="""\
apply.sh: the plan is stale; nothing was changed
  next step: run plan.sh on this commit, review what it shows, then run apply.sh again
""")

    def test_a_login_of_a_pipeline_is_in_a_home_that_is_removed(self):
        self.write("known_hosts", "spark-1 ssh-ed25519 AAAA\n")
        done = self.script("login.sh", "sh", "-c", SHOW_LOGIN, SPARK_SSH_KEY="-----BEGIN\nkey", SPARK_KNOWN_HOSTS="known_hosts")
        home, rest = done.stdout.split("\n", 1)
        self.assert_ends(done, 3, err="")
        self.assertEqual(rest, "700\n600\n-----BEGIN\nkey\nspark-1 ssh-ed25519 AAAA\nno key\n")
        self.assertNotEqual(home, self.folder)
        self.assertFalse(os.path.exists(home))
        self.assert_ends(self.script("login.sh", "true", SPARK_SSH_KEY="", SPARK_KNOWN_HOSTS="known_hosts"), 2, out="")

    def test_drift_of_an_unreachable_node_is_in_the_metrics_and_in_junit(self):
        done = self.script("drift.sh", "cluster.yaml", "drift.prom", "drift.xml")
        self.assert_ends(done, 3, err=REFUSED)
        self.assertEqual(done.stdout, self.spark("drift", "--brief").stdout)
        metrics = self.read("drift.prom").splitlines()
        self.assertIn('spark_reconcile_drift_exit_code{cluster="lab"} 3', metrics)
        self.assertIn('spark_reconcile_node_reached{cluster="lab",node="spark-2"} 0', metrics)
        self.assertEqual([line for line in metrics if "drift_changes{" in line and "spark-2" in line], [])
        self.assertEqual(stat.S_IMODE(os.stat(self.path("drift.prom")).st_mode), 0o644)
        [second] = [case for case in xml.etree.ElementTree.parse(self.path("drift.xml")).iter("testcase")
                    if case.get("name") == "spark-2"]
        self.assertEqual(second.find("error").get("message"), "connection refused")
        self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "cluster.yaml", "drift.prom", "drift.xml"])

    def test_junit_of_drift_is_written_where_it_is_wanted(self):
        self.replace_program('echo "$@"; exit 2\n')
        self.assert_ends(self.script("drift.sh", "a.yaml", "a.prom"), 2, err="", out="drift a.yaml --brief --prometheus a.prom\n")
        self.assert_ends(self.script("drift.sh", "a.yaml", "a.prom", "a b.xml"), 2, err="",
                         out="drift a.yaml --brief --prometheus a.prom --junit a b.xml\n")

    def test_drift_of_an_invalid_manifest_writes_no_metrics(self):
        self.write("cluster.yaml", "cluster: lab\n")
        self.assert_ends(self.script("drift.sh", "cluster.yaml", "drift.prom", "drift.xml"), 1, out="")
        self.assertFalse(os.path.exists(self.path("drift.prom")) or os.path.exists(self.path("drift.xml")))

    def test_metrics_that_cannot_be_written_are_an_error(self):
        done = self.script("drift.sh", "cluster.yaml", "no/drift.prom", "drift.xml")
        self.assert_ends(done, 1, err="no/drift.prom: cannot be written: No such file or directory\n")
        self.assertFalse(os.path.exists(self.path("drift.xml")), "it is found before a node is read")


if __name__ == "__main__":
    unittest.main()
