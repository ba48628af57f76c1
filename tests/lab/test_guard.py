"""An apply that fails, is cut off or is killed leaves every node as it was before."""

import os
import signal
import subprocess
import unittest

from spark_lab import LAB, PROGRAM, LabTest, cluster, speed, temporary_folder

# Content, mode and owner of everything that an apply could touch, and the live values.
STATE = r"""
set --
for path in /etc/netplan/* /etc/hosts /etc/sysctl.d/* /etc/security/limits.d/* /etc/systemd/system/* \
    /etc/systemd/system.conf.d /etc/systemd/user.conf.d /etc/systemd/system/*.wants/* ~nvidia/.ssh \
    ~nvidia/.ssh/authorized_keys ~nvidia/.ssh/config ~nvidia/.ssh/known_hosts; do
  [ ! -e "$path" ] && [ ! -L "$path" ] || set -- "$@" "$path"
done
stat -c '%n %a %U:%G %F' "$@"
sha256sum "$@" 2>/dev/null  # not of folders
ip -br -4 addr | awk '{sub(/@.*/, "", $1); print $1, $3, $4}'; ip -br link | awk '{sub(/@.*/, "", $1); print $1, $2}'; cat /sys/class/net/en*/mtu
cat /proc/sys/net/ipv4/tcp_mtu_probing /proc/sys/net/ipv4/conf/enp1s0f1np1/arp_ignore
systemctl show -p DefaultLimitMEMLOCK
systemctl is-enabled fabric-note 2>&1; systemctl is-active fabric-note 2>&1; true
"""
GUARDS = "systemctl list-units --plain --no-legend 'spark-reconcile-guard-*'"

# Once the setting has the value and no apply is undecided any more, a ping says so and then takes long.
HELD_PING = """cat >/usr/local/sbin/ping <<'END'
#!/bin/sh
read -r value </proc/sys/net/ipv4/tcp_mtu_probing
[ "$value" = %d ] || exec /usr/bin/ping "$@"
grep -Lx -e finished -e reverted /var/lib/spark-reconcile/journal/*/state | grep -q . && exec /usr/bin/ping "$@"
touch /var/tmp/held; exec sleep 60
END
chmod +x /usr/local/sbin/ping"""


def broken_manifest():
    """A manifest whose last stage fails on the node: the unit's program does not exist."""
    with open(cluster("pair.yaml"), encoding="utf-8") as source:
        text = source.read().replace("ExecStart=/bin/true", "ExecStart=/bin/false")
    path = os.path.join(temporary_folder(), "cluster.yaml")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    return path


