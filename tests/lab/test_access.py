"""Who may not log in, or not become root, is named; the other nodes' results are whole."""

import os
import unittest

from spark_lab import PROGRAM, LabTest, cluster

PAIR = cluster("pair.yaml")


def is_of(line, address):
    """Whether a known_hosts line is about that address."""
    return address in line.split()[0].split(",")


class Access(LabTest):
    def known_hosts(self):
        home = self.lab.lab("exec", "--", "sh", "-c", "echo $HOME").stdout.strip()
        return os.path.join(home, ".ssh", "known_hosts")

    def refused(self):
        done = self.spark("plan", PAIR, "--brief", expect=3)
        self.assertIn("spark-1  192.168.1.21\n  + file", done.stdout)
        return done.stderr

    def test_sudo_that_requires_a_password_names_the_node_and_the_remedy(self):
        rule = self.lab.sh(2, "grep -l NOPASSWD /etc/sudoers.d/*").strip()
        self.lab.sh(2, f"cp -p {rule} /root/rule; sed -i 's/NOPASSWD://' {rule}")
        try:
            self.assertEqual(self.refused(),
                             "spark-2: sudo wants a password for user 'nvidia'\n"
                             "  hint: give --prompt-sudo-password, or put 'nvidia ALL=(ALL) NOPASSWD: ALL' into "
                             "/etc/sudoers.d/spark-reconcile on spark-2 (with visudo -f)\n")
        finally:
            self.lab.sh(2, f"mv /root/rule {rule}")
        self.spark("plan", PAIR, expect=0)

    def test_a_node_that_takes_no_login_says_why(self):
        lost = ("spark-2 (192.168.1.22): the last message of sshd in the login as nvidia is '{}', and then the connection was lost\n"
                "  hint: if that message is about the login: a node that is starting or stopping lets in only root, and an "
                "account may be locked or expired\n")
        for command, revert, error in (
                ("echo 'System is going down.' >/run/nologin", "rm /run/nologin", lost.format("System is going down.")),
                ("chage -E 2000-01-01 nvidia", "chage -E -1 nvidia",
                 lost.format("Your account has expired; please contact your system administrator.")),
                ("chage -d 0 nvidia", "chage -d 20000 -M -1 nvidia",
                 "spark-2: the login ran no script: Password change required but no TTY available.\n"
                 "  hint: log in by hand to see why: an expired password, a forced command or a shell that is no POSIX "
                 "shell prevents it, and so does a full disk or memory\n")):
            self.lab.sh(2, command)
            try:
                self.assertEqual(self.refused(), error)
            finally:
                self.lab.sh(2, revert)
        self.spark("plan", PAIR, expect=0)

    def test_the_printed_lines_of_sudoers_are_enough(self):
        text = self.spark("access", "sudoers", PAIR, expect=0).stdout
        rule = self.lab.sh(2, "grep -l NOPASSWD /etc/sudoers.d/*").strip()
        self.lab.sh(2, f"cp -p {rule} /root/rule; cat >{rule} <<'TEXT'\n{text}TEXT\nvisudo -cqf {rule}")
        try:
            self.assertEqual(self.lab.lab("ssh", "2", "sudo -n true", check=False).returncode, 1)
            self.spark("access", PAIR, expect=0)
            self.spark("plan", PAIR, "--brief", expect=0)
            self.spark("drill", PAIR, "--node", "spark-2", "--revert-after", "5", expect=0)
        finally:
            self.lab.sh(2, f"mv /root/rule {rule}")

    def test_a_changed_host_key_is_refused_with_the_line_to_check(self):
        path = self.known_hosts()
        with open(path, encoding="utf-8") as source:
            lines = source.read().splitlines()
        other = {line.split()[1]: line.split()[2] for line in lines if is_of(line, "192.168.1.21")}
        forged = [line if not is_of(line, "192.168.1.22") else
                  " ".join([*line.split()[:2], other[line.split()[1]]]) for line in lines]
        try:
            with open(path, "w", encoding="utf-8") as target:
                target.write("\n".join(forged) + "\n")
            said = self.refused()
            # Both of its keys are forged; the one of the type that the node offers is named.
            number = next(i for i, line in enumerate(forged, 1)
                          if is_of(line, "192.168.1.22") and " ssh-ed25519 " in line)
            self.assertIn(f"{path}:{number}", said)
            self.assertIn("-R '192.168.1.22'", said)
        finally:
            with open(path, "w", encoding="utf-8") as target:
                target.write("\n".join(lines) + "\n")
        self.spark("plan", PAIR, expect=0)

    def test_an_unknown_host_is_refused(self):
        path = self.known_hosts()
        with open(path, encoding="utf-8") as source:
            text = source.read()
        try:
            with open(path, "w", encoding="utf-8") as target:
                target.writelines(line + "\n" for line in text.splitlines()
                                  if not is_of(line, "192.168.1.22"))
            self.assertIn("SHA256:", self.refused())
        finally:
            with open(path, "w", encoding="utf-8") as target:
                target.write(text)

    def remove_known(self, *addresses):
        """Takes the addresses out of known_hosts, and puts them back at the end of the test."""
        path = self.known_hosts()
        with open(path, encoding="utf-8") as source:
            text = source.read()
        with open(path, "w", encoding="utf-8") as target:
            target.writelines(line + "\n" for line in text.splitlines()
                              if not any(is_of(line, address) for address in addresses))

        def restore():
            with open(path, "w", encoding="utf-8") as target:
                target.write(text)
        self.addCleanup(restore)
        return path

    def test_trust_shows_every_key_in_one_table_and_adds_the_new_ones(self):
        path = self.remove_known("192.168.1.22")
        own = {node: self.lab.sh(node, "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").split()[1] for node in (1, 2)}
        table = ("NODE     ADDRESS       HOST KEY                                                        KNOWN HOSTS\n"
                 f"spark-1  192.168.1.21  ssh-ed25519 {own[1]}  known\n"
                 f"spark-2  192.168.1.22  ssh-ed25519 {own[2]}  %s\n")
        comparison = ("\nCompare each new key with what the machine itself prints, at its own screen or console:\n"
                      "  ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub\n\n")
        refused = self.spark("trust", PAIR, expect=1)
        self.assertEqual(refused.stdout, table % "new" + comparison)
        self.assertEqual(refused.stderr, "nothing was changed: there is no terminal to confirm on\n  hint: give --yes after "
                                       "the comparison, or to trust the network for once\n")
        done = self.spark("trust", PAIR, "--yes", expect=0)
        self.assertEqual(done.stdout, table % "new" + comparison + "added: spark-2 (192.168.1.22)\n")
        self.remove_known("192.168.1.22")
        question = f"Add 1 host key to {path}? Type 'yes' to continue: "
        code, shown = self.lab.spark_on_terminal(["trust", PAIR], [(question, "y\r")])
        self.assertEqual((code, shown.endswith("\nnothing was changed\n")), (1, True), shown)
        code, shown = self.lab.spark_on_terminal(["trust", PAIR], [(question, "yes\r")])
        self.assertEqual((code, shown.endswith("\nadded: spark-2 (192.168.1.22)\n")), (0, True), shown)
        self.assertEqual(self.spark("trust", PAIR, expect=0).stdout, table % "known")
        with open(path, encoding="utf-8") as source:
            self.assertEqual([line.split()[1] for line in source if is_of(line, "192.168.1.22")], ["ssh-ed25519"])
        self.spark("plan", PAIR, expect=0)

    def test_access_names_what_each_node_lacks_all_at_once(self):
        full = ("NODE     ADDRESS       HOST KEY  LOGIN  ROOT\n"
                "spark-1  192.168.1.21  %s\nspark-2  192.168.1.22  %s\n")
        known = "known     yes    yes"
        self.assertEqual(self.spark("access", PAIR, expect=0).stdout, full % (known, known))
        rule = self.lab.sh(1, "grep -l NOPASSWD /etc/sudoers.d/*").strip()
        self.lab.sh(1, f"cp -p {rule} /root/rule; sed -i 's/NOPASSWD://' {rule}")
        self.addCleanup(self.lab.sh, 1, f"mv /root/rule {rule}")
        self.lab.sh(2, "mv /home/nvidia/.ssh/authorized_keys /root/")
        self.addCleanup(self.lab.sh, 2, "mv -f /root/authorized_keys /home/nvidia/.ssh/")
        done = self.spark("access", PAIR, expect=3)
        self.assertEqual(done.stdout, full % ("known     yes    no", "known     no     -"))
        self.assertIn("spark-1: sudo wants a password for user 'nvidia'\n", done.stderr)
        self.assertIn("spark-2 (192.168.1.22): ", done.stderr)
        self.remove_known("192.168.1.22")
        done = self.spark("access", PAIR, "--node", "spark-2", expect=3)
        self.assertIn("spark-2  192.168.1.22  new       -      -\n", done.stdout)
        self.assertIn("add it with `spark-reconcile trust`", done.stderr)

    def prepare_for_passwords(self, node):
        """The login has a password and no key, and sudo wants that password."""
        rule = self.lab.sh(node, "grep -l NOPASSWD /etc/sudoers.d/*").strip()
        self.lab.sh(node, "echo nvidia:secret-word | chpasswd; mv /home/nvidia/.ssh/authorized_keys /root/"
                          f"; cp -p {rule} /root/rule; sed -i 's/NOPASSWD://' {rule}")
        self.addCleanup(self.lab.sh, node, "usermod -p '*' nvidia; mv -f /root/authorized_keys /home/nvidia/.ssh/"
                                           f"; mv /root/rule {rule}; rm -f /etc/sudoers.d/spark-reconcile")

    def test_fix_adds_the_key_and_the_drop_in_with_passwords_typed_once(self):
        for node in (1, 2):
            self.prepare_for_passwords(node)
        prompts = [(f"password of nvidia on spark-{node} (192.168.1.2{node}): ", "secret-word\r") for node in (1, 2)]
        question = ("Write this line, for the user of each login? Type 'yes' to continue: ", "yes\r")
        code, shown = self.lab.spark_on_terminal(["access", PAIR, "--fix", "--sudoers"], [question, *prompts])
        self.assertEqual(code, 0, shown)
        self.assertNotIn("secret-word", shown)
        for node in (1, 2):
            self.assertIn(f"spark-{node}: added SHA256:", shown)
            self.assertIn(f"spark-{node}: wrote /etc/sudoers.d/spark-reconcile\n", shown)
            self.assertEqual(self.lab.sh(node, "stat -c '%a %U' /etc/sudoers.d/spark-reconcile; visudo -cq && echo valid"),
                             "440 root\nvalid\n")
            self.lab.sh(node, "! journalctl -b --no-pager | grep -q secret-word")
        self.assertTrue(shown.endswith("NODE     ADDRESS       HOST KEY  LOGIN  ROOT\n"
                                       "spark-1  192.168.1.21  known     yes    yes\n"
                                       "spark-2  192.168.1.22  known     yes    yes\n"), shown)
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        done = self.spark("uninstall", PAIR, "--yes", "--access", expect=0)
        self.assertTrue(done.stdout.endswith("spark-1: removed /etc/sudoers.d/spark-reconcile\n"
                                             "spark-2: removed /etc/sudoers.d/spark-reconcile\n"), done.stdout)
        self.assertEqual(self.spark("access", PAIR, expect=3).stdout.count("known     yes    no\n"), 2)

    def require_sudo_password(self, node):
        """The login works with a key, and sudo wants a password."""
        rule = self.lab.sh(node, "grep -l NOPASSWD /etc/sudoers.d/*").strip()
        self.lab.sh(node, f"echo nvidia:secret-word | chpasswd; cp -p {rule} /root/rule; sed -i 's/NOPASSWD://' {rule}")
        self.addCleanup(self.lab.sh, node, f"usermod -p '*' nvidia; mv /root/rule {rule}")

    def test_a_sudo_password_is_typed_once_for_a_run_and_is_left_nowhere(self):
        self.addCleanup(self.lab.spark, "uninstall", PAIR, "--yes")
        self.require_sudo_password(1)  # sudo of the other node wants none
        prompt = [("sudo password on the nodes: ", "secret-word\r")]
        for command in (["apply", PAIR, "--yes", "--brief"], ["plan", PAIR, "--detailed-exitcode"],
                        ["drill", PAIR, "--node", "spark-1"], ["uninstall", PAIR, "--yes", "--brief"]):
            code, shown = self.lab.spark_on_terminal([*command, "--prompt-sudo-password"], prompt, limit_s=300)
            self.assertEqual(code, 0, shown)
            self.assertNotIn("secret-word", shown)
        for node in (1, 2):
            self.assertEqual(self.lab.sh(node, "journalctl -b --no-pager | grep -c 'secret-wor[d]'; "
                                               "grep -rls 'secret-wor[d]' /etc /var/lib /var/log /run /home /root; true"), "0\n")

    def test_a_wrong_sudo_password_is_one_failed_attempt_on_each_node(self):
        for node in (1, 2):
            self.require_sudo_password(node)
        commands = (["plan", PAIR, "--brief"], ["lock", "list", PAIR], ["access", PAIR])
        for command in commands:
            code, shown = self.lab.spark_on_terminal([*command, "--prompt-sudo-password"],
                                                     [("sudo password on the nodes: ", "another\r")])
            self.assertEqual(code, 3, shown)
            for node in (1, 2):
                self.assertIn(f"spark-{node}: sudo refused the password for user 'nvidia'\n"
                              "  hint: type it with care; one password is used on all nodes\n", shown)
        self.assertEqual(shown.count("known     yes    no\n"), 2)
        for node in (1, 2):
            tried = self.lab.sh(node, "journalctl -b --no-pager | grep 'incorrect password attempt'")
            self.assertEqual([line.split(" : ")[1].split(" ;")[0] for line in tried.splitlines()],
                             ["1 incorrect password attempt"] * len(commands))

    def test_a_wrong_password_is_named_and_changes_nothing(self):
        self.prepare_for_passwords(2)
        code, shown = self.lab.spark_on_terminal(["access", PAIR, "--fix"],
                                                 [("password of nvidia on spark-2 (192.168.1.22): ", "secret-word\x7f\r")])
        self.assertEqual(code, 3, shown)
        self.assertIn("spark-2 (192.168.1.22): cannot log in as nvidia: the password was refused\n"
                      "  hint: run it again and type it with care; it is the one of the account there, which takes none while it is "
                      "locked or expired: `passwd -S nvidia` there says so\n", shown)
        self.lab.sh(2, "test ! -e /home/nvidia/.ssh/authorized_keys")

    def test_where_no_passwords_are_taken_that_is_said(self):
        self.prepare_for_passwords(2)
        closed = "/etc/ssh/sshd_config.d/00-keys.conf"
        self.lab.sh(2, f"printf 'PasswordAuthentication no\nKbdInteractiveAuthentication no\n' >{closed}; systemctl reload ssh")
        self.addCleanup(self.lab.sh, 2, f"rm {closed}; systemctl reload ssh")
        code, shown = self.lab.spark_on_terminal(["access", PAIR, "--fix"], [])
        self.assertEqual(code, 3, shown)
        self.assertIn("spark-2 (192.168.1.22): cannot log in as nvidia: no passwords are taken there\n", shown)
        self.assertNotIn("password of nvidia", shown)

    def test_ctrl_c_at_the_prompt_ends_it_and_the_terminal_echoes_again(self):
        self.prepare_for_passwords(2)
        code, shown = self.lab.spark_on_terminal(["access", PAIR, "--fix"], [("password of nvidia on spark-2", "sec\x03")])
        self.assertEqual(code, 1, shown)
        self.assertTrue(shown.endswith("\nno password was typed\n"), shown)

    def test_a_drop_in_of_another_hand_stays(self):
        self.prepare_for_passwords(1)
        self.lab.sh(1, "mv /root/authorized_keys /home/nvidia/.ssh/; cp -p /home/nvidia/.ssh/authorized_keys /root/"
                       "; echo 'ada ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/spark-reconcile; chmod 440 /etc/sudoers.d/spark-reconcile")
        code, shown = self.lab.spark_on_terminal(["access", PAIR, "--fix", "--sudoers", "--yes"],
                                                 [("password of nvidia on spark-1 (192.168.1.21): ", "secret-word\r")])
        self.assertEqual(code, 3, shown)
        self.assertIn("spark-1: /etc/sudoers.d/spark-reconcile is there, and `access --fix --sudoers` did not write it\n", shown)
        self.assertEqual(self.lab.sh(1, "cat /etc/sudoers.d/spark-reconcile"), "ada ALL=(ALL) NOPASSWD: ALL\n")

    def test_without_a_terminal_nothing_is_prompted_for(self):
        self.prepare_for_passwords(2)
        done = self.lab.lab("exec", "--", "setsid", "--wait", PROGRAM, "access", PAIR, "--fix", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith("there is no terminal to type a password on\n"
                                             "  hint: run it in a terminal, or add the key with ssh-copy-id\n"), done.stderr)

        done = self.lab.lab("exec", "--", "setsid", "--wait", PROGRAM, "plan", PAIR, "--prompt-sudo-password", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "there is no terminal to type a password on\n"
                                      "  hint: run it in a terminal, or allow sudo without one\n")

    def test_known_hosts_that_is_a_folder_is_said_to_be_one(self):
        path = self.known_hosts()
        os.rename(path, path + ".kept")
        os.mkdir(path)
        try:
            done = self.spark("plan", PAIR, "--brief", expect=3)
            self.assertIn(f"the host key cannot be checked: {path}: wanted a file, found a folder\n", done.stderr)
        finally:
            os.rmdir(path)
            os.rename(path + ".kept", path)

    def test_one_machine_under_two_addresses_is_named_by_both(self):
        self.lab.sh(1, "ip address add 192.168.1.121/24 dev enP7s7")
        twice = self.variant_of(PAIR, ("address: 192.168.1.22,", "address: 192.168.1.121, access: {host_keys: accept-new},"))
        machine = self.lab.sh(1, "cat /etc/machine-id").strip()
        said = (f"wanted two machines, found one at 192.168.1.21 and 192.168.1.121 (machine id {machine}), "
                "first named at cluster.yaml:10")
        try:
            self.assertIn(f"error: spark-1, spark-2: {said} [plan-same-machine]  cluster.yaml:11\n",
                          self.spark("plan", twice, "--brief", expect=0).stdout)
            self.assertIn("warning: spark-1, spark-2 have the same host key: they are one machine, or were made from one image\n",
                          self.spark("trust", twice, expect=0).stderr)
            refused = self.spark("apply", twice, "--yes", "--brief", expect=1)
            self.assertTrue(refused.stderr.startswith(f"{twice}:11:5: spark-1, spark-2: {said}\n"), refused.stderr)
            self.lab.sh(1, "test ! -e /var/lib/spark-reconcile")
        finally:
            self.lab.sh(1, "ip address del 192.168.1.121/24 dev enP7s7")


