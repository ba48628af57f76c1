"""A lab run and the program under test, for the tests in this folder (python3 standard library)."""

import atexit
import fcntl
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests", "support"))

import children  # noqa: E402
import speed  # noqa: E402

children.die_with_runner()
LAB = os.path.join(HERE, "lab")
PROGRAM = os.environ.get("SPARK_RECONCILE", os.path.join(ROOT, "build", "spark-reconcile"))
CLUSTERS = os.path.join(HERE, "clusters")


def lab_environment():
    """The lab's own limits, for a boot or a stop, grow as ours do."""
    return {**os.environ, "SPARK_LAB_SLOWNESS": str(round(100 * speed.factor()))}


class Lab:
    """Nodes of one run; the run ends with this process at the latest."""

    def __init__(self, nodes, *options):
        command = [LAB, "up", str(nodes), "--owner", str(os.getpid()), *options]
        began = time.monotonic()
        self.run = speed.run(command, 1200, check=True, stdout=subprocess.PIPE, text=True, env=lab_environment()).stdout.strip()
        if "--vm" in options:
            speed.note_boot(time.monotonic() - began)

    def lab(self, verb, *words, check=True, limit_s=120):
        try:
            return speed.run([LAB, verb, "--run", self.run, *words], limit_s, check=check, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=lab_environment())
        except subprocess.CalledProcessError as failed:
            failed.add_note(f"stderr: {failed.stderr}")  # which the message leaves out
            raise

    def down(self):
        speed.run([LAB, "down", "--run", self.run], 120, check=True)

    def sh(self, node, script):
        """Runs a script as root inside a node, without ssh; returns its stdout."""
        return self.lab("sh", str(node), script).stdout

    def spark(self, *arguments, limit_s=600):
        """Runs the program inside the lab's network."""
        return speed.run([LAB, "exec", "--run", self.run, "--", PROGRAM, *arguments], limit_s, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


    def spark_on_terminal(self, arguments, answers, limit_s=120, columns=0):
        """Runs the program on a terminal of its own. `answers`: pairs of what it must show next and what is typed then; 0 columns:
        the terminal does not say. Returns its exit code and all that the terminal showed."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40 if columns else 0, columns, 0, 0))
        try:
            process = speed.start([LAB, "exec", "--run", self.run, "--", "setsid", "--ctty", "--wait", PROGRAM, *arguments],
                                  stdin=terminal, stdout=terminal, stderr=terminal)
            os.close(terminal)
            shown = self.converse(main, list(answers), limit_s)
            return process.wait(), shown
        finally:
            os.close(main)

    @staticmethod
    def converse(terminal, answers, limit_s):
        shown = ""
        since = 0  # what was shown before the last answer is no prompt for the next one
        end = time.monotonic() + speed.scaled(limit_s)
        while select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            try:
                read = os.read(terminal, 4096)
            except OSError:  # the last process that had it open ended
                break
            if not read:
                break
            shown += read.decode(errors="replace").replace("\r\n", "\n")
            if answers and answers[0][0] in shown[since:]:
                since = len(shown)
                os.write(terminal, answers.pop(0)[1].encode())
        return shown


def temporary_folder():
    """Goes with this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


MACHINES_GLIBC = 36  # 2.36, that of Debian 12


def newest_glibc(program):
    """The N of the newest symbol version GLIBC_2.N that a program needs; 0 where there is no such program."""
    try:
        with open(program, "rb") as binary:
            return max(map(int, re.findall(rb"GLIBC_2\.([0-9]+)", binary.read())), default=0)
    except FileNotFoundError:
        return 0


def machines_or_skip(*others, rdma=False):
    """Ends the process with 77, and the reason, where no virtual machine can be had. `others`: arm64, where machines of that type
    are wanted too. `rdma`: spark-verify runs on them."""
    reason = None
    needed = max(newest_glibc(os.path.join(os.path.dirname(PROGRAM), name)) for name in ("spark-verify", *("spark-verify-aarch64" for _ in others)))
    if os.geteuid() != 0:
        reason = "virtual machines need root"
    elif not shutil.which("qemu-system-x86_64"):
        reason = "qemu-system-x86_64 is not installed (tests/packages names it)"
    elif not os.path.exists("/dev/net/tun"):
        reason = "there is no /dev/net/tun for their interfaces (modprobe tun; a container must be given the device)"
    elif rdma and needed > MACHINES_GLIBC:
        reason = f"spark-verify was built for glibc 2.{needed}, and virtual machines have 2.{MACHINES_GLIBC} (Debian 12)"
    elif "arm64" in others and not (shutil.which("qemu-system-aarch64") and shutil.which("qemu-aarch64-static")):
        reason = "wanted qemu-system-aarch64 and qemu-aarch64-static (apt install qemu-system-arm qemu-user-static)"
    else:
        # That for arm64 is made by an emulator: 26 minutes on two busy cores.
        for words, limit_s in (((), 900), *((("arm64",), 3600) for _ in others)):
            built = speed.run([LAB, "image", *words], limit_s, check=False, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if built.returncode != 0:
                reason = f"there is no image for virtual machines: {built.stderr.strip()}"
                break
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)


def root_or_skip():
    """Ends the process with 77, and the reason, where no mirror answers for the system that $SPARK_LAB_OS names. What fails otherwise is
    a failure."""
    if os.geteuid() != 0:
        return  # the tests say so themselves
    built = speed.run([LAB, "root"], 1200, check=False, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if "found no answer from" in built.stderr:
        print(f"skipped: there is no root file system: {built.stderr.strip()}")
        sys.exit(77)
    if built.returncode != 0:
        sys.exit(built.stderr)


class LabTest(unittest.TestCase):
    """One lab per class; `nodes` and `options` say which."""

    nodes = 2
    options = ()

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("the lab needs root")
        cls.lab = Lab(cls.nodes, *cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.lab.down()

    def spark(self, *arguments, expect):
        """Runs the program and requires its exit code. A failure shows all that it printed; the end of it, where the reason
        stands, comes first, since a record of the tests may keep the first lines only."""
        done = self.lab.spark(*arguments)
        if done.returncode != expect:
            printed = (done.stdout + done.stderr).splitlines()
            end = [line for line in printed if "-done " not in line][-30:]
            self.assertEqual(done.returncode, expect, "\n".join(
                [" ".join(arguments), *end, "", *self.describe_nodes(), "", "all of it:", *printed]))
        return done

    def describe_nodes(self):
        """Addresses, load and the end of the journal of each node, as lines: the cause of a failure that does not happen
        again may stand there."""
        script = ("cat /proc/uptime /proc/loadavg; ip -brief address; journalctl -q --no-pager -o short-precise "
                  "-u systemd-networkd -u NetworkManager -n 12; dmesg 2>/dev/null | grep -v audit | tail -n 6")
        lines = []
        for node in range(1, self.nodes + 1):
            try:
                printed = self.lab.lab("sh", str(node), script, check=False).stdout
            except speed.GaveUp as error:
                printed = str(error)
            lines += [f"spark-{node}:", *("  " + line for line in printed.splitlines())]
        return lines

    def profile_file(self, node, name):
        """Where NetworkManager keeps a profile: in a keyfile, or, as Ubuntu's does, in a netplan file."""
        return self.lab.sh(node, f"grep -lsF 'name: \"{name}\"' /etc/netplan/90-NM-*.yaml || "
                                 f"echo /etc/NetworkManager/system-connections/{name}.nmconnection").strip()

    def variant_of(self, manifest, *replacements):
        """The manifest with other text, as a file of its own that the end of the test takes away."""
        with open(manifest, encoding="utf-8") as file:
            text = file.read()
        for old, new in replacements:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.written(text)

    def written(self, text):
        """A manifest as a file, which the end of the test takes away."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "cluster.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def plan(self, manifest, *options):
        return json.loads(self.spark("plan", manifest, "--format", "json", *options, expect=0).stdout)

    def changes(self, plan, node=None):
        """The plan's changes without the blocked ones, as (node, kind, name)."""
        return [(change["node"], change["kind"], change["name"])
                for stage in plan["stages"] for change in stage["changes"]
                if change["change"] != "blocked" and node in (None, change["node"])]

    def assert_empty_plan(self, manifest):
        plan = self.plan(manifest)
        self.assertEqual(self.changes(plan), [])
        self.assertEqual(plan["blocked"], 0)
        self.assertEqual([one for one in plan["diagnostics"] if one["severity"] != "informs"], [])


def cluster(name):
    return os.path.join(CLUSTERS, name)
