#!/usr/bin/env python3
"""The lab's own promises. Run as root: python3 tests/lab/lab_test.py"""

import os
import pathlib
import subprocess
import time
import unittest

from spark_lab import LAB, lab_environment, speed

STATE = pathlib.Path(os.environ.get("SPARK_LAB_STATE", "/run/spark-reconcile-lab"))
TAG = f"t{os.getpid()}"

FABRIC = """network:
  version: 2
  renderer: {renderer}
  ethernets:
    enp1s0f1np1: {{addresses: [192.168.177.{id}/24], mtu: 9000, link-local: []}}
    enP2p1s0f1np1: {{addresses: [192.168.178.{id}/24], mtu: 9000, link-local: []}}
"""


def lab(*words, check=True, text=None, owner=None):
    """Runs one lab command; `owner` is given to `up`."""
    words = list(words) + (["--owner", str(owner or os.getpid())] if words[0] == "up" else [])
    environment = {key: value for key, value in lab_environment().items() if key != "SPARK_LAB_RUN"}
    done = speed.run([LAB, *words], 80, input=text, text=True, capture_output=True, env=environment)
    if check and done.returncode != 0:
        raise AssertionError(f"lab {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def inside(run, node, command, **options):
    return lab("sh", "--run", run, str(node), command, **options).stdout.strip()


def ssh(run, node, command, **options):
    return lab("ssh", "--run", run, str(node), command, **options)


def eventually(condition, wanted, seconds=10):
    return speed.wait_until(condition, seconds, wanted)


def assert_no_traces(run, seconds=10):
    if not speed.eventually(lambda: not traces(run), seconds):
        raise speed.GaveUp(f"wanted no trace of {run}; {speed.gave_up(seconds)}, found {traces(run)}")


def carrier(run, node, iface):
    return inside(run, node, f"cat /sys/class/net/{iface}/carrier")


def traces(run):
    """Everything of a run that the machine still shows; a dead process that its parent has yet to reap is no trace."""
    found = []
    if (STATE / run).exists():
        found.append(f"directory {STATE / run}")
    namespaces = subprocess.run(["ip", "netns", "list"], text=True, capture_output=True, check=True).stdout
    found += [f"namespace {line}" for line in namespaces.splitlines() if line.split()[0] == f"sparklab-{run}"]
    mounts = pathlib.Path("/proc/mounts").read_text(encoding="utf-8")
    found += [f"mount {line}" for line in mounts.splitlines() if run in line]
    # The test runner's own line may name the run.
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if process.name != str(os.getpid()) and run in line:
            found.append(f"process {process.name} {line}")
    groups = subprocess.run(["findmnt", "-n", "-t", "cgroup2", "-o", "TARGET"], text=True, capture_output=True, check=True)
    for root in groups.stdout.split():
        if (pathlib.Path(root) / "spark-reconcile-lab" / run).exists():
            found.append(f"cgroup of {run}")
    return found


class TwoRuns(unittest.TestCase):
    """One run behind a switch, its second node with NetworkManager; one of two nodes and a cable; both at the same time."""

    @classmethod
    def setUpClass(cls):
        cls.switch, cls.direct = f"{TAG}-switch", f"{TAG}-direct"
        started = [
            speed.start([LAB, "up", "2", "--run", run, "--topology", topology, "--nm", nm, "--owner", str(os.getpid())],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=lab_environment())
            for run, topology, nm in ((cls.switch, "switch", "2"), (cls.direct, "direct", ""))
        ]
        for one in started:
            _, errors = one.communicate(timeout=speed.scaled(300))
            if one.returncode != 0:
                cls.tearDownClass()
                raise AssertionError(errors)

    @classmethod
    def tearDownClass(cls):
        for run in (cls.switch, cls.direct):
            lab("down", "--run", run)

    def test_runs_do_not_collide(self):
        for run in (self.switch, self.direct):
            for node in (1, 2):
                self.assertEqual(ssh(run, node, "hostname").stdout.strip(), f"spark-{node}")
                ssh(run, node, f"echo {run} > ~/run")
        self.assertEqual(inside(self.switch, 1, "cat ~nvidia/run"), self.switch)
        every = [(run, node) for run in (self.switch, self.direct) for node in (1, 2)]
        for what in ("cat /etc/machine-id", "cat /etc/ssh/ssh_host_ed25519_key.pub"):
            self.assertEqual(len({inside(*node, what) for node in every}), 4, what)
        machine = subprocess.run(["ip", "-o", "addr"], text=True, capture_output=True, check=True).stdout
        self.assertNotIn("192.168.1.1/24", machine)

    def test_exec_passes_input_output_status_and_home(self):
        done = lab("exec", "--run", self.switch, "--", "sh", "-c", 'cat; echo "$HOME $SPARK_LAB_RUN"; exit 7', text="in\n", check=False)
        self.assertEqual((done.returncode, done.stdout), (7, f"in\n{STATE / self.switch}/home {self.switch}\n"))

    def test_a_switch_introduces_itself_and_a_cable_the_node_at_its_other_end(self):
        wanted = {self.switch: {1: "switch-1 swp1", 2: "switch-1 swp2"},
                  self.direct: {1: "spark-2 enp1s0f1np1", 2: "spark-1 enp1s0f1np1"}}
        for run, plugs in wanted.items():
            for node in plugs:
                # Not by lldpcli: while an lldpd starts it is paused, and a setting then is one more of the pause.
                inside(run, node, "ip link set enp1s0f1np1 up; echo 'configure system interface pattern enp1s0f1np1'"
                                  " >/etc/lldpd.d/lab.conf; systemctl start lldpd")
        for run, plugs in wanted.items():
            for node, plug in plugs.items():
                def heard(run=run, node=node):
                    # It speaks every 30 s otherwise, and no oftener than its credits allow.
                    inside(run, 3 - node, "lldpcli update; sleep 0.5")
                    return inside(run, node, "lldpcli update; lldpcli -f keyvalue show neighbors ports enp1s0f1np1 |"
                                             r" sed -n 's/.*\.\(chassis\.name\|port\.descr\)=//p' | xargs")
                if not speed.eventually(lambda plug=plug, heard=heard: heard() == plug, 10):
                    raise speed.GaveUp(f"wanted {plug} heard by spark-{node}; {speed.gave_up(10)}, found {heard()}")
        for run, plugs in wanted.items():
            for node in plugs:
                inside(run, node, "systemctl stop lldpd; rm /etc/lldpd.d/lab.conf; ip link set enp1s0f1np1 down")

    def test_a_taken_name_is_refused_and_the_run_of_that_name_lives(self):
        done = lab("up", "2", "--run", self.switch, check=False)
        self.assertIn("found one of that name", done.stderr)
        self.assertEqual(ssh(self.switch, 1, "hostname").stdout.strip(), "spark-1")

    def test_nodes_are_as_a_spark_at_rest(self):
        for run, node in ((self.switch, 1), (self.switch, 2)):
            with self.subTest(run=run, node=node):
                self.assertEqual(ssh(run, node, "sudo -n true; systemctl is-system-running").stdout.strip(), "running")
                self.assertEqual(inside(run, node, "cat /sys/class/net/enp1s0f1np1/mtu"), "1500")
                inside(run, node, "echo '* - memlock 4096' > /etc/security/limits.d/lab.conf")
                self.assertEqual(ssh(run, node, "ulimit -l").stdout.strip(), "4096")
                inside(run, node, "rm /etc/security/limits.d/lab.conf")
                self.assertNotEqual(lab("sh", "--run", run, str(node), "echo 1 >/proc/sys/vm/swappiness", check=False).returncode, 0)

    def test_netplan_converges_both_flavours_and_jumbo_frames_pass(self):
        for node, renderer in ((1, "networkd"), (2, "NetworkManager")):
            lab("sh", "--run", self.switch, str(node), "umask 077; cat > /etc/netplan/60-test.yaml",
                text=FABRIC.format(renderer=renderer, id=node))
            ssh(self.switch, node, "sudo -n netplan generate && sudo -n systemctl daemon-reload")
        ssh(self.switch, 1, "sudo -n networkctl reload && sudo -n networkctl reconfigure enp1s0f1np1 enP2p1s0f1np1")
        ssh(self.switch, 2, "sudo -n nmcli connection reload; for i in enp1s0f1np1 enP2p1s0f1np1; do"
                            " sudo -n nmcli -w 10 connection up netplan-$i || exit; done")
        jumbo = "ping -qc 1 -W 1 -M do -s 8972 192.168.177.2 && ping -qc 1 -W 1 -M do -s 8972 192.168.178.2"
        for again in (False, True):
            if again:
                for node in (1, 2):
                    ssh(self.switch, node, "sudo -n netplan apply")
            # As root: Debian 13 lets users ping by a package (linux-sysctl-defaults) that the root file system lacks.
            eventually(lambda: lab("sh", "--run", self.switch, "1", jumbo, check=False).returncode == 0,
                       f"jumbo frames (after apply: {again})")
        for node in (1, 2):
            sysctl = "net.ipv4.conf.enp1s0f1np1.arp_ignore"
            ssh(self.switch, node, f"sudo -n sysctl -qw {sysctl}=1")
            self.assertEqual(inside(self.switch, node, f"sysctl -n {sysctl}"), "1")
            inside(self.switch, node, "rm /etc/netplan/60-test.yaml")
            lab("restart", "--run", self.switch, str(node))

    def test_a_restart_keeps_files_and_drops_live_state(self):
        ways = (("restart", "--run", self.direct, "1"), ("restart", "--run", self.direct, "1", "--hard"))
        for way in ways:
            with self.subTest(way=way):
                inside(self.direct, 1, f"echo '{way[-1]}' > /etc/kept; echo x > /run/lost; ip link set enp1s0f1np1 mtu 9000")
                lab(*way)
                self.assertEqual(inside(self.direct, 1, "cat /etc/kept"), way[-1])
                self.assertEqual(inside(self.direct, 1, "cat /sys/class/net/enp1s0f1np1/mtu"), "1500")
                self.assertNotEqual(lab("sh", "--run", self.direct, "1", "test -e /run/lost", check=False).returncode, 0)

    def test_a_node_reboots_on_its_own(self):
        boot = "cat /proc/sys/kernel/random/boot_id"
        before = inside(self.direct, 2, boot)
        ssh(self.direct, 2, "sudo -n systemctl reboot", check=False)
        eventually(lambda: ssh(self.direct, 2, boot, check=False).stdout.strip() not in ("", before), "another boot of spark-2", 30)
        lab("start", "--run", self.direct, "2")

    def test_cut_takes_the_carrier(self):
        for run, far in ((self.switch, "1"), (self.direct, "0")):
            with self.subTest(run=run):
                for node in (1, 2):
                    inside(run, node, "ip link set enp1s0f1np1 up; ip link set enP2p1s0f1np1 up")
                self.assertEqual(carrier(run, 1, "enp1s0f1np1"), "1")
                lab("cut", "--run", run, "1", "enp1s0f1np1")
                self.assertEqual(carrier(run, 1, "enp1s0f1np1"), "0")
                self.assertEqual(carrier(run, 2, "enp1s0f1np1"), far)
                self.assertEqual(carrier(run, 1, "enP2p1s0f1np1"), "1")
                lab("reconnect", "--run", run, "1", "enp1s0f1np1")
                self.assertEqual([carrier(run, node, "enp1s0f1np1") for node in (1, 2)], ["1", "1"])

    def test_an_empty_cage_has_no_carrier(self):
        inside(self.switch, 1, "ip link set enp1s0f0np0 up")
        self.assertEqual(carrier(self.switch, 1, "enp1s0f0np0"), "0")

    def test_a_stopped_node_is_silent_until_started(self):
        ping = ("exec", "--run", self.direct, "--", "ping", "-qc", "1", "-W", "1", "192.168.1.22")
        inside(self.direct, 1, "ip link set enp1s0f1np1 up")
        lab("stop", "--run", self.direct, "2")
        self.assertNotEqual(lab(*ping, check=False).returncode, 0)
        self.assertEqual(carrier(self.direct, 1, "enp1s0f1np1"), "0")
        lab("start", "--run", self.direct, "2")
        lab(*ping)


class Ring(unittest.TestCase):
    def setUp(self):
        self.run_name = f"{TAG}-ring"
        self.addCleanup(lab, "down", "--run", self.run_name)
        lab("up", "2", "--run", self.run_name, "--topology", "ring")

    def check_cables(self, count):
        for node in range(1, count + 1):
            after = node % count + 1
            inside(self.run_name, node, f"ip link set enp1s0f0np0 up; ip addr add 10.0.{node}.1/24 dev enp1s0f0np0")
            inside(self.run_name, after, f"ip link set enp1s0f1np1 up; ip addr add 10.0.{node}.2/24 dev enp1s0f1np1")
        for node in range(1, count + 1):
            inside(self.run_name, node, f"ping -qc 1 -W 2 -I enp1s0f0np0 10.0.{node}.2; ip addr flush scope global dev enp1s0f0np0;"
                                        " ip addr flush scope global dev enp1s0f1np1")

    def test_each_cable_joins_two_nodes_also_after_the_ring_has_grown(self):
        self.check_cables(2)
        keys = (STATE / self.run_name / "known_hosts").read_text(encoding="utf-8")
        lab("add", "--run", self.run_name, "3")
        self.check_cables(3)
        self.assertEqual(ssh(self.run_name, 3, "hostname").stdout.strip(), "spark-3")
        self.assertIn(keys.splitlines()[0], (STATE / self.run_name / "known_hosts").read_text(encoding="utf-8"))


class Endings(unittest.TestCase):
    def test_a_killed_owner_leaves_nothing_after_gc(self):
        run = f"{TAG}-owner"
        self.addCleanup(lab, "down", "--run", run)
        with subprocess.Popen(["sleep", "1000"]) as owner:
            lab("up", "2", "--run", run, owner=owner.pid)
            lab("gc")
            self.assertTrue(traces(run))
            owner.kill()
            owner.wait()
        lab("gc")
        assert_no_traces(run)

    def test_the_shell_behind_a_command_substitution_owns_the_run(self):
        run = f"{TAG}-shell"
        self.addCleanup(lab, "down", "--run", run)
        script = f"run=$({LAB} up 2 --run {run} 2>/dev/null); {LAB} gc; {LAB} sh --run $run 1 hostname; echo $$"
        done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True)
        node, shell = done.stdout.split()
        self.assertEqual(node, "spark-1")
        self.assertIn(f"{run} switch owner={shell} (gone)", lab("list").stdout)

    def test_down_leaves_nothing_behind_and_may_be_repeated(self):
        run = f"{TAG}-down"
        self.addCleanup(lab, "down", "--run", run)
        lab("up", "2", "--run", run)
        # What a test leaves running in the run's network goes with it.
        stray = speed.start([LAB, "exec", "--run", run, "--", "sleep", "1000"])
        eventually(lambda: pathlib.Path(f"/proc/{stray.pid}/comm").read_text(encoding="utf-8").strip() == "sleep",
                   "sleep in the run's network")
        lab("down", "--run", run)
        self.assertNotEqual(speed.wait(stray, 5), 0)
        assert_no_traces(run)
        lab("down", "--run", run)

    def test_up_that_cannot_finish_cleans_up(self):
        # At several moments of the nodes' start: processes that are just being made must end too.
        for delay_ms in (0, 50, 100, 200, 400):
            with self.subTest(delay_ms=delay_ms):
                run = f"{TAG}-fails-{delay_ms}"
                self.addCleanup(lab, "down", "--run", run)
                done = speed.start([LAB, "up", "2", "--run", run, "--owner", str(os.getpid())], stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
                eventually(lambda path=STATE / run / "nodes" / "1" / "console.log": path.exists(), "a console of spark-1")
                time.sleep(delay_ms / 1000)
                done.terminate()
                self.assertNotEqual(speed.wait(done, 30), 0)
                assert_no_traces(run, 30)

    def test_wrong_arguments_say_what_was_wanted_and_found(self):
        for words, message in ((("up", "9"), "wanted 2 to 8 nodes, found '9'"),
                               (("up", "3", "--topology", "direct"), "wanted 2 nodes with topology direct, found 3"),
                               (("up", "2", "--like", "windows"), "wanted --like dgx-os, found 'windows'"),
                               (("up", "2", "--like", "dgx-os", "--nm", "1"), "wanted --like dgx-os without --nm and --vm, found both"),
                               (("up", "2", "--os", "sarge"), "wanted --os (or SPARK_LAB_OS) bookworm, trixie or noble (Ubuntu 24.04), found 'sarge'"),
                               (("ssh", "--run", "nowhere", "1"), "wanted a run named 'nowhere'")):
            done = lab(*words, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    if os.geteuid() != 0:
        raise SystemExit(f"lab_test: wanted root, found uid {os.geteuid()}")
    unittest.main(verbosity=2)
