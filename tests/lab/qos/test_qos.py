"""Traffic classes of the fabric's ports. A node's ports are veths, which have none: the real dcb says so, and what comes of that is tested
first. From then on a dcb stands in that keeps its settings in files which a restart empties, as a restart resets a port. **What a ConnectX
does with the settings is not run on hardware.** cma_roce_tos is on no node, so that `tos` is a warning."""

import base64
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from spark_lab import LabTest, cluster  # noqa: E402

PAIR = cluster("pair.yaml")
QOS = 'qos: {pfc: [3], dscp: {"26": 3, "48": 6}}\n'
UNIT = "spark-reconcile-qos.service"
PORTS = ("enp1s0f1np1", "enP2p1s0f1np1")
SET = """prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off
dscp-prio 26:3 48:6
""" * 2
BARE = "prio-pfc 0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off\n" * 2
# PID 1 of a lab node hears nothing from udev, and finds devices when it reloads. Our unit waits for its ports, as it must on a Spark.
DEVICES = """printf '[Service]\\nType=oneshot\\nExecStart=udevadm settle\\nExecStart=systemctl daemon-reload\\n[Install]\\nWantedBy=multi-user.target\\n' \\
  >/etc/systemd/system/lab-devices.service
systemctl -q enable lab-devices.service"""
SHOW = "".join(f"dcb pfc show dev {port} prio-pfc; dcb -N app show dev {port} dscp-prio\n" for port in PORTS)


class Qos(LabTest):
    """Tests run in the order of their names; each goes on where the one before ended."""

    options = ("--topology", "direct")

    def manifest(self, section=QOS, *replacements):
        return self.variant_of(PAIR, ("memlock: 4096\n", "memlock: 4096\n" + section), *replacements)

    def shown(self):
        return [self.lab.sh(node, SHOW) for node in (1, 2)]

    def qos_changes(self, plan):
        return [change["name"] for stage in plan["stages"] for change in stage["changes"]
                if change["plugin"] == "qos" and change["node"] == "spark-1" and change["change"] != "blocked"]

    def test_1_ports_without_traffic_classes_are_left_alone(self):
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        plan = self.plan(self.manifest())
        blocked = {change["name"]: change["detail"] for stage in plan["stages"] for change in stage["changes"]
                   if change["change"] == "blocked" and change["node"] == "spark-2"}
        settings = {f"{what} of {port}": "not supported: the port has no such setting"
                    for what in ("flow control", "DSCP") for port in PORTS}
        needs = f"needs flow control of {PORTS[0]} of spark-2, which is blocked"
        self.assertEqual(blocked, settings | {f"/etc/systemd/system/{UNIT}": needs, UNIT: needs})
        self.assertEqual(self.qos_changes(plan), [])

    def test_2_an_apply_sets_each_port_and_leaves_nothing_to_do(self):
        script = base64.b64encode((HERE / "stand_ins" / "dcb").read_bytes()).decode()
        for node in (1, 2):
            self.lab.sh(node, f"echo {script} | base64 -d >/usr/local/sbin/dcb; chmod 755 /usr/local/sbin/dcb")
        self.assertEqual(self.shown(), [BARE, BARE])
        manifest = self.manifest()
        self.spark("apply", manifest, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.shown(), [SET, SET])
        self.assert_empty_plan(manifest)

    def test_3_they_are_set_again_after_a_restart(self):
        self.lab.sh(1, DEVICES)
        self.lab.lab("restart", "1")
        self.lab.sh(1, f"systemctl is-active {UNIT} >/run/active; grep -qx active /run/active")
        self.assertEqual(self.shown(), [SET, SET])
        self.assert_empty_plan(self.manifest())

    def test_4_what_someone_else_set_is_drift_and_goes(self):
        self.lab.sh(1, f"dcb pfc set dev {PORTS[0]} prio-pfc all:off 4:on; dcb app add dev {PORTS[1]} dscp-prio 10:1")
        manifest = self.manifest()
        self.assertEqual(self.qos_changes(self.plan(manifest)), [f"flow control of {PORTS[0]}", f"DSCP of {PORTS[1]}"])
        self.spark("drift", manifest, expect=2)
        self.spark("apply", manifest, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.shown(), [SET, SET])

    def test_5_an_apply_that_fails_leaves_the_former_settings(self):
        fails = self.manifest('qos: {pfc: [5], dscp: {"40": 5}}\n', ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        self.spark("apply", fails, "--yes", "--brief", expect=4)
        self.assertEqual(self.shown(), [SET, SET])

    def test_6_a_tool_that_is_not_there_is_a_warning(self):
        plan = self.plan(self.manifest('qos: {pfc: [3], dscp: {"26": 3, "48": 6}, tos: 106}\n'))
        self.assertEqual([(one["code"], one["nodes"]) for one in plan["diagnostics"] if one["severity"] == "warns"],
                         [("qos-no-cma-roce-tos", ["spark-1", "spark-2"])])
        self.assertEqual(self.changes(plan), [])

    def take_dcb(self, *nodes):
        """The stand-in, and the real one below it."""
        for node in nodes:
            self.lab.sh(node, "mkdir -p /root/local; mv /usr/local/sbin/dcb /root/local; mv /usr/sbin/dcb /root")

    def give_dcb(self, *nodes):
        for node in nodes:
            self.lab.sh(node, "mv /root/local/dcb /usr/local/sbin; mv /root/dcb /usr/sbin")

    def test_6b_a_tool_that_went_away_is_one_warning_and_what_it_set_stays_required(self):
        manifest = self.manifest()
        self.take_dcb(1, 2)
        plan = self.plan(manifest)
        self.assertEqual((self.changes(plan), plan["blocked"]), ([], 0))
        self.assertEqual([(one["code"], one["nodes"]) for one in plan["diagnostics"] if one["severity"] == "warns"],
                         [("qos-no-dcb", ["spark-1", "spark-2"])])
        self.spark("apply", manifest, "--yes", "--brief", "--no-verify", expect=2)
        self.give_dcb(1, 2)
        self.assertEqual(self.shown(), [SET, SET])
        self.assert_empty_plan(manifest)

    def test_6c_a_tool_that_went_away_stops_no_apply_without_its_key(self):
        self.take_dcb(1)
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_empty_plan(PAIR)
        self.give_dcb(1)
        self.assertEqual(self.shown(), [SET, BARE])
        self.lab.sh(1, "".join(f"dcb pfc set dev {port} prio-pfc all:off; dcb app flush dev {port} dscp-prio\n" for port in PORTS))
        self.spark("apply", self.manifest(), "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.shown(), [SET, SET])

    def test_7_an_uninstall_sets_nothing_at_the_next_boot_with_its_tool_or_without(self):
        self.take_dcb(1)
        said = self.spark("uninstall", self.manifest(), "--yes", expect=0).stdout
        self.assertIn("note: spark-1: qos: what dcb set stays until the node restarts: it is not installed any more", said)
        self.give_dcb(1)
        self.assertEqual(self.shown(), [SET, BARE])
        self.lab.sh(1, f"test ! -e /etc/systemd/system/{UNIT} -a ! -e /etc/systemd/system/multi-user.target.wants/{UNIT}")
        self.lab.lab("restart", "1")
        self.assertEqual(self.lab.sh(1, SHOW), BARE)


if __name__ == "__main__":
    unittest.main()