class Guard(LabTest):
    options = ("--topology", "direct")

    def states(self):
        return [self.lab.sh(node, STATE) for node in (1, 2)]

    def test_1_a_failed_apply_reverts_everything(self):
        port, by_hand = "enp1s0f1np1", "ip -o -6 address show dev enp1s0f1np1 scope global; ip route show 10.5.0.0/24; ip -6 route show fd00:6::/64"
        self.lab.sh(1, f"ip link set {port} up; ip address add fd00:5::1/64 dev {port}; ip route add 10.5.0.0/24 dev {port}; "
                       f"ip route add fd00:6::/64 dev {port}")
        self.addCleanup(self.lab.sh, 1, f"ip address delete fd00:5::1/64 dev {port}; ip route delete 10.5.0.0/24 dev {port}; "
                        f"ip route delete fd00:6::/64 dev {port}; true")
        speed.wait_until(lambda: "tentative" not in self.lab.sh(1, by_hand), 20, "an address that no one else has")
        before, added = self.states(), self.lab.sh(1, by_hand)
        self.assertIn("-fd00:5::1/64, -route 10.5.0.0/24, -route fd00:6::/64", self.spark("plan", broken_manifest(), "--brief", expect=0).stdout)
        done = self.spark("apply", broken_manifest(), "--yes", "--brief", expect=4)
        self.assertIn("run systemctl restart -- fabric-note.service", done.stderr)
        self.assertEqual(self.states(), before)
        speed.eventually(lambda: self.lab.sh(1, by_hand) == added, 20)  # it is tentative for a moment
        self.assertEqual(self.lab.sh(1, by_hand), added)
        self.assertEqual(self.lab.sh(1, GUARDS), "")

    def test_1b_an_uninstall_after_applies_that_were_all_reverted_leaves_nothing(self):
        before = self.states()
        kept = "~nvidia/.ssh/id_ed25519_spark"
        done = self.spark("uninstall", cluster("pair.yaml"), "--yes", expect=0)
        for node in (1, 2):
            self.assertIn(f"spark-{node}: nothing of spark-reconcile is left but {kept}, /var/lib/spark-reconcile is gone\n",
                          done.stdout)
            self.lab.sh(node, "test ! -e /var/lib/spark-reconcile")
            self.assertEqual(self.lab.sh(node, "find /etc /run -name '*spark-reconcile*'"), "")
        self.assertEqual(self.states(), before)
        again = self.spark("uninstall", cluster("pair.yaml"), "--yes", expect=0)
        self.assertIn(f"note: spark-1, spark-2: {kept} stays: ", again.stdout)
        self.lab.sh(1, "test ! -e /var/lib/spark-reconcile")

    def test_2_a_failed_apply_over_a_converged_pair_reverts_everything(self):
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", expect=0)
        before = self.states()
        self.lab.sh(1, "test ! -e /etc/systemd/system/sysinit.target.wants/spark-reconcile*")
        self.spark("apply", broken_manifest(), "--yes", "--brief", expect=4)
        self.assertEqual(self.states(), before)
        self.spark("verify", cluster("pair.yaml"), expect=0)

    def start_and_stop_half_way(self, how, edits=None):
        """Applies a change that takes long enough to be met half way, and ends it by `how`."""
        slow = broken_manifest()
        with open(slow, encoding="utf-8") as source:
            text = source.read().replace("ExecStart=/bin/false", f"ExecStart=/bin/sleep {min(60, round(speed.scaled(20)))}")
            for old, new in {"net.ipv4.tcp_mtu_probing: 1": "net.ipv4.tcp_mtu_probing: 2", **(edits or {})}.items():
                self.assertIn(old, text)
                text = text.replace(old, new)
        with open(slow, "w", encoding="utf-8") as target:
            target.write(text)
        run = speed.start([LAB, "exec", "--run", self.lab.run, "--", PROGRAM, "apply", slow, "--yes",
                           "--brief"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            speed.wait_until(lambda: self.lab.sh(1, "cat /proc/sys/net/ipv4/tcp_mtu_probing") == "2\n", 20,
                             "an apply that has begun")
            how(run)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()

    def wait_for_free_lock(self):
        """A killed controller's lock is held until the step that ran has ended."""
        speed.wait_until(lambda: self.lab.sh(1, "flock -n /var/lib/spark-reconcile/lock echo free; true"), 40, "a free lock", 0.1)

    @staticmethod
    def kill(run):
        os.killpg(run.pid, signal.SIGKILL)

    def test_3_a_killed_controller_means_that_the_node_reverts_it_on_its_own(self):
        before = self.states()
        self.start_and_stop_half_way(self.kill)
        guard = self.lab.sh(1, GUARDS).split()[0].rpartition(".")[0]
        shown = self.lab.sh(1, f"systemctl show -p Restart -p StartLimitIntervalUSec -p OOMScoreAdjust {guard}.service")
        self.assertEqual(sorted(shown.split()), ["OOMScoreAdjust=-900", "Restart=on-failure", "StartLimitIntervalUSec=0"])
        # The unit's start takes 20 s or more, then the guard's 90 s without progress.
        if not speed.eventually(lambda: self.states() == before, 200, 1):
            self.assertEqual(self.states(), before, speed.gave_up(200))
        self.spark("plan", cluster("pair.yaml"), "--detailed-exitcode", expect=0)

    def test_4_a_node_that_restarts_half_way_comes_up_as_before(self):
        # A unit that is only enabled, so that the boot itself requests its start.
        idle, look = "/etc/systemd/system/lab-idle.service", "systemctl is-enabled lab-idle; systemctl is-active lab-idle; true"
        for node in (1, 2):
            self.lab.sh(node, f"printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' >{idle}; "
                              "systemctl daemon-reload")
            self.addCleanup(self.lab.sh, node, f"systemctl disable --now lab-idle; rm {idle}; systemctl daemon-reload")
        before = self.states()

        def pull_the_plug(_run):
            speed.wait_until(lambda: self.lab.sh(1, look) == "enabled\ninactive\n", 20, "the unit enabled")
            self.lab.lab("restart", "--hard", "1")

        self.start_and_stop_half_way(pull_the_plug, {"    active: true\n": "    active: true\n  - {name: lab-idle.service, enabled: true}\n"})
        self.assertEqual(self.lab.sh(1, STATE), before[0])
        self.assertEqual(self.lab.sh(1, look), "disabled\ninactive\n")
        self.lab.sh(1, "test ! -e /etc/systemd/system/sysinit.target.wants/spark-reconcile*")

    def test_5_a_second_controller_is_shown_who_is_running(self):
        def second(_run):
            # While the units are reloaded, a reading may meet files that change.
            speed.wait_until(lambda: self.lab.sh(1, "systemctl is-active fabric-note.service; true") == "activating\n", 20,
                             "a unit that is being started")
            refused = self.spark("apply", cluster("pair.yaml"), "--yes", expect=9)
            self.assertRegex(refused.stderr, r"another apply is running: \w+@\S+ pid \d+ since 20")

        self.start_and_stop_half_way(second)
        self.wait_for_free_lock()
        # Whoever comes next ends the killed one, so that no guard reverts a later apply.
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.lab.sh(1, GUARDS) + self.lab.sh(2, GUARDS), "")
        self.spark("drift", cluster("pair.yaml"), expect=0)

    def test_5b_an_apply_after_a_cut_off_one_ends_it_plans_again_and_goes_on(self):
        unfinished = r"apply [0-9a-f]{8} of 20\d\d-\d\d-\d\d \d\d:\d\d UTC is unfinished; apply ends it first"

        def kill_when_active(run):
            speed.wait_until(lambda: self.lab.sh(1, "cat /sys/class/net/enp1s0f1np1/mtu") == "1500\n", 20, "an active trial")
            self.kill(run)

        self.start_and_stop_half_way(kill_when_active, {"mtu: 9000": "mtu: 1500"})
        self.wait_for_free_lock()
        trial = "/run/netplan/60-spark-reconcile.yaml"
        self.lab.sh(1, f"test -e {trial}")
        plan = self.spark("plan", cluster("pair.yaml"), "--brief", expect=0).stdout
        self.assertRegex(plan, f"note: spark-1, spark-2: {unfinished}")
        self.assertNotIn(trial, plan)
        self.assertRegex(plan, r"link +enp1s0f1np1: mtu 1500 → 9000")
        self.assertRegex(self.spark("status", cluster("pair.yaml"), expect=0).stdout, f"spark-1, spark-2: {unfinished}\n")
        self.assertRegex(self.spark("lock", "list", cluster("pair.yaml"), expect=0).stdout, f"spark-1  {unfinished}\n")
        with open(cluster("pair.yaml"), encoding="utf-8") as source:
            text = source.read()
        changed = os.path.join(temporary_folder(), "cluster.yaml")
        with open(changed, "w", encoding="utf-8") as target:
            target.write(text.replace("net.ipv4.tcp_mtu_probing: 1", "net.ipv4.tcp_mtu_probing: 0"))
        done = self.spark("apply", changed, "--yes", "--brief", expect=0)
        self.assertRegex(done.stderr, f"spark-1, spark-2: {unfinished}")
        self.assertIn("spark-1: an earlier apply was cut off and is reverted now", done.stderr)
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/ipv4/tcp_mtu_probing"), "0\n")
        self.lab.sh(1, f"test ! -e {trial}")
        self.assertEqual(self.lab.sh(1, GUARDS) + self.lab.sh(2, GUARDS), "")
        self.spark("drift", changed, expect=0)
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", "--no-verify", expect=0)

    def test_6_addresses_that_were_right_before_are_right_after_a_revert(self):
        self.lab.sh(1, "rm /etc/netplan/60-spark-reconcile.yaml")
        before = self.states()
        self.spark("apply", broken_manifest(), "--yes", "--brief", expect=4)
        self.assertEqual(self.states(), before)
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", expect=0)

    def test_7_ctrl_c_reverts_it(self):
        before = self.states()

        def interrupt(run):
            os.killpg(run.pid, signal.SIGINT)
            self.assertEqual(speed.wait(run, 120), 130)

        self.start_and_stop_half_way(interrupt)
        self.assertEqual(self.states(), before)

    def test_7b_a_file_that_cannot_be_replaced_is_noticed_before_any_node_commits(self):
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", "--no-verify", expect=0)
        ledger = "cat /var/lib/spark-reconcile/ledger.json"
        before, ledgers = self.states(), [self.lab.sh(node, ledger) for node in (1, 2)]
        changed = self.variant_of(cluster("pair.yaml"), ("mtu: 9000", "mtu: 1500"))
        for path in ("/etc/netplan/60-spark-reconcile.yaml", "/var/lib/spark-reconcile/ledger.json"):
            self.lab.sh(2, f"chattr +i {path}")
            try:
                done = self.spark("apply", changed, "--yes", "--brief", "--no-verify", expect=4)
            finally:
                self.lab.sh(2, f"chattr -i {path}")
            self.assertIn(f"{path} cannot be replaced or removed: Operation not permitted (lsattr -d shows whether it or its "
                          "folder is immutable", done.stderr)
            self.assertEqual(self.states(), before)
            for node in (1, 2):
                self.assertEqual(self.lab.sh(node, ledger), ledgers[node - 1])
                self.assertEqual(self.lab.sh(node, "find /etc /var/lib/spark-reconcile -name '.spark-reconcile.*'"), "")
                self.assertEqual(self.lab.sh(node, GUARDS), "")
        self.spark("apply", changed, "--yes", "--brief", "--no-verify", expect=0)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, "cat /sys/class/net/enp1s0f1np1/mtu"), "1500\n")

    def start_and_interrupt_verification(self, manifest, probing):
        """Applies while the pings of the verification take long, and interrupts it there."""
        for node in (1, 2):
            self.lab.sh(node, HELD_PING % probing)
        run = speed.start([LAB, "exec", "--run", self.lab.run, "--", PROGRAM, "apply", manifest, "--yes", "--brief"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True)
        try:
            speed.wait_until(lambda: self.lab.sh(1, "ls /var/tmp").find("held") >= 0, 60, "a verification that has begun")
            os.killpg(run.pid, signal.SIGINT)
            out, err = run.communicate(timeout=speed.scaled(20))
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            for node in (1, 2):
                self.lab.sh(node, "rm -f /var/tmp/held /usr/local/sbin/ping")
        return run.returncode, out, err

    def test_8_ctrl_c_in_the_verification_leaves_the_apply_committed(self):
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", "--no-verify", expect=0)
        changed = self.variant_of(cluster("pair.yaml"), ("net.ipv4.tcp_mtu_probing: 1", "net.ipv4.tcp_mtu_probing: 0"))
        code, out, err = self.start_and_interrupt_verification(changed, 0)
        self.assertEqual(code, 7, out + err)
        self.assertRegex(out, r"\ncommitted and read back: \d+ changes; verifying\n")
        self.assertTrue(err.endswith("the apply is committed on every node and stays; only its verification was "
                                     "interrupted\n  hint: `verify` runs it\n"), err)
        self.assertNotRegex(err, "reverted|reverting|reverts")
        self.assertEqual(self.lab.sh(1, "cat /proc/sys/net/ipv4/tcp_mtu_probing"), "0\n")
        self.assertEqual(self.lab.sh(1, GUARDS) + self.lab.sh(2, GUARDS), "")
        self.spark("drift", changed, expect=0)

    def test_9_ctrl_c_where_nothing_had_to_be_applied_is_no_revert_either(self):
        self.spark("apply", cluster("pair.yaml"), "--yes", "--brief", "--no-verify", expect=0)
        code, out, err = self.start_and_interrupt_verification(cluster("pair.yaml"), 1)
        self.assertEqual(code, 7, out + err)
        self.assertTrue(err.endswith("nothing had to be applied; only the verification was interrupted\n"
                                     "  hint: `verify` runs it\n"), err)


if __name__ == "__main__":
    unittest.main()
