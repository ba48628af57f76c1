"""The management network's ways to an address: from the lab's DHCP server, or from a netplan file with more than one address."""

import os
import re

from spark_lab import speed

STATES = os.environ.get("SPARK_LAB_STATE", "/run/spark-reconcile-lab")
FILE = "/etc/netplan/01-management.yaml"
KEPT = "/run/management.yaml"  # on the node, while another stands in its place
# Both have a virtual address, routes and a rule of the file's own.
NETPLAN = """network:
  version: 2
  renderer: {renderer}
  ethernets:
    enP7s7:
{addresses}
      routes:
        - {{to: 172.28.0.0/16, via: 192.168.1.1, on-link: true}}
        - {{to: 172.27.0.0/16, via: 192.168.1.1, on-link: true, table: 200}}
      routing-policy: [{{from: 10.98.0.{node}, table: 200, priority: 600}}]
"""
ADDRESSES = {"dhcp": """      dhcp4: true
      dhcp6: true
      accept-ra: true
      addresses: [10.98.0.{node}/32, 'fd00:98::{node}/64']""",
             "listed": "      addresses: [192.168.1.2{node}/24, 192.168.1.23{node}/24, 10.98.0.{node}/32, 'fd00:98::{node}/64']"}
# What the node has when all has come; leases come after the end of the command that requests them.
GIVEN = {"dhcp": ("inet 192.168.1.2{node}/24", "inet6 fd00:99::2{node}/128", "default via 192.168.1.1", "default via fe80::1",
                  "172.29.0.0/16 via", "ADDRESS=192.168.1.2{node}"),
         "listed": ("inet 192.168.1.2{node}/24", "inet 192.168.1.23{node}/24")}
LISTED = ("inet 10.98.0.{node}/32", "inet6 fd00:98::{node}/64", "172.28.0.0/16 via", "172.27.0.0/16 via")
RULE = "600: from 10.98.0.{node} lookup 200"  # which NetworkManager does not make of the file
CONFIGURE = {"networkd": "netplan generate; systemctl daemon-reload; networkctl reload; networkctl reconfigure enP7s7",
             "NetworkManager": "netplan generate; nmcli connection reload; nmcli connection up netplan-enP7s7"}
# The seconds that are left of a lease are no part of it, nor the number of a route's next hop (systemd 257); the kernel's own
# link-local address comes when it likes.
SHOW = r"""{ ip -o addr show dev enP7s7 scope global; ip -4 route show table all dev enP7s7; ip -6 route show table all dev enP7s7
ip -4 rule; ip -6 rule
grep -hs -e ^ADDRESS= -e ^SERVER_ADDRESS= -e ^ROUTER= -e ^ROUTES= /run/systemd/netif/leases/* /var/lib/NetworkManager/*.lease
} | grep -v fe80::53 | sed -E 's/_lft [0-9]+sec/_lft some/g; s/ expires [0-9]+sec/ expires/; s/ nhid [0-9]+//; s/[[:space:]]+/ /g' | sort"""
# Seconds; an IPv6 address is looked for on the link before it is taken.
GIVEN_S = 20


def shown(lab, node):
    return lab.sh(node, SHOW).splitlines()


def has_all(lines, wanted):
    """Also that no address is still being looked for on the link: it becomes another line."""
    text = "\n".join(lines)
    return " tentative" not in text and all(one in text for one in wanted)


def messages(lab):
    """What nodes have requested of the server, and its answers."""
    try:
        with open(f"{STATES}/{lab.run}/dhcp/log", encoding="utf-8") as log:
            return re.findall(r"(?:DHCP[A-Z]+|RTR-SOLICIT)\(mgmt\) .*", log.read())
    except FileNotFoundError:
        return []


class Management:
    """Another management configuration of some nodes, until `restore`. `renderers`: of each node."""

    def __init__(self, lab, kind, renderers):
        self.lab, self.renderers = lab, renderers
        self.before = {node: shown(lab, node) for node in renderers}
        if kind == "dhcp":
            lab.lab("dhcp", "start")
        for node, renderer in renderers.items():
            text = NETPLAN.format(addresses=ADDRESSES[kind].format(node=node), renderer=renderer, node=node)
            lab.sh(node, f"cp -p {FILE} {KEPT}; cat >{FILE} <<'END'\n{text}END\n{CONFIGURE[renderer]}")
        for node in renderers:
            rules = [RULE] if renderers[node] == "networkd" else []
            wanted = [one.format(node=node) for one in (*GIVEN[kind], *LISTED, *rules)]
            speed.wait_until(lambda node=node, wanted=wanted: has_all(shown(lab, node), wanted), GIVEN_S,
                             f"{', '.join(wanted)} on the management interface of spark-{node}, and no address that is tentative")
        self.note()

    def note(self):
        self.noted = {node: shown(self.lab, node) for node in self.renderers}
        self.said = messages(self.lab)

    def changes(self):
        """What is other than it was noted, and what the server was sent since."""
        lines = [f"the server: {line}" for line in messages(self.lab)[len(self.said):]]
        for node, was in self.noted.items():
            now = shown(self.lab, node)
            lines += [f"spark-{node}: {line} is gone" for line in was if line not in now]
            lines += [f"spark-{node}: {line} is new" for line in now if line not in was]
        return lines

    def restore(self):
        self.lab.lab("dhcp", "stop")
        for node, renderer in self.renderers.items():
            # networkd would leave the metric of a lease on an address that is there already.
            self.lab.sh(node, f"cp -p {KEPT} {FILE}; rm {KEPT}; ip address flush dev enP7s7 scope global; {CONFIGURE[renderer]}")
        for node, before in self.before.items():
            speed.wait_until(lambda node=node, before=before: shown(self.lab, node) == before, GIVEN_S,
                             f"the management interface of spark-{node} as it was")
