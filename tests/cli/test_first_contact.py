"""From nothing to a manifest, and the first look at its nodes."""

import concurrent.futures
import errno
import os
import pty
import re
import signal
import termios
import unittest

from spark_cli import MANIFEST, OUT_OF_REACH, PROGRAM, REFUSED, ROOT, CliTest, speed

NEXT = """\
{0} is written: {1} nodes. Put in the nodes' names, management addresses and subnets, then:
  spark-reconcile validate {0}
  spark-reconcile trust {0}
  spark-reconcile access {0}
  spark-reconcile plan {0}
"""


def prompted(test, arguments, question):
    """The program on a terminal of its own, when it has shown the question: its process and the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.chdir(test.folder)
            os.execv(PROGRAM, [PROGRAM, *arguments])
        finally:
            os._exit(127)
    test.addCleanup(os.close, terminal)
    shown = b""
    while question not in shown:
        shown += os.read(terminal, 4096)
    return child, terminal


def read_rest(terminal):
    """What comes until the program's end closes its side, in however many pieces."""
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    return shown.decode()


class Init(CliTest):
    def test_what_it_writes_is_the_example_of_the_topology_and_valid(self):
        for topology, nodes, example in (("direct", 2, "pair.yaml"), ("ring", 3, "ring-3.yaml")):
            with self.subTest(topology):
                name = topology + ".yaml"
                self.assert_ends(self.spark("init", name, "--topology", topology), 0, out=NEXT.format(name, nodes))
                with open(os.path.join(ROOT, "manifests", example), encoding="utf-8") as file:
                    self.assertEqual(self.read(name), file.read().split("\n", 1)[1])
                self.assertEqual(self.spark("validate", name).returncode, 0)

    def test_a_file_that_is_there_stays(self):
        self.assert_ends(self.spark("init"), 1, out="",
                         err="cluster.yaml: cannot be written: File exists\n"
                             "  hint: name another file, or '-' to print the manifest\n")
        self.assertEqual(self.read("cluster.yaml"), MANIFEST)

    def test_addresses_and_user_stand_in_it(self):
        done = self.spark("init", "-", "--topology", "switch", "--user", "ada", "--address", "10.0.0.7", "--address",
                          "10.0.0.8", "--address", "10.0.0.9")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# 3 DGX Sparks on a switch.\n", done.stdout)
        self.assertIn("access: {user: ada, become: sudo, host_keys: strict}\n", done.stdout)
        self.assertIn("  - {name: spark-3, address: 10.0.0.9}\n\nfabric:\n", done.stdout)
        written = self.spark("init", "new.yaml", "--address", "10.0.0.7", "--address", "10.0.0.8")
        self.assert_ends(written, 0, out=NEXT.format("new.yaml", 2).replace("Put in", "Check"))

    def test_nodes_that_do_not_fit_the_topology_write_nothing(self):
        self.assert_ends(self.spark("init", "new.yaml", "--nodes", "3"), 1, out="",
                         err="--topology direct: wanted 2 nodes for one cable between them, found 3\n")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "new.yaml")))

    def test_an_address_that_is_none_writes_nothing(self):
        done = self.spark("init", "new.yaml", "--address", "192.168.177.1", "--address", "192.168.1.5")
        self.assert_ends(done, 1, out="", err="""\
the given options: management address 192.168.177.1 of node 'spark-1' lies in fabric subnet 192.168.177.0/24
  hint: the fabric needs subnets that nothing else uses; if a port of the fabric has this address, write the node's address on another network, such as RJ45 or Wi-Fi: an apply changes that port
""")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "new.yaml")))

    def test_an_address_with_a_port_is_refused_before_any_node_is_read(self):
        for address in ("127.0.0.1:22", "ada@127.0.0.1:22"):
            self.assert_ends(self.spark("discover", address, "127.0.0.2"), 1, out="", err="""\
wanted an address without a port, found '127.0.0.1:22'
  hint: give it an entry in ~/.ssh/config with its Port, and name that
""")


