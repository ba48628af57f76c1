"""The scripts of manifests/gitops run a pipeline on two nodes: a bare repository whose hook plans what is pushed to a branch
and applies the reviewed plan when it is merged, and drift runs that write metrics."""

import os
import re
import stat
import subprocess
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import PROGRAM, ROOT, LabTest, cluster, speed, temporary_folder  # noqa: E402

SCRIPTS = os.path.join(ROOT, "manifests", "gitops")
PROBING = "cat /proc/sys/net/ipv4/tcp_mtu_probing"
# Where the unit expects it. Nothing runs there: systemd only reads the files.
UNITS_ON_NODE = """\
mkdir -p /usr/local/lib/spark-reconcile-gitops
printf '#!/bin/sh\\n' >/usr/local/lib/spark-reconcile-gitops/drift.sh
chmod +x /usr/local/lib/spark-reconcile-gitops/drift.sh
touch /usr/bin/git
chmod +x /usr/bin/git
cat >/etc/systemd/system/spark-reconcile-drift.{kind} <<'UNIT'
{text}UNIT
"""
# The pipeline's account, as docs/gitops.md has it. The key is the one that the lab made for nvidia.
ACCOUNT_ON_NODE = """\
useradd -m -s /bin/sh -p '*' spark-ci
echo 'spark-ci ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/spark-ci
chmod 440 /etc/sudoers.d/spark-ci
visudo -cq
install -d -m 700 -o spark-ci -g spark-ci ~spark-ci/.ssh
grep -m 1 lab- ~nvidia/.ssh/authorized_keys | sed 's/^/restrict,from="192.168.1.1" /' >~spark-ci/.ssh/authorized_keys
chown spark-ci: ~spark-ci/.ssh/authorized_keys
"""


