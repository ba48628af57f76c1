"""The main job on two nodes: bare, converged, drifted, rebooted, out of reach."""

import json
import math
import os
import re
import statistics
import unittest

from spark_lab import LabTest, cluster, speed, temporary_folder

PAIR = cluster("pair.yaml")
# A socket whose service runs, and one that starts a service for each connection.
SOCKETS = """units:
  - {name: demo.service, content: "[Service]\\nExecStart=/bin/sleep infinity\\n", active: true}
  - {name: demo.socket, content: "[Socket]\\nListenStream=/run/demo-1.sock\\n", active: true}
  - {name: each@.service, content: "[Service]\\nExecStart=/bin/cat\\nStandardInput=socket\\n"}
  - {name: each.socket, content: "[Socket]\\nListenStream=/run/each-1.sock\\nAccept=yes\\n", active: true}
"""
CONNECT = """systemd-run -q --unit=client python3 -c 'import socket, time
client = socket.socket(socket.AF_UNIX)
client.connect("/run/each-1.sock")
time.sleep(3600)'
for attempt in $(seq 100); do systemctl show -P MainPID "each@*.service" | grep -q "^[1-9]" && break; sleep 0.1; done"""
IDENTITY_OF_FILE = "stat -c '%a %U:%G %s' "


# Holds each step of an apply up while the file is there.
HELD_SYNC = """printf '#!/bin/sh\\nwhile [ -e /var/tmp/hold ]; do sleep 0.05; done\\nexec /usr/bin/sync "$@"\\n' >/usr/local/sbin/sync
chmod +x /usr/local/sbin/sync; touch /var/tmp/hold"""
REDRAW = re.compile("\r\033\\[([0-9]+)A\033\\[J")


def screens(shown):
    """What stood on the terminal after each redraw, with times as N."""
    pieces = REDRAW.split(shown)
    lines = pieces[0].split("\n")
    found = []
    for count, text in zip(pieces[1::2], pieces[2::2]):
        found.append("\n".join(lines))
        lines = lines[:len(lines) - 1 - int(count)] + text.split("\n")
    found.append("\n".join(lines))
    return [re.sub(r"\b[0-9]+(\.[0-9])? s\b", "N s", re.sub("\033\\[[0-9;]*[mK]|\r", "", one)) for one in found]


