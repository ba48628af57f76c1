"""What tests of the cabling share: the state that a refused apply must leave as it was, and who is found at each cable."""

import json

from spark_lab import LabTest, speed

UP = "for port in /sys/class/net/en*p?s*; do ip link set ${port##*/} up; done"
# Every file that an apply writes or could write, but for the lock that a refused one held, and what the kernel shows.
STATE = r"""
find /etc /home /root /run/netplan /run/systemd/network /run/sysctl.d /var/lib/spark-reconcile/ -mindepth 1 \
  ! -name lock ! -name 'lease*' ! -name .sudo_as_admin_successful -printf '%p %y %m %u:%g %l\n' 2>/dev/null | sort
find /etc /home /root /run/netplan /run/systemd/network /run/sysctl.d /var/lib/spark-reconcile -type f \
  ! -name lock ! -name 'lease*' ! -name .sudo_as_admin_successful -exec sha256sum {} + 2>/dev/null | sort
ip -br address | sed 's/@[^ ]*//' | sort; ip -br link | awk '{ sub(/@.*/, "", $1); print $1, $3 }' | sort
ip route; ip -6 route
"""
STOPPED = """\
nothing was changed, because the cabling is not the manifest's:
  {}
  hint: move the cables (left and right are seen from the back), correct the manifest, or give --allow-wrong-cables
"""
# Switch and port as the node's lldpd heard them, a line per netdev of the right cage.
PLUGS = """
for port in enp1s0f1np1 enP2p1s0f1np1; do
  lldpcli -f keyvalue show neighbors ports $port | sed -n 's/^lldp\\.[^.]*\\.\\(chassis\\.name\\|port\\.descr\\)=//p' | xargs
done
"""


class CablingTest(LabTest):
    """Tests run in the order of their names."""

    def ports_up(self):
        for node in range(1, self.nodes + 1):
            self.lab.sh(node, UP)
        for node in range(1, self.nodes + 1):  # an address that is still being tested would be one that changes
            self.lab.sh(node, f"for i in $(seq {round(speed.scaled(50))}); do [ -n \"$(ip -6 address show tentative)\" ] || break; sleep 0.1; done")

    def states(self):
        return [line for node in range(1, self.nodes + 1)
                for line in self.lab.sh(node, STATE).splitlines()]

    def cables(self, manifest, expect):
        report = json.loads(self.spark("cabling", manifest, "--format", "json", expect=expect).stdout)
        return [(" ".join(cable["ends"]), cable["state"], cable["detail"]) for cable in report["cables"]], report["wrong"]

    def assert_apply_stops(self, manifest, *lines):
        self.ports_up()
        before = self.states()
        done = self.spark("apply", manifest, "--yes", "--brief", expect=2)
        self.assertTrue(done.stderr.endswith(STOPPED.format("\n  ".join(lines))), done.stderr)
        self.assertEqual(self.states(), before)

    def start_lldpd(self):
        for node in range(1, self.nodes + 1):
            self.lab.sh(node, "echo 'configure system interface pattern en*' >/etc/lldpd.d/lab.conf; systemctl start lldpd")

    def assert_plugs(self, plugs):
        """Waits until each node hears this switch and port, and nothing else, through both netdevs of its right cage."""
        for node, plug in plugs.items():
            def heard(node=node):
                return self.lab.sh(node, PLUGS).splitlines()
            if not speed.eventually(lambda heard=heard, plug=plug: heard() == [plug, plug], 20, 0.1):
                self.assertEqual(heard(), [plug, plug], f"spark-{node} {speed.gave_up(20)}")
