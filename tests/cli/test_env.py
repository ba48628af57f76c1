"""env: the variables of a node, and what the manifest may not say about them."""

import json
import unittest

from spark_cli import MANIFEST, REFUSED, CliTest

# Nothing in it depends on this machine: neither its interfaces nor its driver decide anything.
NCCL = MANIFEST + """\
nccl:
  mode: safe
  library: /nonexistent/libnccl.so.2
  env: {NCCL_SOCKET_IFNAME: =enP7s7, NCCL_IB_TC: 106}
"""


class Env(CliTest):
    def setUp(self):
        super().setUp()
        self.write("cluster.yaml", NCCL)

    def test_docker_form_is_flags_alone(self):
        self.assert_ends(self.spark("env", "spark-1", "--format", "docker"), 0, err=REFUSED, out="""\
--gpus=all
--network=host
--ipc=host
--device=/dev/infiniband
--cap-add=IPC_LOCK
--ulimit=memlock=-1:-1
--ulimit=stack=67108864
--env=NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1
--env=NCCL_NET_GDR_LEVEL=LOC
--env=NCCL_IB_TC=106
--env=NCCL_SOCKET_IFNAME==enP7s7
""")

    def test_other_containers_have_forms_of_their_own(self):
        def form(name):
            done = self.spark("env", "spark-1", "--format", name)
            self.assert_ends(done, 0, err=REFUSED)
            return done.stdout.splitlines()
        self.assertEqual(form("podman")[0], "--device=nvidia.com/gpu=all")
        self.assertEqual(form("enroot")[:3], [
            "--env NVIDIA_VISIBLE_DEVICES=all", "--env NVIDIA_DRIVER_CAPABILITIES=compute,utility", "--env NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1"])
        self.assertIn('      NCCL_IB_HCA: "=rocep1s0f1,roceP2p1s0f1"', form("compose"))

    def test_shell_form_is_the_default_and_gives_reasons(self):
        done = self.spark("env", "spark-1")
        self.assert_ends(done, 0, err=REFUSED)
        self.assertEqual(done.stdout.splitlines()[:2], [
            "# the HCAs that have a cable; '=' because names match by prefix",
            "export NCCL_IB_HCA='=rocep1s0f1,roceP2p1s0f1'"])

    def test_systemd_and_json_forms_say_the_same(self):
        lines = self.spark("env", "spark-1", "--format", "systemd").stdout.splitlines()
        document = json.loads(self.spark("env", "spark-1", "--format", "json").stdout)
        self.assertEqual((document["format"], document["node"]), ("spark-reconcile/env/1", "spark-1"))
        self.assertEqual([line for line in lines if not line.startswith("#")],
                         [f"{one['name']}={one['value']}" for one in document["variables"]])
        self.assertEqual([line for line in lines if line.startswith("#")],
                         [f"# {one['why']}" for one in document["variables"]])

    def test_a_node_that_cannot_be_read_is_3(self):
        self.assert_ends(self.spark("env", "spark-2"), 3, out="", err=REFUSED)

    def test_what_cannot_be_determined_is_3_with_what_to_do(self):
        self.write("cluster.yaml", NCCL.replace("NCCL_SOCKET_IFNAME: =enP7s7, ", ""))
        self.assert_ends(self.spark("env", "spark-1"), 3, out="", err=REFUSED + """\
spark-1: cannot determine which interface the other nodes reach: none holds 'localhost': write the node's IPv4 address \
there, or NCCL_SOCKET_IFNAME into nccl.env
""")

    def test_usage_errors_are_1(self):
        self.assert_ends(self.spark("env"), 1, out="", err="node is required\n  hint: `spark-reconcile env --help` lists what it takes\n")
        self.assert_ends(self.spark("env", "spark-3"), 1, out="", err="""\
unknown node 'spark-3', did you mean 'spark-1'?
  hint: known: spark-1, spark-2
""")
        self.write("bare.yaml", MANIFEST)
        self.assert_ends(self.spark("env", "spark-1", "bare.yaml"), 1, out="", err=REFUSED + """\
bare.yaml: wanted a section that sets variables, found none
  hint: write 'nccl: {}' for what the fabric decides
""")

    def test_variables_that_no_one_reads_so_are_refused_at_their_lines(self):
        self.write("cluster.yaml", MANIFEST + """\
nccl:
  env:
    NCCL_TIMEOUT: 1800
    NCCL_IB_DISABLE: "true"
    NCCL_IB_TC: 300
""")
        self.assert_ends(self.spark("validate"), 1, out="", err="""\
cluster.yaml:12:5: nccl.env: NCCL_TIMEOUT: no NCCL reads it
        NCCL_TIMEOUT: 1800
        ^
  hint: a process group takes its timeout as an argument; NCCL_IB_TIMEOUT is that of one packet
cluster.yaml:13:5: nccl.env: NCCL_IB_DISABLE: wanted a number, found 'true', which NCCL silently reads as 0
        NCCL_IB_DISABLE: "true"
        ^
  hint: a number from 0 to 1
cluster.yaml:14:5: nccl.env: NCCL_IB_TC: wanted 0 to 255, found 300
        NCCL_IB_TC: 300
        ^
  hint: it is the whole ToS byte: a DSCP of 26 is 104, with ECT 106
""")


if __name__ == "__main__":
    unittest.main()
