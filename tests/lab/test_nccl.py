"""What NCCL is configured with on a pair: by shells and services, against what else lies on the nodes."""

import json
import os
import tempfile
import unittest

from nodes.shown_interfaces import COPY, HIDE, TO_SSHD
from spark_lab import LabTest, cluster

NCCL = cluster("nccl.yaml")
SHELL_FILE = "/etc/profile.d/60-spark-reconcile-nccl.sh"
SERVICE_FILE = "/etc/spark-reconcile/nccl.env"
WANTED = {"NCCL_IB_HCA": "=rocep1s0f1,roceP2p1s0f1", "NCCL_SOCKET_IFNAME": "=enP7s7", "GLOO_SOCKET_IFNAME": "enP7s7",
          "TP_SOCKET_IFNAME": "enP7s7", "OMPI_MCA_oob_tcp_if_include": "enP7s7",
          "OMPI_MCA_btl_tcp_if_include": "enP7s7", "UCX_NET_DEVICES": "rocep1s0f1:1,roceP2p1s0f1:1,enP7s7",
          "NCCL_NET_GDR_LEVEL": "LOC", "NCCL_DEBUG": "WARN", "NCCL_IB_TC": "106"}


def variables(text):
    """The variables among lines of NAME=VALUE that are ours to set."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: value for name, value in pairs if name.startswith(("NCCL_", "GLOO_", "TP_", "OMPI_", "UCX_"))}


class Nccl(LabTest):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--topology", "direct")

    def warned(self, manifest):
        """What the plan warns of: message and next step by node and subject. Nothing may be blocked."""
        plan = self.plan(manifest)
        self.assertEqual(plan["blocked"], 0)
        return {(node, one["subject"]): f"{one['message']}: {one['next_step']}".removeprefix(one["subject"] + ": ")
                for one in plan["diagnostics"] if one["severity"] == "warns" for node in one["nodes"]}

    def variant(self, *replacements):
        return self.variant_of(NCCL, *replacements)

    def test_1_shells_and_services_see_what_the_manifest_says(self):
        planned = self.changes(self.plan(NCCL))
        for node in ("spark-1", "spark-2"):
            self.assertIn((node, "file", SHELL_FILE), planned)
            self.assertIn((node, "file", SERVICE_FILE), planned)
        self.spark("apply", NCCL, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(NCCL)
        for node in ("1", "2"):
            login = self.lab.lab("ssh", node, "bash", "-lc", "env").stdout
            self.assertEqual(variables(login), WANTED)
            service = self.lab.sh(node, "systemd-run -q --wait --pipe "
                                        f"-p EnvironmentFile={SERVICE_FILE} env")
            self.assertEqual(variables(service), WANTED)
            self.assertEqual(self.lab.sh(node, f"stat -c '%a %U:%G' {SHELL_FILE} {SERVICE_FILE}"),
                             "644 root:root\n" * 2)

    def test_2_an_edit_is_found_and_repaired(self):
        before = self.lab.sh(1, f"cat {SERVICE_FILE}")
        self.lab.sh(1, f"sed -i s/=WARN/=INFO/ {SERVICE_FILE}; rm {SHELL_FILE}")
        self.spark("drift", NCCL, expect=2)
        [edited] = [one for one in self.plan(NCCL)["diagnostics"] if one["severity"] == "blocks"]
        self.assertEqual((edited["code"], edited["nodes"], edited["change"]),
                         ("plan-file-edited", ["spark-1"], "file/" + SERVICE_FILE))
        self.assertIn("edited on the node since generation 1", edited["message"])
        self.spark("apply", NCCL, "--yes", "--no-verify", "--overwrite-edited", expect=0)
        self.assertEqual(self.lab.sh(1, f"cat {SERVICE_FILE}"), before)
        self.assertEqual(variables(self.lab.lab("ssh", "1", "bash", "-lc", "env").stdout), WANTED)

    def test_3_a_bad_variable_in_nccl_conf_is_found_until_it_is_dropped(self):
        self.lab.sh(1, "printf 'NCCL_TIMEOUT=1800\\nNCCL_IB_DISABLE=true\\n' > /etc/nccl.conf")
        self.assertEqual(self.warned(NCCL), {
            ("spark-1", "/etc/nccl.conf:2 NCCL_IB_DISABLE=true"):
                "wanted a number, found 'true', which NCCL silently reads as 0: a number from "
                "0 to 1"})
        self.spark("drift", NCCL, expect=2)
        # What changes nothing is a note and no drift.
        self.lab.sh(1, "printf 'NCCL_TIMEOUT=1800\\nexport NCCL_DEBUG=WARN\\n' > /etc/nccl.conf")
        self.assertEqual(self.warned(NCCL), {})
        self.assertEqual({one["code"] for one in self.plan(NCCL)["diagnostics"] if "nccl.conf" in one["subject"]},
                         {"nccl-setting-harmless"})
        self.spark("drift", NCCL, expect=0)
        self.lab.sh(1, "rm /etc/nccl.conf")
        self.assert_empty_plan(NCCL)

    def test_4_files_that_fight_the_manifest_or_each_other_are_found(self):
        self.lab.sh(2, "cp -p ~nvidia/.bashrc /run/bashrc; echo 'export NCCL_IB_TC=3' >> ~nvidia/.bashrc")
        self.lab.sh(1, "echo 'NCCL_PROTO=LL' > /etc/nccl.conf")
        self.lab.sh(2, "echo 'NCCL_PROTO=Simple' > /etc/nccl.conf")
        found = self.warned(NCCL)
        for node, own, peer, other in (("spark-1", "LL", "spark-2", "Simple"), ("spark-2", "Simple", "spark-1", "LL")):
            self.assertEqual(found.pop((node, f"/etc/nccl.conf:1 NCCL_PROTO={own}")),
                             f"{peer} has {other}: ranks that differ hang: put it into nccl.env of the "
                             "manifest, or remove it")
        [((node, name), detail)] = found.items()
        self.assertEqual(node, "spark-2")
        self.assertRegex(name, r"^/home/nvidia/\.bashrc:\d+ NCCL_IB_TC=3$")
        self.assertEqual(detail, f"the manifest has 106: this is read after {SHELL_FILE} and wins: "
                                 "remove it there")
        self.lab.sh(1, "rm /etc/nccl.conf")
        self.lab.sh(2, "rm /etc/nccl.conf; cp -p /run/bashrc ~nvidia/.bashrc")
        self.assert_empty_plan(NCCL)

    def test_5_a_unit_with_the_file_has_its_variables_and_its_secrets_stay_there(self):
        self.lab.sh(1, "printf '[Service]\\nEnvironment=TOKEN=geheim NCCL_IB_TC=3\\nExecStart=/bin/true\\n'"
                       f" > /etc/systemd/system/model.service; echo EnvironmentFile={SERVICE_FILE}"
                       " >> /etc/systemd/system/model.service; systemctl daemon-reload")
        self.assertIn(SERVICE_FILE, self.lab.sh(1, "systemctl show -p EnvironmentFiles model.service"))
        found = self.warned(NCCL)
        self.assertEqual(list(found), [("spark-1", "/etc/systemd/system/model.service:2 NCCL_IB_TC=3")])
        facts = self.spark("status", NCCL, "--format", "json", expect=0).stdout
        self.assertNotIn("geheim", facts)
        self.lab.sh(1, "rm /etc/systemd/system/model.service; systemctl daemon-reload")
        self.assert_empty_plan(NCCL)

    def test_6_the_library_is_queried_for_what_it_knows(self):
        library = "/opt/nccl/libnccl.so.2"
        manifest = self.variant(("  mode: auto\n", f"  mode: safe\n  library: {library}\n"))
        self.assertEqual(set(self.warned(manifest)), {("spark-1", "library"), ("spark-2", "library")})
        for node in (1, 2):
            self.lab.sh(node, "mkdir -p /opt/nccl; printf '\\177ELF\\0NCCL_DEBUG\\0NCCL_IB_HCA\\0NCCL version 2.28.9 "
                              f"compiled\\0' > {library}")
        found = self.warned(manifest)
        self.assertEqual(found[("spark-2", "NCCL_IB_TC")],
                         f"NCCL 2.28.9 ({library}) has no such variable and ignores it: remove it")
        self.assertEqual(set(found), {("spark-1", "NCCL_IB_TC"), ("spark-2", "NCCL_IB_TC")})
        for node in (1, 2):
            self.lab.sh(node, f"printf 'NCCL_IB_TC\\0' >> {library}")
        self.assertEqual(self.warned(manifest), {})

    def test_7_env_prints_the_same_in_every_form(self):
        def env(form):
            return self.spark("env", "spark-2", NCCL, "--format", form, expect=0).stdout

        self.assertEqual(variables(env("systemd")), WANTED)
        document = json.loads(env("json"))
        self.assertEqual({one["name"]: one["value"] for one in document["variables"]}, WANTED)
        flags = env("docker").split()
        self.assertEqual(flags[:7], ["--gpus=all", "--network=host", "--ipc=host", "--device=/dev/infiniband",
                                     "--cap-add=IPC_LOCK", "--ulimit=memlock=-1:-1", "--ulimit=stack=67108864"])
        self.assertEqual(dict(flag.removeprefix("--env=").split("=", 1) for flag in flags[7:]), WANTED)
        body = [line for line in self.lab.sh(2, f"cat {SHELL_FILE}").splitlines()[2:]]
        self.assertEqual(env("sh").splitlines(), body)

    def test_7b_ranks_do_not_meet_on_wifi(self):
        """The management port, shown to sshd as what a wireless driver's interface is; no radio is in the lab."""
        self.lab.sh(2, COPY + "open_up enP7s7; mkdir /opt/net/enP7s7/phy80211\n" + TO_SSHD)
        advice = ": write the address of a wired port as the address of spark-2, or nccl.bootstrap: fabric"
        own = "enP7s7 has the management address and is wireless: the ranks meet on {} instead" + advice
        other = ("the management network of spark-2 is wireless: the ranks of all nodes meet on the fabric instead, here on enp1s0f1np1"
                 + advice)
        # One node without a wired network takes all to the fabric.
        self.assertEqual(self.warned(NCCL), {("spark-1", "bootstrap"): other, ("spark-2", "bootstrap"): own.format("enp1s0f1np1")})
        self.spark("apply", NCCL, "--yes", "--no-verify", expect=2)
        for node in (1, 2):
            login = self.lab.lab("ssh", str(node), "bash", "-lc", "env").stdout
            self.assertEqual(variables(login)["NCCL_SOCKET_IFNAME"], "=enp1s0f1np1")
        # A plan of one node does not take it off the fabric.
        self.assertEqual(self.changes(self.plan(NCCL, "--node", "spark-1")), [])
        # With a wired interface in the same network, that is taken.
        self.lab.sh(2, "ip link add wired0 type veth peer name wired0-end && ip link set wired0-end up && ip link set wired0 up && "
                       "ip address add 192.168.1.122/24 dev wired0 noprefixroute")
        self.assertEqual(self.warned(NCCL), {("spark-2", "bootstrap"): own.format("wired0")})
        self.lab.sh(2, "ip link del wired0")
        fabric = self.variant(("mode: auto", "mode: auto\n  bootstrap: fabric"))
        self.assertEqual(self.warned(fabric), {})
        self.lab.sh(2, HIDE)
        self.spark("apply", NCCL, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(NCCL)

    def test_8_a_manifest_without_the_section_queries_nothing(self):
        bare = self.variant(("nccl:\n  mode: auto\n  env: {NCCL_DEBUG: WARN, NCCL_IB_TC: 106}\n", ""))
        self.spark("plan", bare, expect=0)
        facts = json.loads(self.spark("status", bare, "--format", "json", expect=0).stdout)
        self.assertNotIn("nccl", facts["nodes"][0])
        self.assertIn("wanted a section that sets variables, found none",
                      self.spark("env", "spark-1", bare, expect=1).stderr)

    def test_9_env_of_a_node_that_is_off_is_3(self):
        self.lab.lab("stop", "2")
        try:
            self.spark("env", "spark-2", NCCL, expect=3)
            self.assertIn("NCCL_IB_TC", self.spark("env", "spark-1", NCCL, expect=0).stdout)
        finally:
            self.lab.lab("start", "2")


class NcclOnARing(LabTest):
    nodes = 3
    options = ("--topology", "ring")

    def test_ring_variables_are_there_and_agree_on_all_nodes(self):
        with open(cluster("ring-3.yaml"), encoding="utf-8") as file:
            text = file.read() + "\nnccl: {}\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as manifest:
            manifest.write(text)
            manifest.flush()
            self.spark("apply", manifest.name, "--only", "nccl", "--yes", "--no-verify", "--allow-silent-beacons", expect=0)
            wanted = {**WANTED, "NCCL_IB_HCA": "=rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1",
                      "NCCL_IB_MERGE_NICS": "0", "NCCL_NET_PLUGIN": "none", "NCCL_IB_SUBNET_AWARE_ROUTING": "1",
                      "UCX_NET_DEVICES": "enP7s7"}
            del wanted["NCCL_DEBUG"], wanted["NCCL_IB_TC"]
            for node in (1, 2, 3):
                found = variables(self.lab.lab("ssh", str(node), "bash", "-lc", "env").stdout)
                self.assertEqual(set(found.pop("NCCL_IB_HCA")[1:].split(",")),
                                 set(wanted["NCCL_IB_HCA"][1:].split(",")))
                self.assertEqual(found, {name: value for name, value in wanted.items() if name != "NCCL_IB_HCA"})


if __name__ == "__main__":
    unittest.main()