class GitOps(LabTest):
    """Tests run in the order of their names; each goes on from where the one before it ended."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = temporary_folder()
        cls.bare, cls.clone, cls.metrics = (os.path.join(folder, name) for name in ("cluster.git", "clone", "drift.prom"))
        # The program is where a pipeline finds it.
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(PROGRAM, os.path.join(folder, "bin", "spark-reconcile"))
        cls.path = f"{os.path.join(folder, 'bin')}:{os.environ['PATH']}"
        cls.git("init", "--quiet", "--bare", "--initial-branch=main", folder=cls.bare)
        cls.git("config", "spark-reconcile.scripts", SCRIPTS, folder=cls.bare)
        os.symlink(os.path.join(SCRIPTS, "post-receive"), os.path.join(cls.bare, "hooks", "post-receive"))
        cls.git("init", "--quiet", "--initial-branch=main")
        for key, value in (("user.name", "Admin"), ("user.email", "admin@example.org"), ("remote.origin.url", cls.bare)):
            cls.git("config", key, value)
        with open(cluster("pair.yaml"), encoding="utf-8") as source:
            cls.manifest = source.read()

    @classmethod
    def in_lab(cls, *command, check=True, limit_s=400, **environment):
        done = cls.lab.lab("exec", "--", "env", f"PATH={getattr(cls, 'path', os.environ['PATH'])}",
                           *(f"{key}={value}" for key, value in environment.items()), *command, check=False, limit_s=limit_s)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    @classmethod
    def git(cls, *arguments, folder=None):
        """In the clone. It reaches no node."""
        folder = folder or cls.clone
        os.makedirs(folder, exist_ok=True)
        done = speed.run(["git", "-C", folder, *arguments], 60, check=False, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise AssertionError(f"git {' '.join(arguments)}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def commit(self, text):
        with open(os.path.join(self.clone, "cluster.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        self.git("add", "cluster.yaml")
        self.git("commit", "--quiet", "-m", "change the cluster")

    def push(self, *branches):
        """What the hook says to the person who pushes, and the commit."""
        said = self.in_lab("git", "-C", self.clone, "push", "origin", *branches).stderr
        lines = [re.sub(r"^remote: ?| *$", "", line) for line in said.splitlines() if line.startswith("remote:")]
        return "\n".join(lines), self.git("rev-parse", "HEAD").strip()

    def propose(self, branch, text):
        self.git("checkout", "--quiet", "-B", branch)
        self.commit(text)
        return self.push(branch)

    def merge(self, branch):
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "-m", f"merge {branch}", branch)
        return self.push("main")

    def assert_drift(self, code, **values):
        """The exit code of a drift run, and what its metrics have."""
        manifest = os.path.join(self.clone, "cluster.yaml")
        done = self.in_lab(os.path.join(SCRIPTS, "drift.sh"), manifest, self.metrics, self.metrics + ".xml", check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        with open(self.metrics, encoding="utf-8") as file:
            metrics = file.read().splitlines()
        self.assertIn(f'spark_reconcile_drift_exit_code{{cluster="lab"}} {code}', metrics)
        for node, count in values.items():
            node = node.replace("_", "-")
            self.assertIn(f'spark_reconcile_drift_changes{{cluster="lab",node="{node}"}} {count}', metrics)
            self.assertIn(f'spark_reconcile_node_reached{{cluster="lab",node="{node}"}} 1', metrics)

    def test_1_a_change_is_planned_and_changes_nothing(self):
        self.commit(self.manifest.replace("mtu: 9000", "mut: 9000"))
        wrong = self.git("rev-parse", "HEAD").strip()
        self.git("branch", "--quiet", "typo")
        self.git("checkout", "--quiet", "-b", "first")
        self.commit(self.manifest)
        said, commit = self.push("typo", "first")
        self.assertIn("cluster.yaml:16:3: unknown key 'mut' in fabric, did you mean 'mtu'?", said)
        self.assertIn(f"\nplan of {wrong}: exit code 1\n", said)
        self.assertIn("40 changes on 2 nodes", said)
        self.assertTrue(said.rstrip().endswith(f"plan of {commit}: exit code 0"), said)
        saved = os.path.join(self.bare, "plans", commit, "plan.json")
        self.assertEqual(stat.S_IMODE(os.stat(saved).st_mode), 0o600)
        self.assertEqual(self.lab.sh(1, PROBING), "0\n")

    def test_2_a_merge_applies_the_reviewed_plan_and_nothing_drifts(self):
        self.git("branch", "--quiet", "-f", "main", "first")
        self.git("checkout", "--quiet", "main")
        said, commit = self.push("main")
        self.assertTrue(said.rstrip().endswith(f"apply of {commit}: exit code 0"), said)
        self.assertIn('"event":"converged"', self.events(commit).replace(" ", ""))
        self.assertIn(commit[:7], self.spark("history", os.path.join(self.clone, "cluster.yaml"), "--format", "json", expect=0).stdout)
        self.assert_drift(0, spark_1=0, spark_2=0)

    def events(self, commit):
        with open(os.path.join(self.bare, "plans", commit, "events.ndjson"), encoding="utf-8") as file:
            return file.read()

    def test_3_drift_by_hand_is_in_the_metrics_and_the_next_apply_heals_it(self):
        self.lab.sh(2, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        self.assert_drift(2, spark_1=0, spark_2=1)
        said, planned = self.propose("second", self.manifest.replace("spark-02-mesh", "spark-02-fabric"))
        self.assertIn("net.ipv4.tcp_mtu_probing", said)
        said, merged = self.merge("second")
        self.assertTrue(said.rstrip().endswith(f"apply of {merged}: exit code 0"), said)
        self.assertIn("net.ipv4.tcp_mtu_probing", self.events(planned))
        self.assertEqual(self.lab.sh(2, PROBING), "1\n")
        self.assert_drift(0, spark_1=0, spark_2=0)

    def test_4_a_merge_that_changes_nothing_is_applied_too_and_counts_what_drifted_since(self):
        said, _ = self.propose("comment", self.manifest.replace("spark-02-mesh", "spark-02-fabric") + "# the same\n")
        self.assertIn("no changes", said)
        self.lab.sh(2, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        said, merged = self.merge("comment")
        self.assertIn("\nDRIFT: 1 other difference from the manifest was not in the plan and is left as it was; nothing was changed, ", said)
        self.assertTrue(said.rstrip().endswith(f"apply of {merged}: exit code 0"), said)
        self.assertEqual(self.lab.sh(2, PROBING), "2\n")
        self.lab.sh(2, "sysctl -qw net.ipv4.tcp_mtu_probing=1")

    def test_5_what_was_not_reviewed_is_not_applied(self):
        self.propose("third", self.manifest)
        self.git("checkout", "--quiet", "main")
        before = self.lab.sh(1, "cat /etc/hosts")
        # No plan was made of this commit.
        self.commit(self.manifest.replace("spark-02-mesh", "spark-02-other"))
        said, commit = self.push("main")
        self.assertIn("apply.sh: wanted a reviewed plan in ", said)
        self.assertTrue(said.rstrip().endswith(f"apply of {commit}: exit code 1"), said)
        # The merge has another manifest than the branch that was reviewed.
        self.git("merge", "--quiet", "--no-ff", "-s", "ours", "-m", "merge third", "third")
        said, commit = self.push("main")
        self.assertIn("apply.sh: the plan is stale; nothing was changed", said)
        self.assertTrue(said.rstrip().endswith(f"apply of {commit}: exit code 8"), said)
        self.assertEqual(self.lab.sh(1, "cat /etc/hosts"), before)

    def plan_with_login(self, manifest):
        """plan.sh in a home that has no key, without and with login.sh."""
        home = self.in_lab("sh", "-c", "echo $HOME").stdout.strip()
        with open(os.path.join(home, ".ssh", "id_ed25519"), encoding="utf-8") as file:
            key = file.read().rstrip("\n")
        empty = temporary_folder()
        command = (os.path.join(SCRIPTS, "plan.sh"), manifest, os.path.join(empty, "out"))
        alone = self.in_lab(*command, check=False, HOME=empty)
        done = self.in_lab(os.path.join(SCRIPTS, "login.sh"), *command, check=False, HOME=empty, SPARK_SSH_KEY=key,
                           SPARK_KNOWN_HOSTS=os.path.join(home, ".ssh", "known_hosts"))
        self.assertEqual(os.listdir(empty), ["out"])
        return alone, done

    def test_6_an_account_of_its_own_with_a_key_that_may_do_no_more_than_run_commands_is_enough(self):
        for node in (1, 2):
            self.lab.sh(node, ACCOUNT_ON_NODE)
        manifest = self.written(self.manifest.replace("spark-02-mesh", "spark-02-fabric").replace("user: nvidia", "user: spark-ci")
                                .replace("ssh: {mesh: true}", "ssh: {mesh: true, user: nvidia}"))
        alone, done = self.plan_with_login(manifest)
        self.assertEqual(alone.returncode, 3, alone.stdout + alone.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no changes", done.stdout)

    def test_7_systemd_accepts_the_units(self):
        for kind in ("service", "timer"):
            with open(os.path.join(SCRIPTS, f"spark-reconcile-drift.{kind}"), encoding="utf-8") as file:
                self.lab.sh(1, UNITS_ON_NODE.format(kind=kind, text=file.read()))
        said = self.lab.sh(1, "systemd-analyze verify spark-reconcile-drift.service spark-reconcile-drift.timer 2>&1 | "
                              "grep spark-reconcile; true")
        self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