class Prompt(CliTest):
    def start(self, *command):
        """The program at its prompt for a password, on a terminal of its own."""
        child, terminal = prompted(self, [*(command or ["plan"]), "--prompt-sudo-password"], b"sudo password on the nodes: ")
        self.assertTrue(speed.eventually(lambda: not self.echoes(terminal), 5, 0.02))
        return child, terminal

    @staticmethod
    def echoes(terminal):
        return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

    def test_a_signal_at_the_prompt_ends_it_and_the_terminal_echoes_again(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            child, terminal = self.start()
            os.kill(child, number)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -number)
            self.assertTrue(self.echoes(terminal))

    def test_an_input_that_ends_or_is_empty_is_no_password(self):
        for typed in (b"\x04", b"\n", b"sec\x03"):
            child, terminal = self.start()
            os.write(terminal, typed)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 1)
            self.assertTrue(self.echoes(terminal))
            self.assertTrue(read_rest(terminal).endswith("\r\nno password was typed\r\n"))

    def test_a_command_line_that_runs_nothing_prompts_for_nothing(self):
        done = self.spark("plan", "--prompt-sudo-password", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("Every command also takes --no-color, --parallelism and "
                                              "--prompt-sudo-password.\n"), done.stdout)
        self.assert_ends(self.spark("plan", "--prompt-sudo-password", "--nonsense"), 1, out="",
                         err="unknown option '--nonsense'\n  hint: `spark-reconcile plan --help` lists what it takes\n")

    def test_two_ways_to_a_sudo_with_a_password_exclude_each_other(self):
        child, terminal = self.start("access", "--fix", "--sudoers")
        os.write(terminal, b"secret\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 1)
        self.assertTrue(read_rest(terminal).endswith(
            "wanted one of --sudoers and --prompt-sudo-password, found both\r\n"
            "  hint: --sudoers prompts for each password that it needs\r\n"))


class Nodes(CliTest):
    def setUp(self):
        super().setUp()
        self.spark("init", "switch.yaml", "--topology", "switch", "--nodes", "3")

    def test_a_node_is_added_and_removed_and_the_diff_is_shown(self):
        before = self.read("switch.yaml")
        os.chmod(os.path.join(self.folder, "switch.yaml"), 0o640)
        line = "  - {name: spark-4, address: 192.168.1.24}\n"
        done = self.spark("add-node", "spark-4", "192.168.1.24", "switch.yaml")
        self.assert_ends(done, 0, err="")
        self.assertIn("+" + line, done.stdout)
        self.assertTrue(done.stdout.endswith("\ncables (p0 is the left cage, p1 the right one, seen from the back):\n"
                                             "  spark-4 p1 to the switch\nnext: spark-reconcile trust switch.yaml, access switch.yaml, plan "
                                             "switch.yaml; then apply switch.yaml\n"), done.stdout)
        self.assertEqual(self.read("switch.yaml").replace(line, "").replace("# 4 DGX", "# 3 DGX", 1), before)
        self.assertEqual(os.stat(os.path.join(self.folder, "switch.yaml")).st_mode & 0o777, 0o640)
        refused = self.spark("remove-node", "spark-4", "switch.yaml")
        self.assertIn("-" + line, refused.stdout)
        keeps = ("note: spark-4 keeps what was applied to it, unless `spark-reconcile uninstall switch.yaml --node spark-4` ran before: "
                 "afterwards switch.yaml does not name it\n")
        self.assertTrue(refused.stdout.endswith(keeps), refused.stdout)
        self.assert_ends(refused, 1,
                         err="nothing was changed: there is no terminal to confirm on\n"
                             "  hint: run `spark-reconcile uninstall switch.yaml --node spark-4`, then give --yes\n")
        done = self.spark("remove-node", "spark-4", "switch.yaml", "--yes")
        self.assert_ends(done, 0, err="")
        self.assertIn("-" + line, done.stdout)
        self.assertTrue(done.stdout.endswith(keeps + "next: spark-reconcile plan switch.yaml; then apply switch.yaml "
                                                     "--allow-node-removal\n"), done.stdout)
        self.assertEqual(self.read("switch.yaml"), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["cluster.yaml", "switch.yaml"])

    def test_a_node_goes_from_adopt_too(self):
        before = self.read("switch.yaml")
        adopt = "adopt:\n  - {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: aaaaaaaaaaaa%s}}\n"
        self.write("switch.yaml", before + adopt % ", spark-3: bbbbbbbbbbbb"
                   + "  - {unit: fabric.service, nodes: {spark-3: cccccccccccc}}\n")
        self.assert_ends(self.spark("remove-node", "spark-3", "switch.yaml", "--yes"), 0, err="")
        self.assertTrue(self.read("switch.yaml").endswith(adopt % ""), self.read("switch.yaml"))

    def test_the_old_name_of_a_removed_node_goes_from_moved_and_that_is_said(self):
        before = self.read("switch.yaml")
        self.write("switch.yaml", before + "moved: {nodes: {gx10: spark-3}}\n")
        done = self.spark("remove-node", "spark-3", "switch.yaml", "--yes")
        self.assert_ends(done, 0, err="")
        self.assertIn("\nnote: `moved` no longer says that gx10 was renamed to spark-3\n", done.stdout)
        self.assertNotIn("moved", self.read("switch.yaml"))

    def test_edits_at_the_same_time_are_all_in_it(self):
        numbers = range(4, 8)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = list(pool.map(lambda n: self.spark("add-node", f"spark-{n}", f"192.168.1.{20 + n}", "switch.yaml"), numbers))
        waits = rf"(?:waiting for another edit of a file in {re.escape(os.path.realpath(self.folder))}(?: \(process \d+\))?\n)?"
        for done in runs:  # on a slow machine one waits for longer than a second
            self.assert_ends(done, 0)
            self.assertRegex(done.stderr, rf"\A{waits}\Z")
        for number in numbers:
            self.assertIn(f"name: spark-{number},", self.read("switch.yaml"))

    def test_an_edit_while_a_question_waits_is_not_lost(self):
        child, terminal = prompted(self, ["remove-node", "spark-3", "switch.yaml"], b"Type 'yes' to continue: ")
        self.assert_ends(self.spark("add-node", "spark-4", "192.168.1.24", "switch.yaml"), 0, err="")
        before = self.read("switch.yaml")
        os.write(terminal, b"yes\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 1)
        said = read_rest(terminal)
        self.assertTrue(said.endswith("switch.yaml: was changed meanwhile\r\n  hint: run the command again\r\n"), said)
        self.assertEqual(self.read("switch.yaml"), before)

    def test_a_name_with_a_blank_is_quoted_in_commands(self):
        done = self.spark("init", "my switch.yaml", "--topology", "switch")
        self.assertIn("my switch.yaml is written: 4 nodes. ", done.stdout)
        self.assertIn("\n  spark-reconcile plan 'my switch.yaml'\n", done.stdout)
        done = self.spark("add-node", "spark-5", "192.168.1.25", "my switch.yaml")
        self.assertTrue(done.stdout.endswith("\nnext: spark-reconcile trust 'my switch.yaml', access 'my switch.yaml', "
                                             "plan 'my switch.yaml'; then apply 'my switch.yaml'\n"), done.stdout)
        done = self.spark("remove-node", "spark-5", "my switch.yaml", "--yes")
        self.assertIn("unless `spark-reconcile uninstall 'my switch.yaml' --node spark-5` ran before: afterwards my switch.yaml "
                      "does not name it\n", done.stdout)
        self.assertTrue(done.stdout.endswith("next: spark-reconcile plan 'my switch.yaml'; then apply 'my switch.yaml' "
                                             "--allow-node-removal\n"), done.stdout)

    def test_an_edit_that_makes_no_valid_manifest_changes_nothing(self):
        before = self.read("switch.yaml")
        done = self.spark("add-node", "spark-4", "192.168.177.9", "switch.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith(
            "switch.yaml was not changed: with this edit alone it would have the errors above\n"
            "  hint: make the edit by hand, with what else belongs to it\n"), done.stderr)
        self.assertEqual(self.read("switch.yaml"), before)


class OutOfReach(CliTest):
    def test_trust_says_which_keys_it_could_not_read(self):
        self.assert_ends(self.spark("trust"), 3, err=REFUSED,
                         out="NODE     ADDRESS    HOST KEY  KNOWN HOSTS\n"
                             "spark-2  127.0.0.1  -         see the error\n")

    def test_trust_has_nothing_to_do_for_this_machine(self):
        self.assert_ends(self.spark("trust", "--node", "spark-1"), 0, err="",
                         out="no node is reached over ssh: there is no host key to know\n")

    def test_discover_wants_two_nodes(self):
        self.assert_ends(self.spark("discover", "127.0.0.1"), 1, out="",
                         err="wanted the addresses of 2 to 64 nodes, found 1\n")

    def test_discover_writes_nothing_where_a_node_is_not_read(self):
        # Without any network: nothing leaves this machine.
        done = self.spark("discover", "--user", "nobody", "-o", "new.yaml", "192.0.2.1", "192.0.2.2", before=("unshare", "-rn"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertTrue(done.stderr.endswith("where a host key is not known: compare it as said above, then give "
                                             "--accept-new\n"), done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "new.yaml")))

    def test_discover_takes_a_user_for_each_node(self):
        done = self.spark("discover", "ada@192.0.2.1", "192.0.2.2", before=("unshare", "-rn"))
        self.assertEqual(done.returncode, 3, done.stderr)
        done = self.spark("discover", "ada lovelace@192.0.2.1", "192.0.2.2")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("a login name", done.stderr)

    def test_discover_does_not_begin_where_the_file_is_there(self):
        self.assert_ends(self.spark("discover", "-o", "cluster.yaml", "127.0.0.2", "127.0.0.3"), 1, out="",
                         err="cluster.yaml: is there already\n"
                             "  hint: name another file, or '-' to print the manifest\n")

    def test_discover_takes_its_hosts_from_one_place(self):
        for arguments in ((), ("127.0.0.2", "127.0.0.3", "--mdns"), ("--mdns", "--known-hosts")):
            with self.subTest(arguments):
                self.assert_ends(self.spark("discover", *arguments), 1, out="",
                                 err="wanted either addresses of nodes, --mdns or --known-hosts\n"
                                     "  hint: see `spark-reconcile discover --help`\n")

    def test_discover_matches_only_what_it_found_itself(self):
        self.assert_ends(self.spark("discover", "--match", "spark-[12]", "127.0.0.2", "127.0.0.3"), 1, out="",
                         err="--match: wanted --mdns or --known-hosts with it, found addresses\n"
                             "  hint: give the addresses alone\n")

    def test_discover_says_which_known_hosts_it_leaves_out(self):
        self.assert_ends(self.spark("discover", "--known-hosts"), 1, out="",
                         err=f"{self.folder}/.ssh/known_hosts: cannot be read: No such file or directory\n")
        os.mkdir(os.path.join(self.folder, ".ssh"))
        self.write(".ssh/known_hosts", "spark-1,127.0.0.2 ssh-ed25519 A\nnas,127.0.0.9,127.0.0.10 ssh-ed25519 B\n"
                                       "|1|c2FsdA==|aGFzaA== ssh-ed25519 C\n")
        self.assert_ends(self.spark("discover", "--known-hosts"), 1, out="",
                         err="known_hosts: 1 hashed line (HashKnownHosts): their names cannot be read\n"
                             "left out, as nothing of them matches 'spark*' (see --match):\n"
                             "  nas  127.0.0.9  (also 127.0.0.10)\n"
                             "wanted 2 machines or more that match 'spark*', found 1 in known_hosts\n"
                             "  hint: give another --match, or the nodes' addresses\n")
        done = self.spark("discover", "--known-hosts", "--match", "*[sk]*")
        self.assertTrue(done.stderr.startswith("known_hosts: 1 hashed line (HashKnownHosts): their names cannot be read\n"
                                               "found in known_hosts:\n  spark-1  127.0.0.2\n"
                                               "  nas      127.0.0.9  (also 127.0.0.10)\n"), done.stderr)

    def test_discover_says_why_there_is_no_mdns(self):
        for code, says, err in (
                (127, "", "avahi-browse: is not installed on this machine\n"
                          "  hint: install avahi-utils, or give the nodes' addresses\n"),
                (1, "Failed to create client object: Daemon not running",
                 "avahi-browse: exit 1: Failed to create client object: Daemon not running\n"
                 "  hint: check avahi-daemon on this machine, or give the nodes' addresses\n"),
                (0, "", "wanted 2 machines or more that match 'spark*', found 0 by mDNS\n"
                        "  hint: give another --match, or the nodes' addresses\n")):
            with self.subTest(code):
                self.write("avahi-browse", f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
                os.chmod(os.path.join(self.folder, "avahi-browse"), 0o755)
                done = self.spark("discover", "--mdns", before=("env", f"PATH={self.folder}:{os.environ['PATH']}"))
                self.assert_ends(done, 1, out="", err=err)

    def test_access_says_it_of_all_nodes(self):
        self.write("cluster.yaml", OUT_OF_REACH)
        done = self.spark("access")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "NODE     ADDRESS    HOST KEY  LOGIN  ROOT\n"
                                      "spark-1  127.0.0.2  -         -      -\n"
                                      "spark-2  127.0.0.1  -         -      -\n")
        self.assertIn("spark-1 (127.0.0.2:1): connection refused\n", done.stderr)
        self.assertIn(REFUSED, done.stderr)


if __name__ == "__main__":
    unittest.main()
