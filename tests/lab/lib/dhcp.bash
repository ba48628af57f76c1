# shellcheck shell=bash disable=SC2154
# Sourced by `lab`; reads $run, $run_dir and $count, which run_load sets.
# A server for the management network: over IPv4 each node gets its usual address, a default route and 172.29.0.0/16; over
# DHCPv6, which its router advertisements announce, fd00:99::21 and up. Hours of lease: no renewal falls into a test. Nodes with
# a fixed address and networkd hear the advertisements too, and take an IPv6 address as well.

dhcp_start() {
  local id at=$run_dir/dhcp cgroup tries
  local words=(--keep-in-foreground --conf-file=/dev/null --port=0 --interface=mgmt --except-interface=lo --bind-interfaces --no-ping
    --user=root --pid-file= --dhcp-authoritative --log-dhcp "--log-facility=$at/log" "--dhcp-leasefile=$at/leases"
    '--dhcp-range=192.168.1.21,192.168.1.28,255.255.255.0,12h' '--dhcp-range=fd00:99::21,fd00:99::28,64,12h' --enable-ra '--ra-param=mgmt,mtu:off,0'
    '--dhcp-option=option:router,192.168.1.1'
    '--dhcp-option=option:classless-static-route,0.0.0.0/0,192.168.1.1,172.29.0.0/16,192.168.1.1')
  command -v dnsmasq >/dev/null || die 'wanted dnsmasq for DHCP (tests/packages names it), found none'
  for ((id = 1; id <= count; id++)); do
    words+=("--dhcp-host=$(printf '02:53:50:00:%02x:01' "$id"),$(node_address "$id"),[fd00:99::$((20 + id))]")
  done
  dhcp_stop
  mkdir -p "$at"
  # The bridge has no link-local address of its own, which advertisements come from.
  printf 'addr add %s dev mgmt nodad\n' fe80::1/64 fd00:99::1/64 | in_outer ip -batch -
  # What does not forward says so to its neighbours, and networkd (since systemd 256) then drops it as their router.
  in_outer sysctl -qw net.ipv6.conf.mgmt.forwarding=1
  cgroup=$(cgroup_root)/$run/dhcp
  mkdir -p "$cgroup"
  (
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    exec </dev/null >>"$at/log" 2>&1
    close_inherited
    exec setsid nsenter "--net=/run/netns/$(outer "$run")" -- dnsmasq "${words[@]}"
  ) &
  for ((tries = 0; tries < 100; tries++)); do
    ! grep -qs 'router advertisement on' "$at/log" || return 0
    sleep 0.05
  done
  die "wanted dnsmasq of run $run up within 5 s, found its output in $at/log"
}

# What it gave stays with the nodes until they are configured again.
dhcp_stop() {
  cgroup_kill "$(cgroup_root)/$run/dhcp"
  printf 'addr del %s dev mgmt\n' fe80::1/64 fd00:99::1/64 | in_outer ip -force -batch - 2>/dev/null || :
  in_outer sysctl -qw net.ipv6.conf.mgmt.forwarding=0
  rm -rf "$run_dir/dhcp"
}
