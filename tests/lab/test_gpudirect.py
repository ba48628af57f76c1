"""GPUDirect on nodes that have none: what auto says, what is refused, and modules.

Nodes share the machine's kernel, and no test may load a module into that. Where one must load, the node has a modprobe
and an rmmod of its own, and a /sys/module that they write: what is shown is what we run, and when, not the kernel."""

import base64
import os
import tempfile
import unittest

from nodes.stand_in_modules import DRIVER, MODULES
from spark_lab import LabTest, cluster, speed

GPUDIRECT = cluster("gpudirect.yaml")
FILE = "/etc/modules-load.d/60-spark-reconcile.conf"
NETPLAN = "/etc/netplan/60-spark-reconcile.yaml"
ENV = "/etc/spark-reconcile/nccl.env"
# Says what the test wants of a GPU's attributes.
CUDA = """
int cuInit(unsigned flags) { return flags; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 116 ? RDMA : attribute == 124 ? DMABUF : -1;
  return device;
}
"""
UNIT = """
units:
  - name: broken.service
    content: |
      [Service]
      Type=oneshot
      RemainAfterExit=yes
      ExecStart=/bin/false
    active: true
"""


class Gpudirect(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    def manifest(self, section, more=""):
        return self.variant_of(GPUDIRECT, ("gpudirect: auto\n", section + more))

    def log(self, node):
        return self.lab.sh(node, "cat /run/modules.log 2>/dev/null; rm -f /run/modules.log").splitlines()

    def give_cuda(self, node, rdma, dmabuf):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libcuda.so.1")
            speed.run(["cc", "-shared", "-fPIC", f"-DRDMA={rdma}", f"-DDMABUF={dmabuf}", "-x", "c", "-", "-o", path], 60,
                           input=CUDA, text=True, check=True)
            with open(path, "rb") as file:
                text = base64.b64encode(file.read()).decode()
        # By another name first: a program that has the old one open keeps it.
        self.lab.sh(node, f"at=$(dirname \"$(ldd /bin/sh | grep -o '/[^ ]*/libc\\.so\\.6')\"); echo {text} | base64 -d "
                          '>"$at/new"; mv "$at/new" "$at/libcuda.so.1"')

    def apply(self, manifest, expect):
        return self.spark("apply", manifest, "--yes", "--no-verify", expect=expect)

    def foreign_modules(self, plan):
        return [one for one in plan["diagnostics"] if one["code"] == "gpudirect-foreign-module"]

    def test_1_a_promise_that_cannot_hold_stops_all_of_the_apply(self):
        for mode in ("peermem", "dmabuf", "{required: true}"):
            manifest = self.manifest(f"gpudirect: {mode}\n")
            self.assertIn(", apply is refused.", self.spark("plan", manifest, expect=0).stdout)
            said = self.apply(manifest, 1).stderr
            self.assertRegex(said, r"error: spark-1, spark-2: gpudirect: wanted .+, found that no NVIDIA driver is "
                                   r"loaded \[driver: none, GPU: none, .*nvidia_peermem: none, "
                                   r"CONFIG_DMA_SHARED_BUFFER: (yes|no), .*\]")
            self.assertIn("[gpudirect-unsupported]  cluster.yaml:16\n  next step: write `gpudirect: auto`", said)
            self.assertTrue(said.endswith("nothing was changed\n"), said)
        for node in (1, 2):
            self.lab.sh(node, f"test ! -e {NETPLAN} -a ! -e {FILE} -a ! -e /var/lib/spark-reconcile/ledger.json")

    def test_2_the_plugin_left_out_of_the_scope_refuses_nothing(self):
        # The ports are down as yet.
        self.spark("apply", self.manifest("gpudirect: peermem\n"), "--only", "hosts", "--yes", "--allow-silent-beacons", expect=0)

    def test_3_auto_is_applied_says_why_and_loads_nothing(self):
        said = self.spark("plan", GPUDIRECT, expect=0).stdout
        self.assertIn("note: spark-1, spark-2: gpudirect auto: GPU memory goes through the host's: no NVIDIA driver is "
                      "loaded [gpudirect-through-host]", said)
        self.apply(GPUDIRECT, 0)
        self.assert_empty_plan(GPUDIRECT)
        self.lab.sh(1, f"test ! -e {FILE}")
        self.assertIn("# mode auto is safe here: no NVIDIA driver is loaded\nNCCL_NET_GDR_LEVEL=LOC\n",
                      self.lab.sh(1, f"cat {ENV}"))
        off = self.manifest("gpudirect: off\n")
        self.apply(off, 0)
        self.assertIn("# mode auto is safe here: gpudirect is off in the manifest\n", self.lab.sh(1, f"cat {ENV}"))
        self.apply(GPUDIRECT, 0)

    def test_4_an_entry_that_fails_and_that_someone_left_is_reported_and_left(self):
        left = "/etc/modules-load.d/peermem.conf"
        # A file that is no module: every kernel refuses it, as a Spark's refuses the true one.
        self.lab.sh(2, 'at=/lib/modules/$(uname -r); mkdir -p "$at"; cp /bin/true "$at/nvidia-peermem.ko"; depmod 2>/dev/null; '
                       f"printf '# from a guide\\nno-such-module\\nnvidia-peermem\\n' >{left}; "
                       "systemctl restart systemd-modules-load.service || :")
        plan = self.plan(GPUDIRECT)
        self.assertEqual([(one["nodes"], one["message"], one["next_step"]) for one in self.foreign_modules(plan)],
                         [(["spark-2"], f"systemd-modules-load.service failed: {left}:3 requires nvidia-peermem, "
                           "which is not loaded (no NVIDIA driver is loaded)", "remove the line")])
        self.assertEqual((self.changes(plan), plan["blocked"]), ([], 0))
        self.spark("drift", GPUDIRECT, expect=0)
        self.lab.sh(2, f"rm -r {left} /lib/modules; systemctl restart systemd-modules-load.service")
        self.assertEqual(self.foreign_modules(self.plan(GPUDIRECT)), [])

    def test_5_a_module_that_the_kernel_has_not_is_blocked_and_the_rest_is_applied(self):
        manifest = self.manifest("gpudirect: {mode: peermem, required: false, modules: [no-such-module]}\n")
        self.apply(manifest, 2)
        self.lab.sh(1, f"test ! -e {FILE}")
        blocked = {change["name"]: change["detail"] for stage in self.plan(manifest)["stages"]
                   for change in stage["changes"] if change["node"] == "spark-1"}
        self.assertEqual(blocked, {"no_such_module": "this kernel has no module no_such_module"})

    def test_5b_a_mode_that_need_not_hold_is_a_note_and_no_drift(self):
        manifest = self.manifest("gpudirect: {mode: peermem, required: false}\n")
        self.apply(manifest, 0)
        self.assert_empty_plan(manifest)
        self.spark("drift", manifest, expect=0)
        said = self.spark("plan", manifest, expect=0).stdout
        self.assertIn("note: spark-1, spark-2: gpudirect: wanted peermem, found that no NVIDIA driver is loaded [driver: none,", said)

    def test_6_a_listed_module_is_loaded_and_named_for_the_next_boot(self):
        for node in (1, 2):
            self.lab.sh(node, MODULES)
        manifest = self.manifest("gpudirect: {modules: [nvme-tcp]}\n")
        self.apply(manifest, 0)
        self.assert_empty_plan(manifest)
        for node in (1, 2):
            self.assertEqual(self.log(node), ["modprobe nvme_tcp"])
            self.assertEqual(self.lab.sh(node, f"grep -v '^#' {FILE}; ls /run/modules-load.d 2>/dev/null || :"),
                             "nvme_tcp\n")
        self.lab.sh(1, "rm -r /sys/module/nvme_tcp")
        self.assertEqual(self.changes(self.plan(manifest)), [("spark-1", "module", "nvme_tcp")])
        self.apply(manifest, 0)
        self.assertEqual(self.log(1), ["modprobe nvme_tcp"])

    def test_7_an_apply_that_fails_unloads_what_it_loaded_and_nothing_else(self):
        manifest = self.manifest("gpudirect: {modules: [nvme-tcp, dm-thin]}\n", UNIT)
        before = self.lab.sh(1, f"cat {FILE}")
        self.apply(manifest, 4)
        for node in (1, 2):
            self.assertEqual(self.log(node), ["modprobe dm_thin", "rmmod dm_thin"])
        self.assertEqual(self.lab.sh(1, f"cat {FILE}; ls /sys/module"), before + "nvme_tcp\n")

    def test_8_a_module_that_the_manifest_drops_goes_unless_it_is_in_use(self):
        self.lab.sh(2, "echo 3 >/sys/module/nvme_tcp/refcnt")
        self.apply(GPUDIRECT, 0)
        self.assertEqual((self.log(1), self.log(2)), (["rmmod nvme_tcp"], []))
        self.assertEqual(self.lab.sh(2, "ls /sys/module"), "nvme_tcp\n")
        for node in (1, 2):
            self.lab.sh(node, f"test ! -e {FILE}")
        self.assert_empty_plan(GPUDIRECT)

    def test_9_nccl_auto_counts_on_the_module_that_the_same_apply_loads(self):
        for node in (1, 2):
            self.lab.sh(node, "GPU=A10\n" + DRIVER)
        self.assertIn("nvidia_peermem is not loaded (driver 580.142); not read: CUDA attribute 116",
                      self.spark("plan", GPUDIRECT, expect=0).stdout)
        manifest = self.manifest("gpudirect: peermem\n")
        self.apply(manifest, 0)
        self.assert_empty_plan(manifest)
        for node in (1, 2):
            self.assertEqual(self.log(node), ["modprobe nvidia_peermem"])
            self.assertIn("# mode auto is dmabuf here: nvidia_peermem lets the HCA read the memory of NVIDIA A10\n"
                          "NCCL_NET_GDR_LEVEL=SYS\n", self.lab.sh(node, f"cat {ENV}"))
        self.lab.sh(2, "sed -i s/A10/GB10/ /proc/driver/nvidia/gpus/*/information")
        said = self.apply(manifest, 1).stderr
        self.assertIn("error: spark-2: gpudirect: wanted peermem, found that GB10 has no GPUDirect RDMA: its memory is the "
                      "machine's memory [driver: open 580.142, GPU: NVIDIA GB10, ib_register_peer_memory_client in the kernel: yes, "
                      "nvidia_peermem: loaded,", said)
        self.assertNotIn("spark-1", said)
        self.lab.sh(2, "sed -i s/GB10/A10/ /proc/driver/nvidia/gpus/*/information")

    def test_9b_cuda_is_queried_where_files_rule_nothing_out_and_has_the_last_word(self):
        manifest = self.manifest("gpudirect: peermem\n")
        self.give_cuda(1, 1, 1)
        self.give_cuda(2, 1, 1)
        self.assert_empty_plan(manifest)
        self.assertNotIn("not read: CUDA", self.spark("plan", GPUDIRECT, expect=0).stdout)
        self.give_cuda(2, 0, 1)
        said = self.apply(manifest, 1).stderr
        self.assertIn("error: spark-2: gpudirect: wanted peermem, found that CUDA says that NVIDIA A10 has no GPUDirect RDMA "
                      "(attribute 116 is 0) [driver: open 580.142,", said)
        self.assertIn("CUDA attribute 116: 0, CUDA attribute 124: 1, dma-buf of the HCA: ", said)
        self.assertNotIn("spark-1", said)
        self.apply(GPUDIRECT, 0)
        # The module goes in the same apply, so that it counts no more.
        said = {1: "no HCA reported that it takes dma-buf, and nvidia_peermem is not loaded",
                2: "CUDA says that NVIDIA A10 has no GPUDirect RDMA (attribute 116 is 0)"}
        for node in (1, 2):
            self.assertEqual(self.log(node), ["rmmod nvidia_peermem"])
            self.assertIn(f"# mode auto is safe here: {said[node]}\nNCCL_NET_GDR_LEVEL=LOC\n",
                          self.lab.sh(node, f"cat {ENV}"))
            self.lab.sh(node, "! ls /var/lib/spark-reconcile/bin/* 2>/dev/null")
        self.assert_empty_plan(GPUDIRECT)


if __name__ == "__main__":
    unittest.main()
