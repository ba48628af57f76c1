"""A pair of nodes that moves between known states: bare, and the two that the manifests a and b describe."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from spark_lab import LAB, PROGRAM, Lab, speed  # noqa: E402

import node_state  # noqa: E402

NODES = (1, 2)
# Where a node's own wrapper of a command stands; before the system's in the PATH of every script of ours.
WRAPPERS = "/usr/local/sbin"
# Seconds; TCP sends what was lost in a cut of ten seconds again within 20, and a node ends a session that is silent after 40 (its last
# request may take 10, and 30 are waited).
LOCK_S = 50
STATES = os.environ.get("SPARK_LAB_STATE", "/run/spark-reconcile-lab")


# What the program prints of its plan and of each step that went well.
CHATTER = re.compile(r"\d\d:\d\d:\d\d spark-\d: .*(done|started)|  [-+~!] |spark-\d  \d")


class Broken(Exception):
    """What was wanted of a row does not hold; says what and where."""


class NotRun(Exception):
    """This row or step cannot be run here; says why. It never counts as held."""


class Controller:
    """The program under test, running."""

    def __init__(self, run, arguments, folder):
        self.paths = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        with open(self.paths[0], "w", encoding="utf-8") as out, open(self.paths[1], "w", encoding="utf-8") as err:
            self.process = speed.start([LAB, "exec", "--run", run, "--", PROGRAM, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, start_new_session=True)
        self.killed = False

    def signal(self, number):
        self.killed |= number == signal.SIGKILL
        os.killpg(self.process.pid, number)

    def exit(self, limit_s):
        """Its exit code; None when it was killed by us."""
        try:
            speed.wait(self.process, limit_s)
        except speed.GaveUp:
            self.end()
            raise Broken(f"the program did not end; {speed.gave_up(limit_s)}\n{self.said()}") from None
        return None if self.killed else self.process.returncode

    def ended(self):
        """Whether it has ended, and not by us."""
        return not self.killed and self.process.poll() is not None

    def end(self):
        if self.process.poll() is None:
            self.signal(signal.SIGKILL)
        self.process.wait()

    def said(self):
        """Both outputs, without the plan and what went well."""
        text = ""
        for path in self.paths:
            with open(path, encoding="utf-8", errors="replace") as source:
                text += "".join(line[:200].rstrip() + "\n" for line in source if not CHATTER.match(line))
        return text


class Pair:
    """One lab run of two nodes."""

    def __init__(self, manifests, options, program_options):
        self.folder = tempfile.mkdtemp(prefix="faults-")
        self.manifests = manifests
        self.program_options = program_options  # of every apply
        self.lab = Lab(len(NODES), "--topology", "switch", *options)
        self.at = "bare"
        self.known = {}
        self.calls = {}  # (from, to) -> {node: [line of the wrapper per call of sync]}
        try:
            self.prepare()
        except BaseException:
            self.down()
            raise

    def down(self):
        self.lab.down()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The known states.

    def prepare(self):
        for node in NODES:
            self.install(node, "sync")
            # Every login of the program would run these for no one.
            self.lab.sh(node, "chmod -x /etc/update-motd.d/* 2>/dev/null || :")
        for node in NODES:
            upper = self.upper(node)
            subprocess.run(["cp", "-a", "--", upper, upper + ".pristine"], check=True)
        self.bare()
        self.known["bare"] = self.read()
        self.learn("bare", "a")
        first = self.known["a"]
        self.learn("a", "b")
        self.learn("b", "a")
        for node in NODES:
            odd = node_state.differences(first[node], self.known["a"][node])
            if odd:
                raise Broken(f"spark-{node} from bare is not what it is from the other state: {'; '.join(odd)}")

    def learn(self, here, there):
        """One clean apply: what it makes, and what it calls on its way."""
        for node in NODES:
            self.count(node, "sync")
        self.converge(there)
        self.known[there] = self.read()
        self.calls[here, there] = {node: self.numbered(node, "sync") for node in NODES}
        self.clear()

    def converge(self, there, tries=1):
        """A plain apply, nothing in its way. A dead session's lock goes when its last packets have come through."""
        end = time.monotonic() + speed.scaled(LOCK_S)
        while True:
            done = self.lab.spark("apply", self.manifests[there], "--yes", "--brief", "--no-verify")
            if done.returncode == 0:
                self.at = there
                return
            if done.returncode == 9 and time.monotonic() < end:
                time.sleep(1)
                continue
            tries -= 1
            if tries == 0:
                raise Broken(f"a plain apply exits {done.returncode}\n{done.stderr}")

    def bare(self):
        """Both nodes as they were when the lab came up, whatever is on them now."""
        self.each(lambda node: self.lab.lab("stop", "--hard", str(node)))
        self.lab.lab("reconnect")
        self.lab.lab("dhcp", "stop")
        for node in NODES:
            upper = self.upper(node)
            shutil.rmtree(upper)
            subprocess.run(["cp", "-a", "--", upper + ".pristine", upper], check=True)
        self.each(lambda node: self.lab.lab("start", str(node)))
        self.at = "bare"

    def go(self, wanted):
        """To a known state, by the shortest way; an apply only where that is what leads there."""
        if self.at != wanted:
            if wanted == "bare" or self.at is None:
                self.bare()
            if wanted != "bare":
                self.converge(wanted)

    def upper(self, node):
        return f"{STATES}/{self.lab.run}/nodes/{node}/upper"

    @staticmethod
    def each(work):
        threads = [threading.Thread(target=work, args=(node,)) for node in NODES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def read(self):
        return {node: node_state.read(self.lab.run, node) for node in NODES}

    def reachable(self):
        """Whether every node takes connections for ssh; after a cut the controller's ARP needs a moment."""
        tries = " && ".join(f"exec 3<>/dev/tcp/192.168.1.{20 + node}/22" for node in NODES)
        return self.lab.lab("exec", "timeout", "2", "bash", "-c", tries, check=False).returncode == 0

    def locked(self):
        """Nodes on which a session's shell still holds the lock."""
        return [node for node in NODES if node_state.locked(self.lab.run, node)]

    def guarded(self):
        return [node for node in NODES if node_state.guarded(self.lab.run, node)]

    # What stands before the nodes' commands.

    def order_file(self, node, name, *path):
        at = node_state.root(self.lab.run, node)
        if at is None:
            raise Broken(f"wanted spark-{node} running, found it off")
        return os.path.join(at, "run/faults", name, *path)

    def install(self, node, name):
        at = f"{node_state.root(self.lab.run, node)}{WRAPPERS}/{name}"
        if not os.path.exists(at):
            shutil.copy(os.path.join(HERE, "wrapper.sh"), at)
            os.chmod(at, 0o755)

    def order(self, node, name, what, value=""):
        self.install(node, name)
        os.makedirs(self.order_file(node, name), exist_ok=True)
        with open(self.order_file(node, name, what), "w", encoding="utf-8") as target:
            target.write(value + "\n")

    def count(self, node, name):
        shutil.rmtree(self.order_file(node, name), ignore_errors=True)
        self.order(node, name, "count", "1")

    def gate(self, node, name, number):
        self.count(node, name)
        self.order(node, name, "hold")
        self.order(node, name, "stop", str(number))

    def numbered(self, node, name):
        lines = []
        while os.path.exists(self.order_file(node, name, str(len(lines) + 1))):
            with open(self.order_file(node, name, str(len(lines) + 1)), encoding="utf-8") as line:
                lines.append(line.read().strip())
        return lines

    def release(self):
        for node in NODES:
            at = node_state.root(self.lab.run, node)
            if at:
                for name in os.listdir(at + "/run/faults") if os.path.isdir(at + "/run/faults") else ():
                    if os.path.exists(self.order_file(node, name, "hold")):
                        os.remove(self.order_file(node, name, "hold"))

    def clear(self):
        """No wrapper does anything any more; those that are not there from the start go."""
        self.release()
        for node in NODES:
            at = node_state.root(self.lab.run, node)
            if at:
                shutil.rmtree(at + "/run/faults", ignore_errors=True)
                for name in os.listdir(at + WRAPPERS):
                    if name != "sync":
                        os.remove(f"{at}{WRAPPERS}/{name}")
