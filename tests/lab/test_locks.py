"""Locks and the drill: who holds a node, a dead holder's lock, a revert that is proved on demand."""

import json
import math
import os
import re
import shlex
import signal
import subprocess
import tempfile
import unittest

import jsonschema
from spark_lab import LAB, PROGRAM, LabTest, cluster, speed

PAIR = cluster("pair.yaml")
# Holds each step up while the file is there, so that a controller can be met while it runs.
SLOW_SYNC = """cat >/usr/local/sbin/sync <<'END'
#!/bin/sh
while [ -e /var/tmp/hold ]; do touch /var/tmp/held; sleep 0.05; done
exec /usr/bin/sync "$@"
END
chmod +x /usr/local/sbin/sync; touch /var/tmp/hold"""

# A shell that holds the node's lock and has been silent for too long.
HOLDER = r"""exec 9>>/var/lib/spark-reconcile/lock; flock 9; echo 0 >/var/lib/spark-reconcile/lease.until
printf 'ada@desk pid 4 since 2026-11-01T00:00:00Z\nprocess 4 none none 0\nshell %s\n' $$ >/var/lib/spark-reconcile/lease
sleep 600"""


class Locks(LabTest):
    options = ("--topology", "direct")

    def test_0_a_lock_that_cannot_be_taken_is_no_apply_that_was_reverted(self):
        self.lab.sh(1, "touch /var/lib/spark-reconcile")
        said = "spark-1: the lock could not be taken: mkdir: cannot create directory '/var/lib/spark-reconcile': File exists\n"
        try:
            self.assertTrue(self.spark("apply", PAIR, "--yes", "--brief", expect=3).stderr.endswith(said))
            self.assertTrue(self.spark("drill", PAIR, "--node", "spark-1", expect=3).stderr.endswith(said))
        finally:
            self.lab.sh(1, "rm /var/lib/spark-reconcile")

    def test_1_the_drill_proves_that_the_node_reverts_a_trial(self):
        look = "sysctl -n net.ipv4.conf.lo.tag; ls -A /etc/sysctl.d; ls -A /run/sysctl.d 2>&1; true"
        before = self.lab.sh(1, look)
        done = self.spark("drill", PAIR, "--node", "spark-1", "--revert-after", "6", expect=0)
        took = re.search(r"\Aspark-1  reverted it (\d+\.\d) s after the last sign of life \(limit 6 s\)\n"
                         r"as before, byte for byte:\n  /var/lib/spark-reconcile/\S+/drill/kept\n", done.stdout)
        self.assertIsNotNone(took, done.stdout)
        self.assertGreaterEqual(float(took.group(1)), 6)
        speed.assert_within(float(took.group(1)), 30)
        self.assertEqual(self.lab.sh(1, look), before)
        # Nothing but journals, so that nothing stays of a drill that is killed either.
        self.assertEqual(self.lab.sh(1, "find /var/lib/spark-reconcile -name drill"), "")
        self.assertEqual(self.spark("lock", "list", PAIR, expect=0).stdout,
                         "spark-1  free\nspark-2  free\n")

    def test_1b_the_drill_keeps_to_the_width_of_the_terminal_and_has_a_document(self):
        drill = ("drill", PAIR, "--node", "spark-1", "--revert-after", "5")
        code, shown = self.lab.spark_on_terminal([*drill], (), columns=60)
        self.assertEqual(code, 0, shown)
        self.assertIn("\nas before, byte for byte:\n", shown)
        for line in shown.splitlines():
            self.assertLessEqual(len(line), 60, shown)
        document = self.document("drill", *drill, expect=0)
        (node,) = document["nodes"]
        self.assertEqual((document["revert_after_s"], node["name"], node["proved"], node["reverted"], node["errors"]),
                         (5, "spark-1", True, True, []))
        self.assertGreaterEqual(node["reverted_after_s"], 5)
        self.assertIn("net.ipv4.conf.lo.tag", node["as_before"])

    def test_2_a_drill_fails_where_the_revert_does_not_work(self):
        self.lab.sh(1, "printf '#!/bin/sh\\nexit 1\\n' >/usr/local/sbin/systemd-run; chmod +x /usr/local/sbin/systemd-run")
        done = self.spark("drill", PAIR, "--node", "spark-1", "--revert-after", "5", expect=5)
        self.assertIn("the plan could not be staged", done.stderr)
        self.lab.sh(1, "rm /usr/local/sbin/systemd-run")
        self.spark("apply", PAIR, "--yes", "--brief", expect=0)

    def document(self, schema, *arguments, expect):
        """What the command writes as JSON, which is what its schema says."""
        found = json.loads(self.spark(*arguments, "--format", "json", expect=expect).stdout)
        judge = jsonschema.Draft7Validator(json.loads(self.spark("schema", schema, expect=0).stdout))
        self.assertEqual([error.message for error in judge.iter_errors(found)], [])
        return found

    def test_3_a_living_holder_is_named_and_not_broken_and_a_dead_one_is(self):
        for node in (1, 2):
            self.lab.sh(node, SLOW_SYNC)
            self.lab.sh(node, "rm /etc/netplan/60-spark-reconcile.yaml")
        run = speed.start([LAB, "exec", "--run", self.lab.run, "--", PROGRAM, "apply", PAIR, "--yes",
                           "--brief", "--revert-after", str(math.ceil(speed.scaled(5)))], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            speed.wait_until(lambda: all(self.lab.sh(node, "ls /var/tmp | grep -cx held || true").strip() == "1"
                                         for node in (1, 2)), 20, "both nodes held up in a step", 0.1)
            listed = self.spark("lock", "list", PAIR, expect=0).stdout
            self.assertRegex(listed, r"spark-1  held by \S+@\S+ pid \d+ since 20\S+Z "
                                     r"\(running, or within its deadline for \d+ s more\)")
            for node in self.document("lock", "lock", "list", PAIR, expect=0)["nodes"]:
                self.assertTrue(node["held"], node)
                self.assertIn(f"{node['name']}  held by {node['holder']} (running", listed)
                self.assertLessEqual(node["overdue_s"], 0)
            waited = self.spark("status", PAIR, "--wait", "1", expect=9)
            self.assertRegex(waited.stderr, r"waited for 1 s: an apply is not over on spark-1, spark-2\n\Z")
            refused = self.spark("lock", "break", PAIR, expect=9)
            self.assertRegex(refused.stderr, r"spark-1: not broken: \S+ pid \d+ since \S+ may be running")
            kept = self.document("lock", "lock", "break", PAIR, expect=9)["nodes"]
            self.assertEqual([(node["held"], node["outcome"]) for node in kept], [(True, "kept")] * 2)
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        first = self.document("lock", "lock", "break", PAIR, "--node", "spark-1", expect=0)["nodes"][0]
        self.assertEqual((first["name"], first["held"], first["outcome"]), ("spark-1", True, "broken"))
        self.assertRegex(first["reason"], r"\Ait was process \d+ of this machine, which does not run any more\Z")
        self.assertEqual([node["held"] for node in self.document("lock", "lock", "list", PAIR, expect=0)["nodes"]], [False, True])
        broken = self.spark("lock", "break", PAIR, expect=0)
        self.assertRegex(broken.stdout, r"spark-2  broken: \S+ pid \d+ since \S+ is gone, it was process \d+ of "
                                        r"this machine, which does not run any more")
        for node in (1, 2):
            self.lab.sh(node, "rm /var/tmp/hold /usr/local/sbin/sync")
        self.assertEqual(self.spark("lock", "list", PAIR, expect=0).stdout,
                         "spark-1  free\nspark-2  free\n")
        self.spark("apply", PAIR, "--yes", "--brief", "--parallelism", "1", expect=0)

    def test_4_an_apply_waits_for_another_one_as_long_as_it_may(self):
        for node in (1, 2):
            self.lab.sh(node, SLOW_SYNC)
            self.lab.sh(node, "rm /etc/netplan/60-spark-reconcile.yaml; rm -f /var/tmp/held")
        apply = [LAB, "exec", "--run", self.lab.run, "--", PROGRAM, "apply", PAIR, "--yes", "--brief", "--no-verify"]
        first = speed.start(apply, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            speed.wait_until(lambda: all(self.lab.sh(node, "ls /var/tmp | grep -cx held || true").strip() == "1"
                                         for node in (1, 2)), 20, "both nodes held up in a step", 0.1)
            with tempfile.TemporaryFile("a+", encoding="utf-8") as said:
                second = speed.start([*apply, "--lock-timeout", str(math.ceil(speed.scaled(60)))], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=said)

                def text():
                    said.seek(0)
                    return said.read()

                speed.wait_until(lambda: "waiting for the other apply to end, at most " in text(), 20, "the second one waits", 0.1)
                for node in (1, 2):
                    self.lab.sh(node, "rm /var/tmp/hold")
                self.spark("status", PAIR, "--wait", str(math.ceil(speed.scaled(60))), expect=0)
                self.assertEqual(speed.wait(first, 60), 0)
                self.assertEqual(speed.wait(second, 60), 0, text())
        finally:
            first.kill()
            for node in (1, 2):
                self.lab.sh(node, "rm -f /var/tmp/hold /usr/local/sbin/sync")

    def test_5_a_lease_that_does_not_name_its_shell_is_neither_free_nor_held(self):
        self.lab.sh(1, "echo 'ada@desk pid 4 since then' >/var/lib/spark-reconcile/lease; rm /etc/netplan/60-spark-reconcile.yaml")
        listed = self.spark("lock", "list", PAIR, expect=3)
        self.assertEqual(listed.stdout, "spark-2  free\n")
        self.assertEqual(listed.stderr, """\
spark-1: the lock cannot be read: its lease does not say which shell holds it
  hint: read it again; where that stays, the next apply takes the lock if it is free, and writes a new lease
""")
        waited = self.spark("status", PAIR, "--wait", "1", expect=3)
        self.assertRegex(waited.stderr, r"waited for 1 s: the lock of spark-1 cannot be read")
        self.assertEqual(self.spark("lock", "break", PAIR, expect=3).stdout, "spark-2  free\n")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.spark("lock", "list", PAIR, expect=0).stdout, "spark-1  free\nspark-2  free\n")

    def test_6_whoever_waits_for_a_shell_learns_that_its_lock_was_broken(self):
        """sudo stops when the shell below it is stopped, and has to go on to see that it was ended."""
        waiting = speed.start([LAB, "ssh", "--run", self.lab.run, "1", f"sudo -n sh -c {shlex.quote(HOLDER)}"], stdin=subprocess.DEVNULL)
        try:
            speed.wait_until(lambda: "spark-1  held by ada@desk" in self.spark("lock", "list", PAIR, expect=0).stdout, 20,
                             "the shell holds the lock", 0.2)
            self.assertIn("spark-1  broken: ada@desk pid 4 since 2026-11-01T00:00:00Z is gone",
                          self.spark("lock", "break", PAIR, expect=0).stdout)
            self.assertNotEqual(speed.wait(waiting, 10), 0)
        finally:
            waiting.kill()


if __name__ == "__main__":
    unittest.main()
