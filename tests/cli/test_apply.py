"""What apply refuses. It runs where it could change nothing even if it did not refuse: on nodes that cannot be
reached, or with the machine's files read-only."""

import json
import os
import subprocess
import unittest

from spark_cli import OUT_OF_REACH, REFUSED, SETTING, SETTING_PLAN, CliTest

# For this process and its children alone: the machine read-only, with room for locks that is gone afterwards.
READ_ONLY = ("unshare", "--mount", "sh", "-c", """
mount --make-rprivate / &&
for place in /var /home /root /etc /; do
  ! mountpoint -q "$place" || mount -o remount,bind,ro "$place" || exit 1
done
mount -t tmpfs none /run && mount -t tmpfs none /var/lib && ! touch /etc/hosts 2>/dev/null && exec "$@"
""", "sh")


class ApplyCommand(CliTest):
    def test_without_a_terminal_it_wants_yes(self):
        if subprocess.run([*READ_ONLY, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine does not let us have a read-only view of it")
        self.write("cluster.yaml", SETTING)
        done = self.spark("apply", "--node", "spark-1", "--only", "sysctl", "--brief", before=READ_ONLY)
        self.assert_ends(done, 1, out=SETTING_PLAN, err="""\
nothing was changed: there is no terminal to confirm on
  hint: give --yes, or save a plan with `plan --out` and apply that with --yes
""")
        self.assertFalse(os.path.exists("/etc/sysctl.d/60-spark-reconcile.conf"))
        self.assertFalse(os.path.exists("/var/lib/spark-reconcile"))

    def test_a_node_that_is_not_reached_refuses_the_apply(self):
        done = self.spark("apply", "--only", "memlock", "--yes", "--brief")
        self.assert_ends(done, 3, err=REFUSED + """\
nothing was changed, because these nodes of the manifest were not reached:
  spark-2
  hint: make them ready, name the others with --node, or give --allow-unreached
""")
        self.assertTrue(done.stdout.endswith("\nno changes, 1 node not reached.\n"), done.stdout)

    def test_a_rollback_takes_a_node_that_is_not_reached_for_no_new_one(self):
        done = self.spark("rollback", "--yes")
        self.assert_ends(done, 1, out="", err=REFUSED + """\
no generation stands before the newest one
  hint: nothing was applied to these nodes yet, as far as nodes could be read; `rollback --to 0` prunes everything
""")
        self.write("cluster.yaml", OUT_OF_REACH)
        done = self.spark("rollback", "--yes", "--to", "1")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertTrue(done.stderr.endswith("no generation is known: no node could be read\n"), done.stderr)
        self.assertEqual(self.spark("history", "--show", "1").returncode, 3)
        done = self.spark("rollback", "--yes", "--to", "0")
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.endswith("  hint: make them ready, or give --allow-unreached\n"), done.stderr)

    def test_a_partial_apply_says_so_at_the_end(self):
        done = self.spark("apply", "--only", "memlock", "--yes", "--brief", "--allow-unreached")
        self.assert_ends(done, 3, err=REFUSED)
        self.assertTrue(done.stdout.endswith("""
no changes, 1 node not reached.
PARTIAL: not reached, and not changed: spark-2; nothing was changed, not verified.
  not proved: the state there, the connections to there, and the manifest's verification, which needs every node
"""), done.stdout)

    def test_events_on_stdout_are_all_that_is_there(self):
        text = self.spark("apply", "--only", "memlock", "--yes", "--brief")
        done = self.spark("apply", "--only", "memlock", "--yes", "--brief", "--events", "-")
        self.assertEqual(done.returncode, 3)
        [ended] = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((ended["format"], ended["event"], ended["exit_code"]), ("spark-reconcile/event/1", "ended", 3))
        self.assertEqual(sorted(done.stderr.splitlines()), sorted((text.stdout + text.stderr).splitlines()))

    def test_the_last_event_has_the_exit_code(self):
        self.write("events", "of an earlier apply\n")
        self.assert_ends(self.spark("apply", "--only", "memlock", "--yes", "--brief", "--events", "events"), 3)
        self.assertEqual([json.loads(line)["exit_code"] for line in self.read("events").splitlines()], [3])

    def test_events_of_an_earlier_run_do_not_stay_where_this_one_fails_early(self):
        self.write("bad.yaml", "nodes: []\n")
        for command in ("apply none.yaml", "apply bad.yaml", "apply --manifest cluster.yaml", "apply --node spark-3", "rollback bad.yaml",
                        "rollback", "uninstall none.yaml"):
            with self.subTest(command):
                self.write("events", '{"event": "ended", "exit_code": 0}\n')
                done = self.spark(*command.split(), "--yes", "--events", "events")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual([json.loads(line)["exit_code"] for line in self.read("events").splitlines()], [1])

    def test_a_manifest_is_read_once_so_that_it_may_come_by_a_pipe(self):
        done = self.spark("apply", "/dev/stdin", "--yes", stdin=OUT_OF_REACH)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("nothing is known: 2 of 2 nodes not reached.", done.stdout)

    def test_a_manifest_may_be_json_or_yaml_in_braces(self):
        access = {"user": "nobody", "port": 1}
        manifest = {"api_version": "spark-reconcile/v1", "cluster": "lab", "access": {"become": "none", "connect_timeout_s": 5},
                    "nodes": [{"name": f"spark-{number}", "address": f"127.0.0.{number}", "access": access} for number in (1, 2)],
                    "fabric": {"topology": "direct", "subnets": ["192.168.177.0/24", "192.168.178.0/24"]}}
        text = json.dumps(manifest)
        for braces in (text, text.replace('"', "")):
            self.write("cluster.yaml", braces)
            done = self.spark("apply", "--yes")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("nothing is known: 2 of 2 nodes not reached.", done.stdout)

    def test_events_that_cannot_be_written_are_an_error_before_any_node_is_read(self):
        self.assert_ends(self.spark("apply", "--yes", "--events", "no/events"), 1, out="",
                         err="no/events: cannot be written: No such file or directory\n")

    def test_a_saved_plan_is_applied_whole_or_not_at_all(self):
        self.saved_plan()
        done = self.spark("apply", "plan.json", "--node", "spark-1", "--yes")
        self.assert_ends(done, 1, out="", err="""\
--node and --only do not go with a saved plan: it is applied whole
  hint: give them to `plan --out`
""")

    def saved_plan(self):
        self.write("cluster.yaml", OUT_OF_REACH)
        self.assert_ends(self.spark("plan", "--out", "plan.json"), 3)
        plan = json.loads(self.read("plan.json"))
        self.assertEqual(plan["stages"], [])
        return plan

    def test_a_saved_plan_finds_its_manifest_from_any_folder(self):
        self.saved_plan()
        done = self.spark("apply", os.path.join(self.folder, "plan.json"), "--yes", before=("env", "-C", "/"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("nothing is known: 2 of 2 nodes not reached.", done.stdout)

    def test_an_edited_plan_is_refused(self):
        plan = self.saved_plan()
        plan["nodes"][0]["address"] = "127.0.0.3"
        self.write("plan.json", json.dumps(plan))
        self.assert_ends(self.spark("apply", "plan.json", "--yes"), 1, out="", err="""\
plan.json: was edited after it was made: its id is not the digest of its content
  hint: make a new plan with `plan --out`
""")

    def test_other_spacing_is_no_edit(self):
        self.write("plan.json", json.dumps(self.saved_plan()))
        done = self.spark("apply", "plan.json", "--yes")
        self.assertNotIn("was edited", done.stderr)
        self.assertIn("nothing is known: 2 of 2 nodes not reached.", done.stdout)

    def test_a_saved_plan_whose_node_has_left_the_manifest_is_stale(self):
        self.saved_plan()
        self.write("cluster.yaml", OUT_OF_REACH.replace("spark-2", "spark-3"))
        self.assert_ends(self.spark("apply", "plan.json", "--yes", "--events", "events"), 8, out="", err="""\
cluster.yaml changed since the plan was made
  hint: make a new plan and review it
""")
        self.assertEqual([json.loads(line)["exit_code"] for line in self.read("events").splitlines()], [8])

    def test_an_uninstall_that_leaves_something_says_what_became_of_the_account(self):
        self.write("cluster.yaml", OUT_OF_REACH)
        done = self.spark("uninstall", "--access", "--yes")
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.endswith(
            "note: /etc/sudoers.d/spark-reconcile stays on the nodes until an uninstall ends with exit code 0\n"), done.stderr)

    def test_a_plan_made_with_overwrite_edited_needs_it_again(self):
        self.write("cluster.yaml", OUT_OF_REACH)
        self.assert_ends(self.spark("plan", "--overwrite-edited", "--out", "plan.json"), 3)
        self.assert_ends(self.spark("apply", "plan.json", "--yes"), 1, out="", err="""\
plan.json: was made with --overwrite-edited: it may write files again that were edited on a node
  hint: give apply --overwrite-edited too, or make a new plan without it
""")
        done = self.spark("apply", "plan.json", "--yes", "--overwrite-edited")
        self.assertIn("nothing is known: 2 of 2 nodes not reached.", done.stdout)

    def test_half_a_plan_is_refused(self):
        self.saved_plan()
        self.write("plan.json", self.read("plan.json")[:-20])
        done = self.spark("apply", "plan.json", "--yes")
        self.assert_ends(done, 1, out="")
        self.assertTrue(done.stderr.startswith("plan.json: not valid JSON: "), done.stderr)

    def test_a_plan_of_another_format_is_refused(self):
        self.write("plan.json", '{"format": "spark-reconcile/facts/1"}')
        self.assert_ends(self.spark("apply", "plan.json", "--yes"), 1, out="", err="""\
plan.json: /format: wanted "spark-reconcile/plan/3", found "spark-reconcile/facts/1"
""")

    def test_a_plan_of_another_version_says_to_plan_again(self):
        self.write("plan.json", '{"format": "spark-reconcile/plan/2"}')
        self.assert_ends(self.spark("apply", "plan.json", "--yes"), 1, out="", err="""\
plan.json: /format: wanted "spark-reconcile/plan/3", found "spark-reconcile/plan/2"
  hint: another version of the program made it; plan again: spark-reconcile plan --out FILE
""")

    def test_the_manifest_of_a_saved_plan_must_be_there(self):
        self.saved_plan()
        os.remove(os.path.join(self.folder, "cluster.yaml"))
        self.assert_ends(self.spark("apply", "plan.json", "--yes"), 1, out="",
                         err="cluster.yaml: cannot be read: No such file or directory\n"
                             "  hint: it is the manifest of the saved plan; --manifest names it where it is now\n")


if __name__ == "__main__":
    unittest.main()
