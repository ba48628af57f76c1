"""What verify reads in containers: of images that the manifest names, and of processes that run. The nodes have no Docker; a
stand-in (./docker) starts the containers, with mounts, processes, a network and limits of their own."""

import json
import os
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nccl_nodes import LIBRARIES, Gpus  # noqa: E402
from spark_lab import LAB, LabTest, cluster, speed  # noqa: E402

NCCL = cluster("nccl.yaml")
DOCKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "docker")
IMAGE = "nvcr.io/nvidia/pytorch:25.09-py3"
LOCAL = f"/var/lib/lab-docker/{IMAGE}/local"
WHEEL = "lib/python3.12/dist-packages/nvidia/nccl/lib/libnccl.so.2"
CONTAINER = "c0ffee" + "0123456789" * 5 + "abcdef01"
GIB_IN_KIB = 1 << 20


class Containers(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        Gpus(cls.lab, (1, 2))

    def setUp(self):
        self.manifest = self.variant_of(NCCL, (", NCCL_IB_TC: 106", ""), ("nccl:\n", f"checks:\n  - image: {IMAGE}\n\nnccl:\n"))

    def install_docker(self, node):
        with open(DOCKER, "rb") as program:
            speed.run([LAB, "ssh", "--run", self.lab.run, str(node),
                       "cat >/tmp/docker && sudo install -m 755 /tmp/docker /usr/local/bin/docker"], 60,
                      input=program.read(), check=True)

    def copy_library(self, node, version, path):
        self.lab.sh(node, f"mkdir -p {os.path.dirname(path)} && LC_ALL=C sed 's/NCCL version 2.28.9/NCCL version {version}/' "
                          f"{LIBRARIES}/libnccl.so.2 >{path}")

    def verify(self):
        report = json.loads(self.spark("verify", self.manifest, "--level", "link", "--format", "json", expect=0).stdout)
        return report["checks"], report["findings"]

    def found(self):
        return {(one["code"], *one["nodes"]) for one in self.verify()[1]}

    def memlock_is_low(self, node):
        limit = self.lab.sh(node, "ulimit -l").strip()
        return limit != "unlimited" and int(limit) < GIB_IN_KIB

    def healthy(self):
        """The lab's nodes may be unable to raise limits."""
        return {("image-memlock-low", f"spark-{node}") for node in (1, 2) if self.memlock_is_low(node)}

    def assert_nothing_is_left(self):
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, "cd /run/lab-docker && ls -d spark-* root.* 2>/dev/null || :; "
                                               "pgrep -af '[u]nshare --mount --pid|[l]dconfig' || :"), "")

    def test_1_without_docker_or_the_image_the_check_is_skipped(self):
        self.spark("apply", self.manifest, "--yes", "--brief", "--no-verify", expect=0)
        self.install_docker(2)
        checks, findings = self.verify()
        self.assertEqual(findings, [])
        self.assertEqual({(one["from"], one["why"]) for one in checks if one["what"] == "image"},
                         {("spark-1", "docker is not installed"),
                          ("spark-2", f"the image is not there: `docker pull {IMAGE}` brings it")})
        self.assertEqual(self.lab.sh(2, "cut -d' ' -f1 /run/lab-docker/calls"), "image\nversion\n")

    def test_2_an_image_like_its_node_has_no_finding_and_leaves_nothing(self):
        for node in (1, 2):
            self.install_docker(node)
            self.copy_library(node, "2.28.9", f"{LOCAL}/{WHEEL}")
            self.lab.sh(node, "mkdir /dev/infiniband && touch /dev/infiniband/uverbs0; rm -f /run/lab-docker/calls")
        checks, findings = self.verify()
        self.assertEqual({(one["code"], *one["nodes"]) for one in findings}, self.healthy())
        measured = {one["what"]: one["measured"] for one in checks
                    if one["what"].startswith("image") and one["from"] == "spark-1"}
        del measured["image-memlock"]
        self.assertEqual(measured, {"image-devices": "it can", "image-nccl": f"NCCL 2.28.9 (/usr/local/{WHEEL})"})
        [call] = self.lab.sh(1, "grep ^run /run/lab-docker/calls").splitlines()
        self.assertRegex(call, "^run --rm --pull=never --name spark-reconcile-verify-[0-9a-f]{12}-0 --network=none --ipc=host "
                               "--device=/dev/infiniband --cap-add=IPC_LOCK .*--env=NCCL_IB_HCA=.* --entrypoint sh "
                               f"{IMAGE}$")
        self.assertNotIn("pull ", self.lab.sh(1, "cat /run/lab-docker/calls"))
        self.assert_nothing_is_left()

    def test_3_what_an_image_lacks_is_found_on_its_node_alone(self):
        self.copy_library(2, "2.27.7", f"{LOCAL}/{WHEEL}")
        self.lab.sh(2, "touch /run/lab-docker/without-devices; echo 64 >/run/lab-docker/memlock")
        self.assertEqual(self.found() - self.healthy(), {
            ("image-no-infiniband", "spark-2"), ("image-memlock-low", "spark-2"), ("image-nccl-old", "spark-2"),
            ("image-nccl-differs", "spark-1")} - self.healthy())
        self.copy_library(2, "2.28.9", f"{LOCAL}/{WHEEL}")
        self.lab.sh(2, "rm /run/lab-docker/without-devices /run/lab-docker/memlock")
        self.assertEqual(self.found(), self.healthy())
        self.assert_nothing_is_left()

    def test_4_a_container_that_hangs_is_removed_and_a_silent_daemon_is_named(self):
        self.lab.sh(1, f"mkdir {LOCAL}/sbin; printf '#!/bin/sh\\nexec sleep 1000\\n' >{LOCAL}/sbin/ldconfig; "
                       f"chmod 755 {LOCAL}/sbin/ldconfig; mv {LOCAL}/lib {LOCAL}/other")
        self.lab.sh(2, "touch /run/lab-docker/down")
        _, findings = self.verify()
        self.assertEqual({(*one["nodes"], one["measured"]) for one in findings if one["code"] == "image-not-started"},
                         {("spark-1", "`docker run` did not end within its limit"),
                          ("spark-2", "`docker version` ended with 1")})
        self.assertIn("Cannot connect to the Docker daemon", json.dumps(findings))
        self.lab.sh(1, f"rm -r {LOCAL}/sbin; mv {LOCAL}/other {LOCAL}/lib")
        self.lab.sh(2, "rm /run/lab-docker/down")
        self.assert_nothing_is_left()
        self.assertEqual(self.found(), self.healthy())

    def run_container(self, node, version):
        """A process with a libnccl that only its own mounts have, in a scope as Docker names it."""
        self.copy_library(node, version, "/run/other/libnccl.so.2")
        scope = f"docker-{CONTAINER}.scope"
        self.lab.sh(node, f"systemd-run -q --scope --unit={scope} unshare --mount sh -c '"
                          "mount -t tmpfs none /mnt && cp /run/other/libnccl.so.2 /mnt && "
                          "exec env NCCL_IB_HCA=rocep1s0f1 LD_PRELOAD=/mnt/libnccl.so.2 sleep 1000' "
                          "</dev/null >/dev/null 2>&1 & "
                          f"cd /sys/fs/cgroup/system.slice; until [ -e {scope} ] && "
                          f"grep -qs /mnt/libnccl $(sed 's,.*,/proc/&/maps,' {scope}/cgroup.procs); do sleep 0.1; done")

    def end_container(self, node):
        self.lab.sh(node, f"systemctl stop docker-{CONTAINER}.scope")

    def test_5_the_libnccl_that_a_running_container_has_loaded_is_judged(self):
        for node, version in ((1, "2.28.9"), (2, "2.27.7")):
            self.run_container(node, version)
        _, findings = self.verify()
        found = {one["code"]: (one["nodes"], one["measured"]) for one in findings}
        self.assertEqual(found["container-nccl-old"],
                         (["spark-2"], f"container {CONTAINER[:12]}: NCCL 2.27.7 (/mnt/libnccl.so.2)"))
        self.assertEqual(found["container-nccl-differs"], (["spark-1"], "NCCL 2.27.7 on spark-2; 2.28.9 on spark-1"))
        self.end_container(2)
        self.run_container(2, "2.28.9")
        self.assertEqual(self.found(), self.healthy())
        for node in (1, 2):
            self.end_container(node)


if __name__ == "__main__":
    unittest.main()