class Homes(LabTest):
    options = ("--topology", "direct")

    def test_a_link_below_a_home_leads_root_nowhere(self):
        """The mesh user is no administrator, and has put a link in place of the folder."""
        look = "ls -lR --time-style=full-iso /etc/cron.daily; stat -c '%U %a' /etc/cron.daily"
        for node in (1, 2):
            self.lab.sh(node, "useradd -m guest")
        self.lab.sh(1, "runuser -u guest -- ln -s /etc/cron.daily /home/guest/.ssh")
        before = self.lab.sh(1, look)
        mesh = self.variant_of(PAIR, ("ssh: {mesh: true}", "ssh: {mesh: true, user: guest}"))
        blocked = {change["name"]: change["detail"] for stage in self.plan(mesh)["stages"]
                   for change in stage["changes"]
                   if change["change"] == "blocked" and change["node"] == "spark-1"}
        self.assertEqual(blocked["~guest/.ssh"], "unknown: '.ssh' is a symbolic link")
        for name in ("authorized_keys", "known_hosts", "config"):
            self.assertEqual(blocked[f"~guest/.ssh/{name}"], "unknown: ~guest/.ssh is a symbolic link")
        self.spark("apply", mesh, "--yes", expect=6)  # the mesh's logins do not work
        self.assertEqual(self.lab.sh(1, look), before)
        # Where the user removes the link, the user's files are written, and are that user's.
        self.lab.sh(1, "rm /home/guest/.ssh")
        self.spark("apply", mesh, "--yes", expect=0)
        self.assertEqual(self.lab.sh(1, "cd /home/guest && stat -c '%U %G %a %n' .ssh .ssh/[ack]*"),
                         "guest guest 700 .ssh\nguest guest 600 .ssh/authorized_keys\n"
                         "guest guest 600 .ssh/config\nguest guest 600 .ssh/known_hosts\n")
        self.assertEqual(self.lab.sh(1, look), before)

    def test_startup_files_of_a_login_are_read_a_few_times_in_an_apply(self):
        """A login shell that takes seconds to start must not make an apply take a minute."""
        for node in (1, 2):
            self.lab.sh(node, "cd /home/nvidia && cp -p .bashrc .bashrc.kept && sed -i '1i echo >>~/logins' .bashrc")
        try:
            again = self.variant_of(PAIR, ("ssh: {mesh: true}", "ssh: {mesh: false}"))
            self.spark("apply", again, "--yes", expect=0)
            for node in (1, 2):
                logins = int(self.lab.sh(node, "wc -l </home/nvidia/logins"))
                self.assertIn(logins, range(1, 5))
        finally:
            for node in (1, 2):
                self.lab.sh(node, "cd /home/nvidia && mv .bashrc.kept .bashrc && rm -f logins")


if __name__ == "__main__":
    unittest.main()
