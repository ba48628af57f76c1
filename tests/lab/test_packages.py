"""Packages of apt, from a repository of local files that the test makes on each node: what a plan shows and blocks, that a
failed apply leaves what was there, that one apply brings all of it, and what a prune removes. And versions of tools that a node's
programs and files say, which stand in for Docker, NVIDIA's container toolkit and the driver."""

import time
import unittest

from nodes.local_apt import INSTALLED, Package, repository
from spark_lab import LabTest, cluster

PAIR = cluster("pair.yaml")
# With a service that it enables and starts, as packages of Debian do.
DAEMON = Package("demo-daemon", programs={
    "/usr/lib/systemd/system/demo.service": "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n",
    "/DEBIAN/postinst": "#!/bin/sh\nsystemctl daemon-reload && systemctl enable --now demo.service\n",
    "/DEBIAN/prerm": "#!/bin/sh\nsystemctl disable --now demo.service\n"})
REPOSITORY = repository(
    (Package("demo-lib"), Package("demo-tool", depends="demo-lib (>= 1.0)"),
     Package("demo-nccl", "2.27-1"), Package("demo-nccl", "2.28-1"),
     Package("demo-dev", "2.27-1", "demo-nccl (= 2.27-1)"), Package("demo-dev", "2.28-1", "demo-nccl (= 2.28-1)"),
     Package("demo-held"), Package("demo-held", "2.0"), Package("demo-base"), Package("demo-base", "2.0"),
     Package("demo-pull", depends="demo-base (>= 2.0)"), DAEMON),
    unreachable=(Package("demo-remote"),))
BEFORE = """
apt-get -qq -y install demo-nccl=2.27-1 demo-dev=2.27-1 demo-held=1.0 demo-base=1.0
apt-mark hold demo-held
"""
PACKAGES = """
packages:
  - demo-tool
  - {name: demo-nccl, at_least: 2.28-1}
  - {name: demo-dev, at_least: 2.28-1}
"""
BLOCKED = """
  - {name: demo-held, at_least: 2.0-0}
  - demo-pull
  - demo-remote
  - demo-none
  - {name: demo-lib, at_least: 3.0-1}
"""
# apt's own lock, as another apt holds it, until an installation has waited for it for three seconds. The file is written then.
HOLD = """import fcntl, os, sys, time
file = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(file, fcntl.LOCK_EX)
def installs(number):
    try:
        words = open("/proc/%s/cmdline" % number, "rb").read().split(bytes(1))
    except OSError:
        return False
    return words[0] == b"apt-get" and b"install" in words and b"-s" not in words and b"--print-uris" not in words
for attempt in range(600):
    if any(installs(number) for number in os.listdir("/proc") if number.isdigit()):
        time.sleep(3)
        open("/run/apt-waited", "w").write("%d" % time.time())
        sys.exit()
    time.sleep(0.2)"""
# The same lock, held until the program is stopped.
KEEP = """import fcntl, time
file = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(file, fcntl.LOCK_EX)
time.sleep(3600)"""
# What the programs print, and where a driver shows its version.
TOOLS = """
printf '#!/bin/sh\\n[ "$*" = --version ] && echo "Docker version {docker}, build 4eba377"\\n' >/usr/bin/docker
printf '#!/bin/sh\\n[ "$*" = --version ] && printf "NVIDIA Container Toolkit CLI version {toolkit}\\\\ncommit: f202b80\\\\n"\\n' >/usr/bin/nvidia-ctk
chmod 755 /usr/bin/docker /usr/bin/nvidia-ctk
mountpoint -q /sys/module || mount -t tmpfs none /sys/module
mkdir -p /sys/module/nvidia && echo {driver} >/sys/module/nvidia/version
"""
MINIMUM = 'minimum_versions: {driver: "580", docker: "28.1", container_toolkit: "1.17.8"}\n'


