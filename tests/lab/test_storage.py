"""A volume by NVMe over TCP, on two virtual machines: spark-1's kernel is the target, and spark-2 mounts its file system. What the
kernel, systemd and nvme-cli do is real, also while the target is away. Then one node writes and the other one reads, and the writer moves;
spark-1 has the volume by a connection to itself there."""

import unittest

from nodes.nvme_target import serve, stop
from spark_lab import LabTest, cluster, machines_or_skip, speed

NQN = "nqn.2014-08.org.example:models"
MOUNT = "/srv/models"
VOLUME = f"""storage:
  - {{mount: {MOUNT}, nqn: "{NQN}", address: 192.168.1.21, label: models, filesystem: ext4, nodes: [spark-2]}}
"""
START = serve("192.168.1.21", {NQN: "models"})
STOP = stop(NQN)
BOOT_S = 400  # as the other test with virtual machines has it


class Storage(LabTest):
    """Tests run in the order of their names; each goes on where the one before ended."""

    options = ("--vm", "--topology", "direct")

    def setUp(self):
        self.manifest = self.variant_of(cluster("vm-pair.yaml"), ("verify: {level: rdma}\n", VOLUME + "verify: {level: link}\n"))

    def with_writer(self, writer, reader):
        """The volume on both nodes."""
        entry = VOLUME.splitlines()[1]
        both = "\n".join(("storage:", entry.replace("spark-2", writer), entry.replace("nodes: [spark-2]", f"read_only: true, nodes: [{reader}]")))
        return self.variant_of(cluster("vm-pair.yaml"), ("verify: {level: rdma}\n", both + "\nverify: {level: link}\n"))

    def is_mounted(self):
        return self.lab.sh(2, f"findmnt -n -o FSTYPE {MOUNT} || true").strip() == "ext4"

    def mode(self, node):
        """rw, ro, or nothing where it is not mounted."""
        return self.lab.sh(node, f"findmnt -n -o OPTIONS {MOUNT} | cut -d, -f1 || true").strip()

    def wait_for_modes(self, *modes):
        speed.wait_until(lambda: [self.mode(1), self.mode(2)] == list(modes), 60, f"{MOUNT} mounted {', '.join(modes)}")

    def mount_again(self, node):
        """As the messages advise."""
        self.lab.sh(node, f"umount {MOUNT} && systemctl start srv-models.mount")

    def wait_until_mounted(self):
        speed.wait_until(self.is_mounted, 60, f"{MOUNT} mounted on spark-2")

    def storage_codes(self):
        return {(one["code"], tuple(one["nodes"])) for one in self.plan(self.manifest)["diagnostics"] if one["code"].startswith("storage-")}

    def test_1_an_apply_waits_for_no_target(self):
        done = self.spark("apply", self.manifest, "--yes", "--brief", "--no-verify", expect=2)
        self.assertIn("\nApplied, with 1 warning: ", done.stdout)  # that it is not connected
        self.assertFalse(self.is_mounted())
        self.assertEqual(self.changes(self.plan(self.manifest)), [])
        self.assertEqual(self.storage_codes(), {("storage-not-connected", ("spark-2",))})

    def test_2_the_volume_is_mounted_once_the_target_answers(self):
        self.lab.sh(1, START)
        self.wait_until_mounted()
        self.lab.sh(2, f"echo kept >{MOUNT}/file; sync")
        self.assertEqual(self.storage_codes(), set())
        self.assert_empty_plan(self.manifest)

    def test_3_it_is_mounted_after_a_restart(self):
        self.lab.lab("restart", "2", limit_s=BOOT_S)
        self.wait_until_mounted()
        self.assertEqual(self.lab.sh(2, f"cat {MOUNT}/file"), "kept\n")
        self.assert_empty_plan(self.manifest)

    def test_4_a_boot_waits_for_no_target_either(self):
        self.lab.sh(1, STOP)
        # Without its shutdown, which waits more than a minute for the file system. Ends when the node takes logins.
        self.lab.lab("restart", "2", "--hard", limit_s=BOOT_S)
        self.assertFalse(self.is_mounted())
        self.assertEqual(self.storage_codes(), {("storage-not-connected", ("spark-2",))})
        self.lab.sh(1, START)
        self.wait_until_mounted()
        self.assertEqual(self.lab.sh(2, f"cat {MOUNT}/file"), "kept\n")

    def test_5_one_node_writes_and_the_other_one_reads(self):
        self.manifest = self.with_writer("spark-2", "spark-1")
        done = self.lab.spark("apply", self.manifest, "--yes", "--brief", "--no-verify")
        self.assertIn(done.returncode, (0, 2), done.stdout)  # 2 where the target has not answered by the end of it
        self.wait_for_modes("ro", "rw")
        self.assertEqual(self.lab.sh(1, f"cat {MOUNT}/file"), "kept\n")
        self.assertIn("Read-only file system", self.lab.sh(1, f"touch {MOUNT}/other 2>&1 || true"))
        self.assertIn("norecovery", self.lab.sh(1, f"findmnt -n -o OPTIONS {MOUNT}"))  # the journal is the writer's
        self.lab.sh(2, f"echo more >{MOUNT}/more; sync")
        self.assert_empty_plan(self.manifest)

    def test_6_the_writer_moves_once_the_former_one_does_not_write(self):
        self.manifest = self.with_writer("spark-1", "spark-2")
        blocked = [(change["node"], change["name"], change["code"]) for stage in self.plan(self.manifest)["stages"]
                   for change in stage["changes"] if change["change"] == "blocked"]
        self.assertEqual(blocked, [("spark-1", "/etc/systemd/system/srv-models.mount", "storage-other-writer")])
        self.spark("apply", self.manifest, "--yes", "--brief", "--no-verify", expect=2)
        self.assertEqual([self.mode(1), self.mode(2)], ["ro", "rw"])
        self.assertEqual(self.storage_codes(), {("storage-mounted-read-only", ("spark-1",)), ("storage-mounted-writable", ("spark-2",)),
                                                ("storage-other-writer", ("spark-1",))})
        self.mount_again(2)
        self.spark("apply", self.manifest, "--yes", "--brief", "--no-verify", expect=2)
        self.assertEqual(self.storage_codes(), {("storage-mounted-read-only", ("spark-1",))})
        self.mount_again(1)
        self.wait_for_modes("rw", "ro")
        self.assertEqual(self.lab.sh(1, f"cat {MOUNT}/more; echo new >{MOUNT}/new; sync"), "more\n")
        self.assert_empty_plan(self.manifest)

    def test_7_an_uninstall_takes_mounts_and_connections_away(self):
        self.spark("uninstall", self.with_writer("spark-1", "spark-2"), "--yes", expect=0)
        self.assertEqual([self.mode(1), self.mode(2)], ["", ""])
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, "cat /sys/class/nvme-subsystem/*/subsysnqn 2>/dev/null || true"), "")
            self.assertEqual(self.lab.sh(node, "find /etc/systemd /usr/local/lib -name '*spark-reconcile*' -o -name 'srv-models*'"), "")


if __name__ == "__main__":
    machines_or_skip()
    unittest.main()