class PairFromBare(LabTest):
    """Tests run in the order of their names; each leaves the pair converged."""

    options = ("--topology", "direct")

    def test_1_plan_lists_every_change_and_apply_makes_them(self):
        plan = self.plan(PAIR)
        planned = self.changes(plan, "spark-1")
        for kind, name in (("file", "/etc/netplan/60-spark-reconcile.yaml"), ("link", "enp1s0f1np1"),
                           ("link", "enP2p1s0f1np1"), ("file", "/etc/hosts"),
                           ("file", "/etc/sysctl.d/60-spark-reconcile.conf"),
                           ("sysctl", "net.ipv4.tcp_mtu_probing"),
                           ("file", "/etc/security/limits.d/60-spark-reconcile.conf"),
                           ("file", "/etc/systemd/system.conf.d/60-spark-reconcile.conf"),
                           ("file", "~nvidia/.ssh/authorized_keys"),
                           ("file", "~nvidia/.ssh/known_hosts"), ("file", "~nvidia/.ssh/config"),
                           ("file", "/etc/systemd/system/fabric-note.service"),
                           ("unit", "fabric-note.service")):
            self.assertIn(("spark-1", kind, name), planned)
        self.assertEqual(len(planned), len(self.changes(plan, "spark-2")))

        management = "ip -j -4 addr show enP7s7; cat /etc/netplan/01-management.yaml"
        before = self.lab.sh(1, management)
        events = os.path.join(temporary_folder(), "events")
        self.spark("apply", PAIR, "--yes", "--events", events, expect=0)
        self.assert_empty_plan(PAIR)
        self.assertEqual(self.lab.sh(1, management), before)
        history = json.loads(self.spark("history", PAIR, "--format", "json", expect=0).stdout)
        self.assertEqual([node["name"] for node in history["nodes"]], ["spark-1", "spark-2"])
        for node in history["nodes"]:
            self.assertEqual([(entry["generation"], entry["applied"]["plan"]) for entry in node["generations"]], [(1, plan["id"])])

        with open(events, encoding="utf-8") as lines:
            done = [json.loads(line) for line in lines]
        self.assertEqual((done[-1]["event"], done[-1]["exit_code"]), ("ended", 0))
        self.assertEqual({event["apply"] for event in done}, {done[0]["apply"]})
        self.assertEqual(done[-2]["event"], "converged")
        trips = re.fullmatch("([0-9]+) requests and ([0-9]+) readings on a node at most", done[-2]["detail"])
        self.assertIsNotNone(trips, done[-2])
        self.assertLessEqual(int(trips.group(1)), 14)
        self.assertLessEqual(int(trips.group(2)), 12)
        # What the plan said is what happened, no more and no less.
        made = {(event["node"], event["resource"]["kind"], event["resource"]["name"]) for event in done
                if event["event"] == "change-done"}
        self.assertEqual(made, set(self.changes(plan)))

    def test_2_the_nodes_themselves_show_it(self):
        """Read from the nodes, not from what the program printed."""
        self.assertIn("mtu 9000", self.lab.sh(1, "ip link show enp1s0f1np1"))
        self.assertIn("192.168.178.2/24", self.lab.sh(2, "ip -4 addr show enP2p1s0f1np1"))
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore").strip(), "1")
        self.assertTrue(self.lab.sh(1, IDENTITY_OF_FILE + "/etc/netplan/60-spark-reconcile.yaml")
                        .startswith("600 root:root"))
        self.assertTrue(self.lab.sh(1, IDENTITY_OF_FILE + "~nvidia/.ssh/id_ed25519_spark")
                        .startswith("600 nvidia:nvidia"))
        self.assertEqual(self.lab.sh(1, "systemctl is-active fabric-note; systemctl is-enabled fabric-note"),
                         "active\nenabled\n")
        self.lab.sh(1, "ping -c 1 -W 2 -M do -s 8972 -I enp1s0f1np1 192.168.177.2")
        for host in ("spark-2-rail0", "192.168.177.2", "192.168.178.2", "spark-02-mesh", "spark-2", "192.168.1.22"):
            self.assertEqual(self.lab.sh(1, f"runuser -u nvidia -- ssh -o BatchMode=yes {host} hostname"), "spark-2\n", host)
        self.assertEqual(self.lab.sh(1, "getent ahostsv4 spark-02-mesh | head -n 1").split()[0], "192.168.177.2")
        # A new session and a new service both have the manifest's memory lock limit, in KiB and bytes.
        self.assertEqual(self.lab.lab("ssh", "1", "ulimit -l").stdout.strip(), "4096")
        self.assertEqual(self.lab.sh(1, "systemd-run -q --wait --pipe grep -h 'Max locked' "
                                        "/proc/self/limits").split()[3], str(4096 * 1024))

    def count_processes(self, *arguments):
        """What the program starts on the first node: its namespace numbers processes one after the other. The most frequent number
        of some rounds: the node starts some for itself, threads are numbered too, and one less was seen on a busy node."""
        def last():
            return int(self.lab.sh(1, "echo $$"))

        def follow(*arguments):
            before = last()
            if arguments:
                self.spark(*arguments, expect=0)
            return last() - before
        return statistics.mode(follow(*arguments) for _ in range(7)) - statistics.mode(follow() for _ in range(13))

    def test_2_a_plan_starts_exactly_so_many_processes_on_a_node(self):
        """Whoever adds one decides that it is worth it: docs/benchmarks.md has the number."""
        self.assertEqual(self.count_processes("plan", PAIR), 24 if os.environ.get("SPARK_LAB_OS", "trixie") == "trixie" else 21)

    def test_3_verify_passes_and_its_report_is_complete(self):
        report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=0).stdout)
        self.assertEqual(report["findings"], [])
        logins = {(check["from"], check["expected"].split()[1]) for check in report["checks"] if check["level"] == "ssh"}
        self.assertEqual(logins, {("spark-1", "spark-02-mesh"), ("spark-1", "192.168.178.2"), ("spark-1", "spark-2"),
                                  ("spark-2", "192.168.177.1"), ("spark-2", "spark-1-rail1"), ("spark-2", "192.168.1.21")})
        pings = {(check["from"], check["to"], check["rail"]) for check in report["checks"]
                 if check["level"] == "ping"}
        self.assertEqual(pings, {("spark-1", "spark-2", "rail0"), ("spark-1", "spark-2", "rail1"),
                                 ("spark-2", "spark-1", "rail0"), ("spark-2", "spark-1", "rail1")})

    def assert_drift_is_found_and_repaired(self, break_it, node, kind, name, state):
        """`state` is a script whose output must be the same after the repair as before the damage."""
        before = self.lab.sh(node, state)
        self.lab.sh(node, break_it)
        self.assertNotEqual(self.lab.sh(node, state), before)
        drift = json.loads(self.spark("drift", PAIR, "--format", "json", expect=2).stdout)
        self.assertEqual(self.changes(drift), [(f"spark-{node}", kind, name)])
        [change] = [change for stage in drift["stages"] for change in stage["changes"]]
        self.assertEqual(change["cause"]["kind"], "drifted")
        self.assertEqual(change["cause"].get("applied"), change.get("desired"))
        self.assertIn("\nDrifted since it was applied:\n", self.spark("drift", PAIR, "--brief", expect=2).stdout)
        self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)
        self.assertEqual(self.lab.sh(node, state), before)
        self.spark("drift", PAIR, expect=0)

    def test_4_drift_made_by_hand_is_found_and_repaired(self):
        mtu = "cat /sys/class/net/enp1s0f1np1/mtu"
        self.assert_drift_is_found_and_repaired("ip link set enp1s0f1np1 mtu 1500", 2, "link",
                                                "enp1s0f1np1", mtu)
        address = "ip -br -4 addr show enP2p1s0f1np1"
        self.assert_drift_is_found_and_repaired("ip addr flush dev enP2p1s0f1np1", 1, "link",
                                                "enP2p1s0f1np1", address)
        self.assert_drift_is_found_and_repaired("ip addr add 10.9.9.9/24 dev enP2p1s0f1np1", 1, "link",
                                                "enP2p1s0f1np1", address)
        self.assert_drift_is_found_and_repaired(
            "ip link set enp1s0f1np1 down", 1, "link", "enp1s0f1np1",
            "cat /sys/class/net/enp1s0f1np1/carrier 2>/dev/null || echo down")
        probing = "cat /proc/sys/net/ipv4/tcp_mtu_probing"
        self.assert_drift_is_found_and_repaired("sysctl -qw net.ipv4.tcp_mtu_probing=2", 1, "sysctl",
                                                "net.ipv4.tcp_mtu_probing", probing)
        for path, damage in (
                ("/etc/hosts", "sed -i /spark-2-rail1/d /etc/hosts"),
                ("/etc/netplan/60-spark-reconcile.yaml",
                 "chmod 644 /etc/netplan/60-spark-reconcile.yaml"),
                ("/etc/security/limits.d/60-spark-reconcile.conf",
                 "rm /etc/security/limits.d/60-spark-reconcile.conf"),
                ("/etc/systemd/system/fabric-note.service",
                 "chmod 600 /etc/systemd/system/fabric-note.service")):
            look = f"cat {path} 2>&1; stat -c '%a %U:%G' {path} 2>&1 || true"
            self.assert_drift_is_found_and_repaired(damage, 1, "file", path, look)

    def test_4_what_the_manifest_changed_is_set_apart_from_drift(self):
        with open(PAIR, encoding="utf-8") as file:
            changed = self.written(file.read().replace("tcp_mtu_probing: 1", "tcp_mtu_probing: 0"))
        self.lab.sh(1, "ip link set enp1s0f1np1 mtu 1500")
        try:
            plan = json.loads(self.spark("plan", changed, "--format", "json", expect=0).stdout)
        finally:
            self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)
        causes = {(change["node"], change["name"]): change["cause"] for stage in plan["stages"] for change in stage["changes"]}
        for node in ("spark-1", "spark-2"):
            for name in ("net.ipv4.tcp_mtu_probing", "/etc/sysctl.d/60-spark-reconcile.conf"):
                self.assertEqual(causes[node, name]["kind"], "manifest-changed")
        self.assertEqual(causes["spark-2", "net.ipv4.tcp_mtu_probing"]["applied"], "1")
        self.assertEqual(causes["spark-1", "enp1s0f1np1"]["kind"], "drifted")
        self.assertEqual(len(causes), 5)

    def test_5_foreign_lines_keep_every_byte(self):
        self.lab.sh(1, "printf '10.1.2.3\\tnas # mine' >> /etc/hosts")
        self.lab.sh(1, "sed -i /spark-2-rail0/d /etc/hosts")
        self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)
        self.assertIn("10.1.2.3\tnas # mine", self.lab.sh(1, "cat /etc/hosts"))
        self.assert_empty_plan(PAIR)

    def test_6_a_reboot_keeps_everything(self):
        boot = self.lab.sh(1, "cat /proc/sys/kernel/random/boot_id")
        self.lab.lab("restart", "1")
        self.assertNotEqual(self.lab.sh(1, "cat /proc/sys/kernel/random/boot_id"), boot)
        self.assert_empty_plan(PAIR)
        self.spark("verify", PAIR, expect=0)

    def test_6_lines_of_others_that_win_over_ours_are_warned_of(self):
        limits = "/etc/security/limits.d/90-other.conf"
        self.lab.sh(1, f"sed -i '1i 10.9.0.2 spark-2-rail0' /etc/hosts; echo 'nvidia soft memlock 2048' >{limits}")
        self.assertEqual(self.lab.sh(1, "getent hosts spark-2-rail0").split()[0], "10.9.0.2")
        self.assertEqual(self.lab.lab("ssh", "1", "ulimit -l").stdout.strip(), "2048")
        drift = json.loads(self.spark("drift", PAIR, "--format", "json", expect=2).stdout)
        self.assertEqual(self.changes(drift), [])
        warnings = {one["code"]: (one["nodes"], one["message"]) for one in drift["diagnostics"] if one["severity"] == "warns"}
        self.assertEqual(warnings, {
            "etc_hosts-foreign-line": (["spark-1"], "/etc/hosts:1 is above our lines, and gives spark-2-rail0 the address 10.9.0.2 "
                                                    "before 192.168.177.2"),
            "memlock-foreign-line": (["spark-1"], f"{limits}:1 sets memlock of nvidia to 2048 KiB for logins, and wins over "
                                                  "/etc/security/limits.d/60-spark-reconcile.conf")})
        self.lab.sh(1, f"rm {limits}")
        report = json.loads(self.spark("verify", PAIR, "--format", "json", expect=0).stdout)
        self.assertEqual([(one["code"], one["nodes"], one["measured"]) for one in report["findings"]],
                         [("host-name-wrong", ["spark-1"], "spark-2-rail0 has 192.168.177.2 10.9.0.2")])
        self.lab.sh(1, "sed -i 1d /etc/hosts")
        self.spark("drift", PAIR, expect=0)

    def test_7_an_unreachable_node_is_3_and_the_rest_is_complete(self):
        self.lab.lab("stop", "2")
        try:
            done = self.spark("plan", PAIR, "--format", "json", expect=3)
            plan = json.loads(done.stdout)
            self.assertEqual(self.changes(plan), [])
            self.assertNotEqual(plan["nodes"][1]["unreachable"], "")
            self.assertIn("spark-2 (192.168.1.22): ", done.stderr)
            self.assertEqual(plan["nodes"][0]["unreachable"], "")
            facts = json.loads(self.spark("status", PAIR, "--format", "json", expect=3).stdout)
            self.assertEqual([node["name"] for node in facts["nodes"]], ["spark-1"])
            self.assertEqual([node["name"] for node in facts["unreachable"]], ["spark-2"])
            # An unknown peer removes nothing: its keys and names stay where they are.
            self.assertIn("spark-2", self.lab.sh(1, "cat ~nvidia/.ssh/authorized_keys"))
        finally:
            self.lab.lab("start", "2")
        self.spark("verify", PAIR, expect=0)

    def test_8_a_saved_plan_is_carried_out_once_and_refused_when_stale(self):
        saved = os.path.join(temporary_folder(), "plan.json")
        self.lab.sh(1, "ip link set enp1s0f1np1 mtu 1500")
        self.spark("plan", PAIR, "--out", saved, expect=0)
        self.lab.sh(1, "ip link set enp1s0f1np1 mtu 4000")
        stale = self.spark("apply", saved, "--yes", expect=8)
        self.assertIn("link enp1s0f1np1 moved since the plan was made", stale.stderr)
        self.assertIn("mtu 4000", self.lab.sh(1, "ip link show enp1s0f1np1"))

        self.lab.sh(1, "ip link set enp1s0f1np1 mtu 1500; sysctl -qw net.ipv4.tcp_mtu_probing=2")
        self.spark("apply", saved, "--yes", "--no-verify", expect=0)  # other drift does not matter
        self.assertIn("mtu 9000", self.lab.sh(1, "ip link show enp1s0f1np1"))
        self.spark("apply", saved, "--yes", expect=8)
        self.spark("apply", PAIR, "--yes", expect=0)

    def test_9_nothing_happens_without_a_yes(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        refused = self.spark("apply", PAIR, expect=1)
        self.assertIn("nothing was changed", refused.stderr)
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/ipv4/tcp_mtu_probing"), "2\n")
        only = self.plan(PAIR, "--only", "netplan")
        self.assertEqual(self.changes(only), [])
        self.assertEqual(self.changes(self.plan(PAIR, "--node", "spark-2")), [])
        self.spark("apply", PAIR, "--only", "sysctl", "--node", "spark-1", "--yes", expect=0)
        self.assert_empty_plan(PAIR)

    def test_9b_a_twin_that_leaves_the_manifest_is_taken_down_and_comes_back(self):
        first = self.variant_of(PAIR, ("subnets: [192.168.177.0/24, 192.168.178.0/24]", "twins: first\n  subnets: [192.168.177.0/24]"))
        # The other rail, management and its routes: not what a neighbour's answer or a counter changes.
        others = "for port in enp1s0f1np1 enP7s7; do ip -4 -o address show dev $port; ip route show dev $port; cat /sys/class/net/$port/mtu; done"
        before = self.lab.sh(1, others)
        self.spark("apply", first, "--yes", "--no-verify", expect=0)
        self.assertNotIn("192.168.178.", self.lab.sh(1, "ip -4 -o address show dev enP2p1s0f1np1"))
        self.assertEqual(self.lab.sh(1, others), before)
        self.assert_empty_plan(first)
        # The same subnet on the other twin.
        second = self.variant_of(PAIR, ("subnets: [192.168.177.0/24, 192.168.178.0/24]", "twins: second\n  subnets: [192.168.177.0/24]"))
        # systemd replaces the folder whenever it reloads its units, which may take its GPU from a container.
        reloads = "stat -c '%i %y' /run/systemd/generator"
        reloaded = self.lab.sh(1, reloads)
        self.spark("apply", second, "--yes", "--no-verify", expect=0)
        self.assertEqual(self.lab.sh(1, reloads), reloaded)
        # What a reload would have brought about, of the files of now.
        rules = "/run/udev/rules.d/90-netplan.rules"
        self.assertEqual(self.lab.sh(1, f"cat {rules} 2>/dev/null || true"), self.lab.sh(
            1, "mkdir -p /run/other/etc; cp -r /etc/netplan /run/other/etc; SYSTEMD_OFFLINE=1 netplan generate --root-dir /run/other "
               f"2>/dev/null; cat /run/other{rules} 2>/dev/null; rm -rf /run/other"))
        self.assertIn("192.168.177.1/24", self.lab.sh(1, "ip -4 -o address show dev enP2p1s0f1np1"))
        self.assertEqual(self.lab.sh(1, "ip -4 -o address show dev enp1s0f1np1"), "")
        self.assert_empty_plan(second)
        self.spark("apply", PAIR, "--yes", expect=0)
        self.assertEqual(self.lab.sh(1, others), before)
        self.assert_empty_plan(PAIR)

    def test_9c_a_changed_socket_is_in_effect_and_ends_no_connection(self):
        first = self.variant_of(PAIR, ("units:\n", SOCKETS))
        self.spark("apply", first, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(first)
        self.lab.sh(1, CONNECT)
        connection = "systemctl show -P MainPID 'each@*.service'"
        before = self.lab.sh(1, connection)
        self.assertRegex(before, r"^[1-9][0-9]*\n$")
        second = self.variant_of(PAIR, ("units:\n", SOCKETS.replace("-1.sock", "-2.sock")))
        self.spark("apply", second, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(second)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, "systemctl is-active demo.socket demo.service each.socket; "
                                               "systemctl show -P Listen demo.socket; systemctl show -P Listen each.socket"),
                             "active\nactive\nactive\n/run/demo-2.sock (Stream)\n/run/each-2.sock (Stream)\n")
        self.assertEqual(self.lab.sh(1, connection), before)
        self.lab.sh(1, "systemctl stop client")
        self.spark("apply", PAIR, "--yes", "--no-verify", expect=0)
        self.assert_empty_plan(PAIR)


class PairOnATerminal(LabTest):
    """What an apply shows while it runs, and at its end. Tests run in the order of their names."""

    options = ("--topology", "direct")

    def apply(self, *arguments, columns, code=0):
        os.environ["TERM"] = "xterm"
        found, shown = self.lab.spark_on_terminal(
            ["--no-color", "apply", PAIR, "--yes", "--brief", *arguments], [], limit_s=300, columns=columns)
        self.assertEqual(found, code, shown)
        return screens(shown)

    def test_1_a_line_per_node_is_redrawn(self):
        shown = self.apply("--no-verify", columns=110)
        self.assertIn("""
lab  0/40  changing  N s
  spark-1   0/20  file, link, sysctl, memlock, ssh …  N s
  spark-2   0/20  file, link, sysctl, memlock, ssh …  N s
""", "\n".join(shown))
        self.assertTrue(shown[-1].endswith("""
lab  40/40  committed and read back  N s
  spark-1  20/20
  spark-2  20/20
Applied: 40 changes on 2 nodes in N s, generation 1, not verified. Undo: spark-reconcile rollback --to 0 """ + PAIR + "\n"), shown[-1])
        self.assertNotIn("trigger", shown[-1])

    def test_2_sixty_columns_are_enough(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        shown = self.apply("--no-verify", columns=60)
        self.assertIn("""
lab  1/1  committed and read back  N s
  spark-1  1/1
Applied: 1 change on 1 node in N s, generation 2, not verified.
""", shown[-1])
        live = [line for one in shown for line in one.splitlines() if line.startswith(("lab  ", "  spark-"))]
        self.assertLess(max(len(line) for line in live), 60)

    def test_3_plain_is_a_line_per_change_and_the_log_file_has_all(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        log = os.path.join(temporary_folder(), "log")
        done = self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--log-file", log, expect=0)
        lines = [re.sub("^[0-9:]{8} ", "", line) for line in done.stderr.splitlines()]
        self.assertEqual(lines, ["every node would revert this on its own; changing", "spark-1 1/1: sysctl net.ipv4.tcp_mtu_probing",
                                 "every node is ready; committing"])
        with open(log, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"(?m)^[0-9-]{10}T[0-9:.]{12}Z trace spark-1: connection to 192\.168\.1\.21 in [0-9.]+ s$")
        self.assertRegex(text, r"(?m)Z info spark-1 1/1: sysctl net\.ipv4\.tcp_mtu_probing$")
        self.assertRegex(text, r"(?m)Z debug committed and read back: ")

    def test_4_none_is_silent(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        self.assertEqual(self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--progress", "none", expect=0).stderr, "")

    def test_4b_ctrl_c_at_the_question_says_that_nothing_was_applied(self):
        self.lab.sh(1, "sysctl -qw net.ipv4.tcp_mtu_probing=2")
        code, shown = self.lab.spark_on_terminal(["apply", PAIR, "--brief"], [("Type 'yes' to continue: ", "\x03")], columns=60)
        self.assertNotEqual(code, 0)
        self.assertTrue(shown.endswith("Type 'yes' to continue: ^C\ninterrupted: nothing was applied\n"), shown)
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/ipv4/tcp_mtu_probing"), "2\n")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        # Only spark-1 was changed since generation 1, and the number is the cluster's.
        found = self.spark("status", PAIR, expect=0).stdout
        self.assertEqual({line.split()[3] for line in found.splitlines() if line.startswith("spark-")}, {"5"}, found)

    def test_4c_ctrl_c_twice_says_what_the_nodes_do_on_their_own(self):
        self.lab.sh(1, HELD_SYNC + "; sysctl -qw net.ipv4.tcp_mtu_probing=2")
        try:
            code, shown = self.lab.spark_on_terminal(
                ["--no-color", "apply", PAIR, "--brief", "--yes", "--no-verify"],
                [("  staging  ", "\x03"), ("then every node reverts\n", "\x03")], columns=110)
        finally:
            self.lab.sh(1, "rm -f /var/tmp/hold /usr/local/sbin/sync")
        self.assertNotEqual(code, 0)
        self.assertIn("^C\nstopping before the next stage, then every node reverts\n", shown)
        self.assertRegex(shown, r"\^C\nended before the nodes have reverted: each reverts on its own, when nothing was heard for 90 s "
                                r"\(at [0-9:]{8} UTC; later where a step takes longer\)\n"
                                r"  hint: `status` names what is unfinished, and the next apply ends it first\n\Z")
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", "--lock-timeout", str(math.ceil(speed.scaled(120))), expect=0)
        self.spark("drift", PAIR, expect=0)

    def test_5_nothing_to_do_is_said_at_the_end(self):
        done = self.spark("apply", PAIR, "--yes", expect=0)
        self.assertRegex(done.stdout.splitlines()[-1], r"^No changes: nothing was changed, verified ([0-9]+)/\1\.$")


if __name__ == "__main__":
    unittest.main()
