"""What an older version left on nodes, met by this program: record.py beside this file recorded it. $SPARK_UPGRADE_FROM names
the version."""

import json
import os
import re
import unittest

from node_files import OURS, STATES, TREES, Contents, find_changes, read_trees, write_files
from spark_lab import LAB, LabTest, speed, temporary_folder

FROM = os.environ.get("SPARK_UPGRADE_FROM", "0.1.0")
JOURNALS = OURS + "/journal"
GUARDS = "systemctl list-units --plain --no-legend 'spark-reconcile-guard-*'; find /etc/systemd/system -name '*spark-reconcile*'"
MESH_KEY = "/home/nvidia/.ssh/id_ed25519_spark"  # uninstall leaves it, and says so


class Upgrade(LabTest):
    options = ("--topology", "direct")
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(STATES, f"{FROM}.json"), encoding="utf-8") as file:
            recorded = json.load(file)
        cls.states = recorded["states"]
        cls.contents = Contents(recorded["contents"])
        cls.manifests = {}
        folder = temporary_folder()
        for name, text in recorded["manifests"].items():
            cls.manifests[name] = os.path.join(folder, f"{name}.yaml")
            with open(cls.manifests[name], "w", encoding="utf-8") as file:
                file.write(text)
        for name, content in recorded["login"].items():
            speed.run([LAB, "exec", "--run", cls.lab.run, "--", "sh", "-c", f'cat >"$HOME/.ssh/{name}"'], 20, check=True,
                      input=cls.contents.bytes_of(content))
        for node in (1, 2):
            cls.lab.sh(node, recorded["before"].replace("NODE", str(node)))
            # Who may log in, and who the node is.
            cls.lab.sh(node, f"cat >/home/nvidia/.ssh/authorized_keys <<'TEXT'\n"
                             f"{cls.contents[recorded['login']['id_ed25519.pub']]}TEXT\n")
            cls.write(node, recorded["host_keys"][f"spark-{node}"])
        cls.bare = [cls.read(node) for node in (1, 2)]

    @classmethod
    def read(cls, node):
        return read_trees(cls.lab, node, TREES, cls.contents)

    @classmethod
    def write(cls, node, files):
        write_files(cls.lab, node, files, cls.contents)

    def place(self, name=None):
        """Both nodes as they were recorded with two generations, and with that apply unfinished; after a power loss."""
        for node in (1, 2):
            self.write(node, find_changes(self.read(node), self.bare[node - 1]))
            for state in ("committed", *([name] if name else [])):
                self.write(node, {path: what for path, what in self.states[state][f"spark-{node}"].items()
                                  if not path.startswith("/run/")})
        for node in (1, 2):
            self.lab.lab("restart", str(node), "--hard")

    def place_unfinished(self, name):
        """The same in its trial: without a restart since, and its controller gone."""
        self.place()
        for node in (1, 2):
            self.write(node, self.states[name][f"spark-{node}"])
            # The lease goes with the shell of the controller, which was still there when it was recorded.
            self.lab.sh(node, f"rm {OURS}/lease*; systemctl daemon-reload; sysctl -q --system; netplan apply")

    def find_unfinished(self, name):
        """The id of its apply, which is the same on both nodes."""
        guard = next(path for path, what in self.states[name]["spark-1"].items() if what.startswith("directory")
                     and path.startswith(JOURNALS) and self.state_of(path, name) not in ("reverted", "finished"))
        return guard.split("/")[-1]

    def state_of(self, journal, name):
        recorded = self.states[name]["spark-1"].get(journal + "/state")
        return self.contents.bytes_of(recorded.split()[-1]).decode().strip() if recorded else "finished"

    def committed(self):
        return [{**bare, **{path: what for path, what in self.states["committed"][f"spark-{node}"].items()
                            if not path.startswith("/run/")}} for node, bare in enumerate(self.bare, 1)]

    def wait_for_end(self, name):
        """Until the unfinished apply has ended on both nodes, by what is on the nodes alone; returns how, which is the same."""
        read = f"cat {JOURNALS}/{self.find_unfinished(name)}/state"

        def find_end():
            ends = {self.lab.sh(node, read).strip() for node in (1, 2)}
            return ends.pop() if ends in ({"finished"}, {"reverted"}) else None
        return speed.wait_until(find_end, 240, "the same end on both nodes", 1)

    def generations(self, manifest):
        history = json.loads(self.spark("history", manifest, "--format", "json", expect=0).stdout)
        return [[one["generation"] for one in node["generations"]] for node in history["nodes"]]

    def assert_settled(self, name, generations):
        """The nodes are as this manifest says, and nothing guards an apply any more."""
        manifest = self.manifests[name]
        self.assert_empty_plan(manifest)
        self.spark("drift", manifest, expect=0)
        self.assertEqual(self.generations(manifest), [generations] * 2)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, GUARDS), "")

    def assert_files(self, expected):
        """All but our state, and the times of files."""
        def without_times(files):
            return {path: re.sub(r"^(file \S+ \S+) \d+", r"\1", what) for path, what in files.items()
                    if not path.startswith(OURS) and what != "absent" and "-boot.service" not in path}
        for node in (1, 2):
            self.assertEqual(without_times(self.read(node)), without_times(expected[node - 1]))

    def test_its_state_is_read_and_nothing_differs(self):
        self.place()
        self.assert_settled("second", [1, 2])
        shown = self.spark("status", self.manifests["second"], "--details", expect=0).stdout
        self.assertEqual(shown.count("managed, last changed by generation 2\n"), 2)
        self.assertEqual(self.spark("lock", "list", self.manifests["second"], expect=0).stdout, "spark-1  free\nspark-2  free\n")
        with open(self.manifests["first"], encoding="utf-8") as file:
            self.assertEqual(self.spark("history", self.manifests["second"], "--show", "1", expect=0).stdout, file.read())

    def test_a_change_is_applied_over_it(self):
        self.place()
        self.spark("apply", self.manifests["third"], "--yes", "--brief", expect=0)
        self.assert_settled("third", [1, 2, 3])

    def test_its_older_generation_comes_back(self):
        self.place()
        done = self.spark("rollback", self.manifests["second"], "--to", "1", "--yes", "--brief", expect=0)
        self.assertIn("rolled back to generation 1", done.stdout)
        self.assert_settled("first", [1, 2, 3])

    def test_an_uninstall_leaves_what_was_there_before_it(self):
        self.place()
        self.spark("uninstall", self.manifests["second"], "--yes", "--brief", expect=0)
        for node in (1, 2):
            left = [path for path in self.read(node) if "spark" in path and not path.startswith("/etc/hostname")]
            self.assertEqual(left, [MESH_KEY, MESH_KEY + ".pub"])
            self.lab.sh(node, f"test ! -e {OURS}")
            self.lab.sh(node, f"rm {MESH_KEY} {MESH_KEY}.pub")
        self.assert_files(self.bare)

    def test_its_unfinished_apply_is_ended_by_the_next_one(self):
        self.place_unfinished("trial")
        said = r"spark-1, spark-2: apply [0-9a-f]{8} of .* is unfinished; apply ends it first"
        self.assertRegex(self.spark("plan", self.manifests["second"], "--brief", expect=0).stdout, said)
        done = self.spark("apply", self.manifests["first"], "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.assertIn(f"spark-{node}: an earlier apply was cut off and is reverted now: ", done.stderr)
        self.assert_settled("first", [1, 2, 3])

    def test_its_guard_reverts_its_unfinished_apply(self):
        self.place_unfinished("trial")
        journal = f"{JOURNALS}/{self.find_unfinished('trial')}"
        for node in (1, 2):
            self.lab.sh(node, f"systemd-run -q --unit=spark-reconcile-guard-{journal.split('/')[-1]} --on-active=1 "
                              f"sh {journal}/guard watch")
        self.assertEqual(self.wait_for_end("trial"), "reverted")
        self.assert_files(self.committed())
        self.assert_settled("second", [1, 2])

    def test_its_unfinished_apply_is_reverted_after_a_power_loss(self):
        self.place("trial")
        self.assertEqual(self.wait_for_end("trial"), "reverted")
        self.assert_files(self.committed())
        self.assert_settled("second", [1, 2])

    def test_nodes_that_were_ready_end_alike_after_a_power_loss(self):
        self.place("intent")
        if self.wait_for_end("intent") == "finished":
            self.assert_settled("third", [1, 2, 3])
        else:  # the guard of 0.1.0 waits for a timer that starts after it, until its limit has passed
            self.assert_files(self.committed())
            speed.wait_until(lambda: not any(self.lab.sh(node, GUARDS) for node in (1, 2)), 60, "no timer", 1)
            self.assert_settled("second", [1, 2])

    def test_nodes_that_were_ready_commit_together_at_the_next_apply(self):
        self.place_unfinished("intent")
        done = self.spark("apply", self.manifests["second"], "--yes", "--brief", expect=0)
        for node in (1, 2):
            self.assertIn(f"spark-{node}: an earlier apply was cut off and is completed now: ", done.stderr)
        self.assert_settled("second", [1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main()
