"""What owners leave on their nodes, made on one node of a converged pair: each is found by its code and on that node alone, and
nothing is found before and after."""

import json
import os
import sys
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import LabTest, cluster  # noqa: E402

PAIR = cluster("pair.yaml")
PORT, TWIN, UNUSED = "enp1s0f1np1", "enP2p1s0f1np1", "enp1s0f0np0"
DROP_IN = f"/etc/systemd/network/10-netplan-{TWIN}.network.d"
# The code; what makes it so on spark-1; what reverts that.
OF_PLAN = (
    ("etc_hosts-foreign-line", "sed -i '1i 10.0.0.9 spark-2-rail0' /etc/hosts", "sed -i '/^10\\.0\\.0\\.9 /d' /etc/hosts"),
    ("memlock-foreign-line", "echo 'nvidia - memlock 64' >/etc/security/limits.d/zz-other.conf", "rm /etc/security/limits.d/zz-other.conf"),
    ("sysctl-overridden-at-boot", "echo net.ipv4.tcp_mtu_probing=0 >/etc/sysctl.d/99-zz.conf", "rm /etc/sysctl.d/99-zz.conf"),
    ("sysctl-ipv6-disabled", f"sysctl -qw net.ipv6.conf.{TWIN}.disable_ipv6=1", f"sysctl -qw net.ipv6.conf.{TWIN}.disable_ipv6=0"),
    ("netplan-foreign-drop-in", f"mkdir -p {DROP_IN} && printf '[Link]\\nMTUBytes=1500\\n' >{DROP_IN}/x.conf", f"rm -r {DROP_IN}"),
)
OF_VERIFY = (
    ("default-route-on-fabric", f"ip route add default via 192.168.177.2 metric 5000 dev {PORT}",
     f"ip route del default via 192.168.177.2 metric 5000 dev {PORT}"),
    ("dhcp-on-fabric", f"ip address add 192.168.99.5/24 dev {PORT} valid_lft 3600 preferred_lft 3600", f"ip address del 192.168.99.5/24 dev {PORT}"),
    ("address-extra", f"ip address add 10.9.9.9/24 dev {TWIN}", f"ip address del 10.9.9.9/24 dev {TWIN}"),
    ("subnet-twice", f"ip address add 192.168.178.77/24 dev {UNUSED}", f"ip address del 192.168.178.77/24 dev {UNUSED}"),
)


class Findings(LabTest):
    options = ("--topology", "direct")

    def warnings(self):
        return {(one["code"], *one["nodes"]) for one in self.plan(PAIR)["diagnostics"] if one["severity"] != "informs"}

    def findings(self):
        done = self.lab.spark("verify", PAIR, "--level", "link", "--format", "json")
        return {(one["code"], *one["nodes"]) for one in json.loads(done.stdout)["findings"]}

    def test_each_is_found_on_its_node_alone(self):
        self.spark("apply", PAIR, "--yes", "--brief", "--no-verify", expect=0)
        self.assertEqual((self.warnings(), self.findings()), (set(), set()))
        for codes, found in ((OF_PLAN, self.warnings), (OF_VERIFY, self.findings)):
            for _, make, _ in codes:
                self.lab.sh(1, make)
            self.assertEqual(found(), {(code, "spark-1") for code, _, _ in codes})
            for _, _, revert in codes:
                self.lab.sh(1, revert)
            self.assertEqual((self.warnings(), self.findings()), (set(), set()))


if __name__ == "__main__":
    unittest.main()
