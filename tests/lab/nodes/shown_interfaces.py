"""A folder that sshd, and what it starts, is shown as /sys/class/net on one node; the rest of the node sees what is there."""

# /opt/net is what sshd will see. `open_up NETDEV` makes a folder of an interface there, whose files are the kernel's until they are replaced.
COPY = """rm -rf /opt/net /opt/pci; mkdir -p /opt/net; cp -a /sys/class/net/. /opt/net
open_up() {
  rm /opt/net/$1; mkdir -p /opt/net/$1
  for file in /sys/class/net/$1/*; do ln -s /sys/devices/virtual/net/$1/${file##*/} /opt/net/$1; done
}
"""
TO_SSHD = """mkdir -p /etc/systemd/system/ssh.service.d
printf '[Service]\\nBindReadOnlyPaths=/opt/net:/sys/class/net\\n' >/etc/systemd/system/ssh.service.d/names.conf
systemctl daemon-reload; systemctl restart ssh"""
HIDE = "rm -rf /etc/systemd/system/ssh.service.d /opt/net /opt/pci; systemctl daemon-reload; systemctl restart ssh"