class Packages(LabTest):
    """Tests run in the order of their names."""

    options = ("--topology", "direct")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for node in (1, 2):
            cls.lab.sh(node, REPOSITORY + BEFORE)
        cls.before = [cls.lab.sh(node, INSTALLED) for node in (1, 2)]

    def manifest(self, packages, *replacements):
        return self.variant_of(PAIR, ("memlock: 4096", f"memlock: 4096\n{packages}"), *replacements)

    def installed(self):
        return [self.lab.sh(node, INSTALLED) for node in (1, 2)]

    def details(self, plan):
        return {change["name"]: (change["change"], change["detail"]) for stage in plan["stages"] for change in stage["changes"]
                if change["plugin"] == "packages" and change["node"] == "spark-1"}

    def test_1_a_plan_shows_what_comes_and_why_the_rest_is_blocked(self):
        details = self.details(self.plan(self.manifest(PACKAGES + BLOCKED.strip("\n"))))
        self.assertEqual(details, {
            "demo-tool": ("add", "1.0, with demo-lib 1.0"),
            "demo-nccl": ("modify", "2.27-1 → 2.28-1, with demo-dev 2.27-1 → 2.28-1"),
            "demo-dev": ("modify", "2.27-1 → 2.28-1"),
            "demo-held": ("blocked", "held at 1.0: apt-mark unhold demo-held by hand"),
            "demo-pull": ("blocked", "apt would also upgrade demo-base 1.0 → 2.0, which `packages` does not list"),
            "demo-remote": ("blocked", "the node cannot reach packages.invalid, from which apt would fetch it"),
            "demo-none": ("blocked", "no source of apt on the node has it: apt-get update, or add the source"),
            "demo-lib": ("blocked", "no source of apt on the node has 3.0-1 or later; the newest there is 1.0: apt-get update, or add "
                                    "the source"),
        })
        self.assertEqual(self.installed(), self.before)

    def test_2_a_failed_apply_leaves_the_packages_that_were_there(self):
        fails = self.manifest(PACKAGES, ("ExecStart=/bin/true", "ExecStart=/bin/false"))
        self.spark("apply", fails, "--yes", "--brief", expect=4)
        self.assertEqual(self.installed(), self.before)

    def test_3_a_lock_that_is_never_free_ends_the_apply_which_is_reverted(self):
        """It waits 120 s: see the plugin's README."""
        for node in (1, 2):
            self.lab.sh(node, f"systemd-run -q --unit=keep-lock python3 -c '{KEEP}'")
        self.addCleanup(lambda: [self.lab.sh(node, "systemctl stop keep-lock 2>/dev/null || true") for node in (1, 2)])
        began = time.monotonic()
        done = self.spark("apply", self.manifest(PACKAGES), "--yes", "--brief", "--no-verify", expect=4)
        self.assertGreater(time.monotonic() - began, 120)
        self.assertRegex(done.stdout + done.stderr, r"package demo-tool failed: exit 100: E: Unable to acquire the dpkg frontend lock")
        self.assertEqual(self.installed(), self.before)

    def test_4_one_apply_waits_for_the_lock_and_brings_all(self):
        unit = f"systemd-run -q --unit=hold-lock python3 -c '{HOLD}'"
        for node in (1, 2):
            self.lab.sh(node, unit)
        manifest = self.manifest(PACKAGES)
        self.spark("apply", manifest, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_empty_plan(manifest)
        for node in (1, 2):
            self.assertRegex(self.lab.sh(node, "cat /run/apt-waited"), r"^\d+$")
        for text in self.installed():
            for line in ("demo-tool installed 1.0", "demo-lib installed 1.0", "demo-nccl installed 2.28-1", "demo-dev installed 2.28-1",
                         "demo-held installed 1.0", "demo-base installed 1.0"):
                self.assertIn(line + "\n", text)
            self.assertIn("\ndemo-lib\n", text)  # as apt marks what came along
            self.assertNotIn("\ndemo-tool\n", text)

    def test_5_what_is_no_longer_listed_goes_with_what_came_along(self):
        listed = self.manifest("packages: [demo-lib]\n")
        self.spark("apply", listed, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_empty_plan(listed)
        for text in self.installed():
            self.assertNotIn("demo-tool installed", text)
            self.assertIn("demo-lib installed 1.0\n", text)  # listed by now
            self.assertIn("demo-nccl installed 2.28-1\n", text)  # an upgrade stays

    def test_6_uninstall_leaves_what_was_there_before(self):
        self.spark("uninstall", PAIR, "--yes", expect=0)
        for text, before in zip(self.installed(), self.before, strict=True):
            names = [{line.split()[0] for line in one.splitlines() if " installed " in line} for one in (text, before)]
            self.assertEqual(names[0] - names[1], {"demo-lib"})  # its own entry found it there

    def versions_that_are_named(self):
        return sorted((one["severity"], one["code"], one["message"], one["nodes"])
                      for one in self.plan(self.manifest(MINIMUM))["diagnostics"] if one["code"].startswith("packages-"))

    def test_7_a_tool_that_is_missing_too_old_or_behind_another_node_is_named(self):
        for node in (1, 2):
            self.lab.sh(node, TOOLS.format(docker="28.1.1", toolkit="1.17.8", driver="580.95.05"))
        self.assertEqual(self.versions_that_are_named(), [])
        self.lab.sh(2, TOOLS.format(docker="24.0.7", toolkit="1.17.8", driver="580.82.09") + "rm /usr/bin/nvidia-ctk")
        self.assertEqual(self.versions_that_are_named(), [
            ("informs", "packages-tools-differ", "NVIDIA driver: 580.82.09, and spark-1 has 580.95.05", ["spark-2"]),
            ("warns", "packages-tool-missing", "NVIDIA container toolkit: wanted 1.17.8 or later, found none", ["spark-2"]),
            ("warns", "packages-tool-too-old", "Docker: wanted 28.1 or later, found 24.0.7", ["spark-2"])])
        self.lab.sh(2, "printf '#!/bin/sh\\nexit 1\\n' >/usr/bin/docker")
        self.assertIn(("warns", "packages-tool-unknown",
                       "Docker: wanted 28.1 or later, and its version is unknown: it does not say its version", ["spark-2"]),
                      self.versions_that_are_named())

    def daemon(self, settings):
        return self.manifest("packages: [demo-daemon]\n", ("units:\n", f"units:\n  - name: demo.service\n{settings}"))

    def read(self, command):
        return {self.lab.sh(node, f"{command} 2>/dev/null || true") for node in (1, 2)}

    def test_8_a_unit_that_a_package_brings_is_set_by_the_same_apply(self):
        none = self.manifest("packages: [demo-tool]\n", ("units:\n", "units:\n  - name: none.service\n    enabled: true\n"))
        self.spark("apply", none, "--yes", "--brief", "--no-verify", expect=2)
        self.assertIn("demo-tool installed 1.0\n", self.installed()[0], "a unit that no package brings holds up nothing else")
        off = self.daemon("    enabled: false\n    active: false\n")
        self.spark("apply", off, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_empty_plan(off)
        self.assertEqual(self.read("systemctl is-active demo.service; systemctl is-enabled demo.service"), {"inactive\ndisabled\n"})
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.read("systemctl cat demo.service; ls -d /etc/systemd/system/demo.service*"), {""})

    def test_9_its_drop_in_is_in_effect_and_goes_with_the_package(self):
        on = self.daemon("    drop_ins:\n      10-note.conf: |\n        [Service]\n        Environment=NOTE=here\n"
                         "    enabled: true\n    active: true\n")
        self.spark("apply", on, "--yes", "--brief", "--no-verify", expect=0)
        self.assert_empty_plan(on)
        environment = "tr '\\0' '\\n' </proc/$(systemctl show -P MainPID demo.service)/environ | grep NOTE"
        self.assertEqual(self.read(environment), {"NOTE=here\n"})
        for node in (1, 2):
            self.lab.sh(node, "apt-get -qq -y remove demo-daemon")  # by hand
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual(self.read("systemctl cat demo.service; ls -d /etc/systemd/system/demo.service*"), {""})
        self.spark("apply", on, "--yes", "--brief", "--no-verify", expect=0)
        self.spark("uninstall", PAIR, "--yes", expect=0)
        self.assertEqual(self.read("systemctl cat demo.service; ls -d /etc/systemd/system/demo.service*"), {""})


if __name__ == "__main__":
    unittest.main()
