"""What a person sees on a terminal of 110 and of 60 columns, from the first plan to the uninstall: the whole text, in 110.txt and
60.txt. SPARK_TEST_ACCEPT=1 writes them."""

import os
import re
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import LabTest  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# No value of it depends on the machine that the lab runs on.
MANIFEST = """\
api_version: spark-reconcile/v1
cluster: lab
access: {user: nvidia, become: sudo, host_keys: strict}
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22, aliases: [trainer]}
fabric:
  topology: direct
  subnets: [192.168.177.0/24, 192.168.178.0/24]
sysctl: {net.ipv4.tcp_mtu_probing: 1}
ssh: {mesh: true}
verify: {level: link}
"""
YES = [("Type 'yes' to continue: ", "yes\n")]
# By hand, on spark-1.
DRIFT = "sysctl -qw net.ipv4.tcp_mtu_probing=2; sed -i 's/mtu: 9000/mtu: 1500/' /etc/netplan/60-spark-reconcile.yaml"
# The command, its exit code, what is typed, and what is done on spark-1 before it.
SESSION = (("plan {} --brief", 0, [], ""), ("apply {} --brief --no-verify", 0, YES, ""), ("status {}", 0, [], ""),
           ("plan {}", 0, [], DRIFT), ("status {}", 0, [], ""),
           ("apply {} --brief --no-verify --overwrite-edited", 0, YES, ""), ("cabling {}", 0, [], ""), ("access {}", 0, [], ""),
           ("lock list {}", 0, [], ""), ("drill {} --node spark-1 --revert-after 5", 0, [], ""),
           ("uninstall {} --brief", 0, YES, ""))
REDRAW = re.compile("\r\033\\[([0-9]+)A\033\\[J")


def last_screen(shown):
    """What stands there in the end: lines that were drawn again count once."""
    pieces = REDRAW.split(shown)
    lines = pieces[0].split("\n")
    for count, text in zip(pieces[1::2], pieces[2::2]):
        lines = lines[:len(lines) - 1 - int(count)] + text.split("\n")
    return "\n".join(line.split("\r\033[K")[-1].rstrip("\r") for line in lines)


def without_chance(text, manifest):
    """Times, processes and ids as N, without another width of what is wrapped."""
    text = text.replace(manifest, "cluster.yaml")
    text = re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}", "2026-01-01 00:00", text)
    text = re.sub(r"\b[0-9]+(\.[0-9])? s\b", "N s", text)
    text = re.sub(r"(?m)^[0-9:]{8} ", "00:00:00 ", text)
    text = re.sub(r"\S+@\S+ pid [0-9]+", "USER@HOST pid N", text)
    return re.sub(r"journal/[0-9a-f]{8}-[0-9a-f]*(\n +)?[0-9a-f]*", r"journal/APPLY\1", text)


class Terminal(LabTest):
    """Not a test of its own: one lab per width, so that each begins with nodes on which nothing was applied."""

    options = ("--topology", "direct")

    def record(self, columns):
        os.environ["TERM"] = "xterm"
        manifest = self.written(MANIFEST)
        text = ""
        for command, code, typed, before in SESSION:
            if before:
                self.lab.sh(1, before)
            words = ["--no-color", *command.format(manifest).split()]
            found, shown = self.lab.spark_on_terminal(words, typed, limit_s=300, columns=columns)
            self.assertEqual(found, code, shown)
            text += f"$ spark-reconcile {command.format('cluster.yaml')}\n{without_chance(last_screen(shown), manifest)}\n"
        return text

    def assert_as_recorded(self, columns):
        text = self.record(columns)
        path = os.path.join(HERE, f"{columns}.txt")
        if os.environ.get("SPARK_TEST_ACCEPT"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.skipTest(f"{path} written: review it")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(text, file.read())
        # Commands that are copied stay whole.
        wide = [line for line in text.splitlines() if len(line) > columns and not line.startswith(("$ ", "Applied: ", "Uninstalled: "))]
        self.assertEqual(wide, [])


class At110Columns(Terminal):
    def test_a_session_reads_like_this(self):
        self.assert_as_recorded(110)


class At60Columns(Terminal):
    def test_a_session_reads_like_this(self):
        self.assert_as_recorded(60)


if __name__ == "__main__":
    unittest.main()
