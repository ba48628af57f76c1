# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by `lab`; reads $run, $run_dir, $topology and $count, which run_load sets.
# Cables and switches. All of it lives in the run's outer network namespace: per node five veths n<ID>-<port>, whose other
# ends are the node's interfaces, and bridges. A port is m (management), or a|b (rail 0|1) and the cage's number.

ports=(m a0 b0 a1 b1)
declare -A port_iface=([m]=enP7s7 [a0]=enp1s0f0np0 [b0]=enP2p1s0f0np0 [a1]=enp1s0f1np1 [b1]=enP2p1s0f1np1)
# Bytes; above any MTU of the tests, so that only a node's own MTU decides what passes.
lab_mtu=9216

outer() { echo "sparklab-$1"; }
in_outer() { nsenter "--net=/run/netns/$(outer "$run")" -- "${@}"; }
node_address() { echo "192.168.1.$((20 + $1))"; }

port_of() {
  local port
  for port in "${ports[@]}"; do
    if [[ ${port_iface[$port]} == "$1" ]]; then echo "$port"; return; fi
  done
  die "wanted one of ${port_iface[*]}, found '$1'"
}

# The functions up to port_peer set REPLY: they are called for every port of every node, where a subshell each would take longer
# than all the rest.

# The place, as "ID PORT", whose plug is in this port: its own, until `lab cross` has moved it.
plug_of() {
  REPLY="$1 $2"
  [[ ! -e $run_dir/nodes/$1/plug-$2 ]] || read -r REPLY <"$run_dir/nodes/$1/plug-$2"
}

