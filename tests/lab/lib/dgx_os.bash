# shellcheck shell=bash disable=SC2154
# Sourced by `lab`, which sets $lab_dir, $cache, $os and $run_dir.
# Nodes as DGX OS ships them, as far as Debian can: a layer over the one with NetworkManager, and the node's own files. Its
# directory carries the digest of this file too, so that an edit here makes no other root file system again.

dgx_os_packages=(ufw iptables avahi-daemon avahi-utils)

dgx_os_digest() { cat "$lab_dir/lib/root.bash" "$lab_dir/lib/dgx_os.bash" | sha256sum | cut -c1-12; }

# The rules that a Docker daemon makes, without one: what is forwarded is dropped, but for its containers' packets.
dgx_os_docker() {
  local root=$1
  install -D -m 0755 /dev/stdin "$root/usr/local/sbin/lab-docker" <<'SCRIPT'
#!/bin/sh
set -e
ip link add docker0 type bridge
ip address add 172.17.0.1/16 broadcast 172.17.255.255 dev docker0
ip link set docker0 up
sysctl -qw net.ipv4.ip_forward=1
iptables-restore --noflush <<'RULES'
*nat
:DOCKER - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
COMMIT
*filter
:DOCKER - [0:0]
:DOCKER-USER - [0:0]
-I FORWARD -j DOCKER-USER
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
-A FORWARD -i docker0 -o docker0 -j ACCEPT
-A DOCKER-USER -j RETURN
COMMIT
RULES
iptables -P FORWARD DROP
SCRIPT
  install -D -m 0644 /dev/stdin "$root/etc/systemd/system/lab-docker.service" <<'UNIT'
[Unit]
Description=The bridge and the rules of a Docker daemon
After=ufw.service network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/lab-docker
[Install]
WantedBy=multi-user.target
UNIT
  chroot "$root" systemctl -q enable lab-docker.service
}

# As on Ubuntu's desktop and DGX OS, where avahi announces the machine's ssh.
dgx_os_avahi() {
  local root=$1
  install -D -m 0644 /dev/stdin "$root/etc/avahi/services/ssh.service" <<'XML'
<?xml version="1.0" standalone="no"?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<service-group>
  <name replace-wildcards="yes">%h</name>
  <service><type>_ssh._tcp</type><port>22</port></service>
</service-group>
XML
  chroot "$root" systemctl -q enable avahi-daemon.service
}

dgx_os_dress() {
  local root=$1
  # Ubuntu's own: NetworkManager has what no other file gives to networkd.
  install -D -m 0600 /dev/stdin "$root/usr/lib/netplan/00-network-manager-all.yaml" <<'YAML'
# Let NetworkManager manage all devices on this system
network:
  version: 2
  renderer: NetworkManager
YAML
  chroot "$root" ufw allow 22/tcp
  sed -i 's/^ENABLED=.*/ENABLED=yes/' "$root/etc/ufw/ufw.conf"
  chroot "$root" systemctl -q enable ufw.service
  dgx_os_docker "$root"
  dgx_os_avahi "$root"
}

# Runs in a mount namespace of its own, so that nothing stays mounted however it ends. LOWER: the folders below, as overlayfs
# wants them.
root_build_dgx_os() {
  local lower=$1 target=$2 merged=$2/merged
  mkdir -p "$target"/{layer,work,merged}
  mount -t overlay overlay -o "lowerdir=$lower,upperdir=$target/layer,workdir=$target/work" "$merged"
  mount -t proc proc "$merged/proc"
  cp -L /etc/resolv.conf "$merged/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' | install -m 0755 /dev/stdin "$merged/usr/sbin/policy-rc.d"
  http_proxy=$(root_proxy) DEBIAN_FRONTEND=noninteractive \
    chroot "$merged" sh -euc 'apt-get -qq update
      apt-get -qq -y --no-install-recommends install "$@"
      apt-get clean' sh "${dgx_os_packages[@]}"
  dgx_os_dress "$merged"
  rm -f "$merged/etc/resolv.conf" "$merged/usr/sbin/policy-rc.d"
}

# Builds what is missing and prints overlayfs' lowerdir.
dgx_os_ensure() {
  local lower layer
  lower=$(root_ensure nm)
  layer=$cache/dgx-os-$os-$(dgx_os_digest)
  (
    flock 8
    if [[ ! -d $layer ]]; then
      note 'adding the layer like DGX OS (about 20 s, once)'
      rm -rf "$layer.new"
      unshare --mount --propagation private "$lab_dir/lab" _build_dgx_os --os "$os" "$lower" "$layer.new" >>"$cache/build-$os.log" 2>&1 ||
        die "wanted $layer; the build failed (its output is in $cache/build-$os.log)"
      mv "$layer.new/layer" "$layer"
      rm -rf "$layer.new"
    fi
  ) 8>"$cache/lock-$os"
  echo "$layer:$lower"
}

# dgx_os_profile ID NETDEV NUMBER: the netplan file in which Ubuntu's NetworkManager keeps the profile that it made for a port
# on its own. Debian's NetworkManager reads what netplan generates of it, and never writes one.
dgx_os_profile() {
  local uuid
  uuid=$(printf 'spark-%s %s' "$1" "$2" | sha256sum | sed -E 's/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/\1-\2-\3-\4-\5/')
  install -m 0600 /dev/stdin "$run_dir/nodes/$1/upper/etc/netplan/90-NM-$uuid.yaml" <<YAML
network:
  version: 2
  ethernets:
    NM-$uuid:
      renderer: NetworkManager
      match:
        name: "$2"
      dhcp4: true
      dhcp6: true
      networkmanager:
        uuid: "$uuid"
        name: "Wired connection $3"
        passthrough:
          connection.autoconnect-priority: "-999"
          ethernet._: ""
          ipv6.ip6-privacy: "-1"
          proxy._: ""
YAML
}

# What differs between nodes, before the first boot: the management address comes by DHCP, and NetworkManager has a profile for
# each port of the fabric.
dgx_os_node() {
  local id=$1 netdev number=1
  rm "$run_dir/nodes/$id/upper/etc/netplan/01-management.yaml"
  install -m 0600 /dev/stdin "$run_dir/nodes/$id/upper/etc/netplan/50-cloud-init.yaml" <<'YAML'
network:
  version: 2
  ethernets:
    enP7s7:
      dhcp4: true
YAML
  for netdev in enp1s0f0np0 enp1s0f1np1 enP2p1s0f0np0 enP2p1s0f1np1; do
    dgx_os_profile "$id" "$netdev" $((number++))
  done
}
