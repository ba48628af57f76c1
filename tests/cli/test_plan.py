"""plan, drift and status on a cluster of which one node can be read and one cannot."""

import json
import os
import pathlib
import re
import stat
import time
import unittest

from spark_cli import MANIFEST, OUT_OF_REACH, REFUSED, SETTING, SETTING_PLAN, CliTest


class PlanCommand(CliTest):
    def test_a_flag_takes_one_value_and_leaves_the_manifest_alone(self):
        self.write("other.yaml", OUT_OF_REACH)
        done = self.spark("plan", "--only", "hosts", "--node", "spark-1", "other.yaml")
        self.assertEqual(done.returncode, 3)
        self.assertIn("spark-1  ", done.stdout)

    def test_an_unreachable_node_gives_exit_3_and_the_plan_of_the_rest(self):
        done = self.spark("plan")
        self.assert_ends(done, 3, err=REFUSED)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:2], ["lab · 2 nodes · one cable p1–p1 · mtu 9000", "spark-1  localhost"])
        self.assertIn("/etc/hosts", done.stdout)
        self.assertIn("spark-2  127.0.0.1  not reached: connection refused", lines)
        self.assertRegex(done.stdout, r"(?m)^(no changes|\d+ changes on 1 node|\d+ blocked)(, \d+ blocked)?(, \d+ warnings?)?, 1 node not reached\.")

    def test_json_says_the_same(self):
        done = self.spark("plan", "--format", "json")
        self.assert_ends(done, 3, err=REFUSED)
        plan = json.loads(done.stdout)
        nodes = {node["name"]: node["unreachable"] for node in plan["nodes"]}
        self.assertEqual(nodes, {"spark-1": "", "spark-2": "connection refused"})
        changes = [change for stage in plan["stages"] for change in stage["changes"]]
        self.assertEqual({change["node"] for change in changes}, {"spark-1"})
        self.assertIn("/etc/hosts", [change["name"] for change in changes])

    def test_a_saved_plan_is_the_one_that_was_shown(self):
        shown = self.spark("plan", "--format", "json", "--out", "plan.json")
        self.assert_ends(shown, 3, err=REFUSED + "saved to plan.json without spark-2, which could not be read: plan again before you "
                                                 "apply it\n")
        self.assertEqual(self.read("plan.json"), shown.stdout)

    def test_a_saved_plan_is_for_its_owner_alone_and_holds_no_line_that_is_not_ours(self):
        path = os.path.join(self.folder, "plan.json")
        only = ("--node", "spark-1", "--only", "hosts")
        self.assert_ends(self.spark("plan", *only, "--out", "plan.json"), 0)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        os.chmod(path, 0o644)
        shown = self.spark("plan", *only, "--out", "plan.json")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        [foreign, *_] = [line for line in pathlib.Path("/etc/hosts").read_text(encoding="utf-8").splitlines() if line]
        status = self.spark("status", "--node", "spark-1", "--format", "json").stdout
        for output in (self.read("plan.json"), shown.stdout, self.spark("drift", *only).stdout, status):
            self.assertNotIn(foreign, output)
        self.assertRegex(status, r"\(\d+ lines? that (is|are) not ours\)")

    def test_a_saved_plan_says_how_it_is_applied(self):
        for name, word in (("plan.json", "plan.json"), ("my plan.json", "'my plan.json'")):
            self.assert_ends(self.spark("plan", "--node", "spark-1", "--only", "hosts", "--out", name), 0,
                             err=f"saved to {name}; apply it with: spark-reconcile apply {word}\n")

    @unittest.skipIf(os.path.exists("/proc/driver/nvidia/version"), "this machine may have what is wanted")
    def test_a_saved_plan_that_apply_refuses_is_exit_1_with_the_reason(self):
        self.write("cluster.yaml", MANIFEST + "gpudirect: dmabuf\n")
        only = ("--node", "spark-1", "--only", "gpudirect")
        plan = self.spark("plan", *only)
        self.assert_ends(plan, 0, err="")
        [reason] = re.findall(r"(?m)^error: spark-1: gpudirect: wanted dmabuf, .*\n  next step: .*\n", plan.stdout)
        self.assert_ends(self.spark("plan", *only, "--out", "plan.json"), 1, out=plan.stdout,
                         err=f"{reason}saved to plan.json, and apply refuses it: see the errors above\n")
        self.assert_ends(self.spark("apply", "plan.json"), 1, out=plan.stdout, err=f"{reason}nothing was changed\n")

    def test_a_plan_that_cannot_be_saved_is_an_error(self):
        self.assert_ends(self.spark("plan", "--node", "spark-1", "--out", "no/plan.json"), 1,
                         err="no/plan.json: cannot be written: No such file or directory\n")

    def test_pending_changes_are_exit_0_and_2_with_detailed_exitcode(self):
        self.write("cluster.yaml", SETTING)
        only = ("--node", "spark-1", "--only", "sysctl", "--brief")
        plan = self.spark("plan", *only)
        self.assert_ends(plan, 0, err="", out=SETTING_PLAN)
        self.assert_ends(self.spark("plan", "--detailed-exitcode", *only), 2, out=plan.stdout, err="")
        self.assert_ends(self.spark("drift", *only), 2, out=plan.stdout, err="")

    def test_what_needs_a_port_of_a_plugin_that_only_leaves_out_is_blocked(self):
        plan = self.spark("plan", "--node", "spark-1", "--only", "hosts", "--brief")
        self.assert_ends(plan, 0, err="")
        self.assertRegex(plan.stdout, r"(?m)^  ! file  /etc/hosts: needs enp1s0f1np1 of spark-1, which is blocked: ")

    def test_a_plugin_that_has_nothing_to_do_is_exit_0_everywhere(self):
        only = ("--node", "spark-1", "--only", "memlock")
        for command in (("plan",), ("plan", "--detailed-exitcode"), ("drift",)):
            self.assert_ends(self.spark(*command, *only), 0, err="", out="""\
lab · 2 nodes · one cable p1–p1 · mtu 9000
spark-1  localhost  no changes
no changes.
""")

    def test_a_warning_is_drift_and_stands_below_the_plan_and_in_json(self):
        self.write("cluster.yaml", MANIFEST + "nccl: {mode: safe, library: /no/such/libnccl.so.2}\n")
        only = ("--node", "spark-1", "--only", "nccl", "--brief")
        done = self.spark("drift", *only)
        self.assert_ends(done, 2, err="")
        self.assertIn("warning: spark-1: library: /no/such/libnccl.so.2 is not there [nccl-library-missing]  cluster.yaml:10\n"
                      "  next step: install it there, or correct nccl.library\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^2 blocked, \d+ warnings?\.")
        self.assert_ends(self.spark("plan", *only), 0, out=done.stdout, err="")
        plan = json.loads(self.spark("plan", *only, "--format", "json").stdout)
        [missing] = [one for one in plan["diagnostics"] if one["code"] == "nccl-library-missing"]
        self.assertEqual(missing, {
            "severity": "warns", "code": "nccl-library-missing", "nodes": ["spark-1"], "plugin": "nccl", "subject": "library",
            "change": "", "message": "library: /no/such/libnccl.so.2 is not there",
            "next_step": "install it there, or correct nccl.library",
            "where": {"file": "cluster.yaml", "line": 10, "column": missing["where"]["column"]}})

    def test_drift_writes_metrics_and_junit_beside_what_it_prints(self):
        self.write("cluster.yaml", SETTING)
        done = self.spark("drift", "--node", "spark-1", "--only", "sysctl", "--brief", "--prometheus", "a.prom", "--junit", "a.xml")
        self.assert_ends(done, 2, out=SETTING_PLAN, err="")
        metrics = self.read("a.prom").splitlines()
        self.assertIn('spark_reconcile_drift_exit_code{cluster="lab"} 2', metrics)
        self.assertIn('spark_reconcile_drift_changes{cluster="lab",node="spark-1"} 1', metrics)
        [ended] = [float(line.split()[1]) for line in metrics if line.startswith("spark_reconcile_drift_timestamp_seconds{")]
        self.assertLess(abs(time.time() - ended), 3600)
        self.assertIn('<failure type="drift" message="differs from the manifest: 1">file /etc/sysctl.d/60-spark-reconcile.conf: ',
                      self.read("a.xml"))

    def test_an_unknown_node_is_a_usage_error(self):
        self.assert_ends(self.spark("plan", "--node", "spark-3"), 1, out="",
                         err="unknown node 'spark-3', did you mean 'spark-1'?\n"
                             "  hint: known: spark-1, spark-2\n")

    def test_an_unknown_plugin_is_a_usage_error(self):
        done = self.spark("plan", "--node", "spark-1", "--only", "sysclt")
        self.assert_ends(done, 1, out="")
        self.assertTrue(done.stderr.startswith("unknown plugin 'sysclt', did you mean 'sysctl'?\n"
                                               "  hint: known: host, "), done.stderr)

    def test_status_shows_what_it_can_read(self):
        done = self.spark("status")
        self.assert_ends(done, 3, err=REFUSED)
        head, columns, first, second, *rest = done.stdout.splitlines()
        self.assertEqual(head, "lab · 2 nodes · one cable p1–p1 · mtu 9000")
        self.assertRegex(columns, r"^node +state +generation +applied \(UTC\) +verify +by$")
        self.assertRegex(first, r"^spark-1  (in sync|pending|blocked) ")
        self.assertRegex(second, r"^spark-2  unreachable +- +- +- +-$")
        self.assertIn("spark-2: not reached: connection refused", rest)
        self.assertRegex(rest[-1], r"^1 (in sync|pending|blocked), 1 unreachable\.")
        done = self.spark("status", "--details")
        self.assertRegex(done.stdout, r"(?m)^spark-1  localhost  .* · kernel ")
        done = self.spark("status", "--format", "json")
        self.assertEqual(done.returncode, 3)
        facts = json.loads(done.stdout)
        self.assertEqual([node["name"] for node in facts["nodes"]], ["spark-1"])
        self.assertEqual([(one["name"], one["hint"]) for one in facts["unreachable"]],
                         [("spark-2", "is sshd running there, and is 1 its port?")])

    def test_no_one_reached_is_exit_3(self):
        self.write("cluster.yaml", OUT_OF_REACH)
        done = self.spark("plan")
        self.assert_ends(done, 3)
        self.assertEqual(done.stdout.splitlines()[-1], "nothing is known: 2 of 2 nodes not reached.")


if __name__ == "__main__":
    unittest.main()