# The port that holds the plug of place ID PORT.
plug_holder() {
  local file plug
  for file in "$run_dir"/nodes/*/plug-*; do
    [[ -e $file ]] && read -r plug <"$file" && [[ $plug == "$1 $2" ]] || continue
    file=${file#"$run_dir/nodes/"}
    REPLY=${file/\/plug-/ }
    return
  done
  REPLY="$1 $2"
}

# net_cross ID CAGE ID CAGE: the plugs of two cages (0 or 1), with both their rails, change places.
net_cross() {
  local rail one other
  for rail in a b; do
    plug_of "$1" "$rail$2"
    one=$REPLY
    plug_of "$3" "$rail$4"
    other=$REPLY
    echo "$other" >"$run_dir/nodes/$1/plug-$rail$2"
    echo "$one" >"$run_dir/nodes/$3/plug-$rail$4"
  done
  net_sync
}

# port_bridge ID PORT: the bridge that the port is plugged into; nothing when no cable is in that cage.
port_bridge() {
  plug_of "$1" "$2"
  local id=${REPLY% *} port=${REPLY#* }
  case $topology:$port in
    *:m) REPLY=mgmt ;;
    ring:?0) REPLY="cable${id}${port%0}" ;;
    ring:?1) REPLY="cable$(((id + count - 2) % count + 1))${port%1}" ;;
    leaf-spine:?1) REPLY="leaf$(((id + 3) / 4))${port%1}" ;;
    *:a1) REPLY=rail0 ;;
    *:b1) REPLY=rail1 ;;
    *) REPLY= ;;
  esac
}

# port_peer ID PORT: the other end of a cable between two nodes, as "ID PORT"; nothing behind a switch.
port_peer() {
  plug_of "$1" "$2"
  local id=${REPLY% *} port=${REPLY#* }
  case $topology:$port in
    direct:?1) plug_holder "$((3 - id))" "$port" ;;
    ring:?0) plug_holder "$((id % count + 1))" "${port%0}1" ;;
    ring:?1) plug_holder "$(((id + count - 2) % count + 1))" "${port%1}0" ;;
    *) REPLY= ;;
  esac
}

# net_trunks: the cables between switches, as "LEAF SPINE" lines: four nodes to a leaf, and per rail a spine above the leaves.
net_trunks() {
  [[ $topology == leaf-spine ]] || return 0
  local leaf rail
  for ((leaf = 1; leaf <= (count + 3) / 4; leaf++)); do
    for rail in a b; do echo "leaf$leaf$rail spine$rail"; done
  done
}

net_bridges() {
  local id port
  {
    for ((id = 1; id <= count; id++)); do for port in "${ports[@]}"; do
      port_bridge "$id" "$port"
      [[ -z $REPLY ]] || echo "$REPLY"
    done; done
    net_trunks | cut -d' ' -f2
  } | sort -u
}

# Runs ip commands from its input. A node that goes away meanwhile takes its veths along, which is no error: ip finds that
# before it sends a command, or the kernel does afterwards.
net_batch() {
  local errors
  errors=$(in_outer ip -force -batch - 2>&1 >/dev/null) ||
    errors=$(grep -v -e '^Cannot find device' -e '^RTNETLINK answers: No such device$' -e '^Command failed -:' <<<"$errors") || return 0
  [[ -z $errors ]] || die "wanted the cables of run $run set, ip answered: $errors"
}

# Brings every plug and carrier of the run to what topology, cuts and running nodes say. As with a real cable, both ends lose
# carrier when either node is off or the cable is cut.
net_sync() {
  (
    flock 8
    local id port bridge peer state mask=0
    local -A there=()
    # 0x4000: let LLDP through, as a cable does and a switch does not.
    [[ $topology != direct && $topology != ring ]] || mask=0x4000
    while read -r _ port _; do
      port=${port%%[@:]*}
      there[$port]=1
    done < <(in_outer ip -o link)
    {
      for bridge in $(net_bridges); do
        [[ -z ${there[$bridge]:-} ]] || continue
        echo "link add $bridge mtu $lab_mtu type bridge group_fwd_mask $mask mcast_snooping 0"
        # A cable has no address. In one command with `up` it would come too late.
        echo "link set $bridge addrgenmode none"
        echo "link set $bridge up"
        [[ $bridge != mgmt ]] || echo "addr add 192.168.1.1/24 dev mgmt"
      done
      while read -r bridge peer; do
        [[ -z ${there[$bridge-up]:-} ]] || continue
        echo "link add $bridge-up mtu $lab_mtu type veth peer name $bridge-down mtu $lab_mtu"
        echo "link set $bridge-up addrgenmode none master $bridge up"
        echo "link set $bridge-down addrgenmode none master $peer up"
      done < <(net_trunks)
      for ((id = 1; id <= count; id++)); do
        for port in "${ports[@]}"; do
          [[ -n ${there[n$id-$port]:-} ]] || continue
          port_bridge "$id" "$port"
          bridge=$REPLY
          state=down
          if [[ -n $bridge && ! -e $run_dir/nodes/$id/cut-$port ]]; then
            port_peer "$id" "$port"
            peer=$REPLY
            if [[ -z $peer || (-n ${there[n${peer/ /-}]:-} && ! -e $run_dir/nodes/${peer/ //cut-}) ]]; then state=up; fi
          fi
          if [[ -n $bridge ]]; then bridge="master $bridge"; else bridge=nomaster; fi
          echo "link set n$id-$port $bridge $state"
          # lldpd says it as the port's description.
          switch_port "$id" "$port"
          [[ -z $REPLY ]] || echo "link set n$id-$port alias ${REPLY#* }"
        done
      done
    } | net_batch
    switches_sync
  ) 8>"$run_dir/net.lock"
}

# Gives node ID, whose network namespace is this process's, its five interfaces. Fixed MACs: a restart is the same card.
net_plug() {
  local id=$1 pid=$2 port n=0
  for port in "${ports[@]}"; do
    n=$((n + 1))
    printf 'link add n%d-%s mtu %d type veth peer name %s address 02:53:50:00:%02x:%02x mtu 1500 netns %d\n' \
      "$id" "$port" "$lab_mtu" "${port_iface[$port]}" "$id" "$n" "$pid"
    printf 'link set n%d-%s addrgenmode none\n' "$id" "$port"
  done | in_outer ip -batch -
}

net_unplug() {
  local port
  for port in "${ports[@]}"; do echo "link del n$1-$port"; done | in_outer ip -force -batch - 2>/dev/null || :
}
