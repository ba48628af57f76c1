# shellcheck shell=dash
# shellcheck disable=SC2154 # functions of journal.sh
# Before a node records its intent it proves that it would reach its peers' beacons. J: the journal; PROOF: see Peers. Every
# node shows the addresses of the proof before any node looks for them. They are not the beacons: no node is ready to commit
# yet.
show_proof() {
  undecided && printf '%s' "$PROOF" >"$J/proof" && progress 0 || exit 1
  beacons replace proof
}

# Why no peer can answer on an interface, into `why`; nothing: one could.
explain_interface() { # IFACE OWN
  why=
  off=; { read -r off <"/proc/sys/net/ipv6/conf/$1/disable_ipv6"; } 2>/dev/null
  carrier=; { read -r carrier <"/sys/class/net/$1/carrier"; } 2>/dev/null # of a port that is down it cannot be read
  if [ ! -e "/sys/class/net/$1/carrier" ]; then why=absent
  elif [ "$off" != 0 ]; then why=ipv6-disabled
  elif [ -z "$carrier" ]; then why=down
  elif [ "$carrier" != 1 ]; then why=no-carrier
  elif ! ip -6 address replace "$2" dev "$1" nodad >/dev/null 2>&1; then why=no-address
  fi
}

try_path() { # NODE IFACE ADDRESS
  if ping -6 -n -q -c 1 -W 1 -I "$2" "$3" >/dev/null 2>&1 ||
    ping -6 -n -q -c 3 -i 0.5 -W 2 -I "$2" "$3" >/dev/null 2>&1; then found=answers
  else found=silent; fi
  echo "$1 $2 $found" # one write, so that lines do not mix
}

# One path on which a peer answers is enough, as for the guard: the others are tried where the first one fails.
look_for() { # NODE
  set -- "$1"
  while read -r kind iface address node; do
    [ "$kind $node" = "peer $1" ] || continue
    case $whys in *"|$iface=|"*) set -- "$@" "$iface" "$address" ;; esac
  done <"$J/proof"
  node=$1; shift
  [ $# -gt 0 ] || return 0
  if ping -6 -n -q -c 1 -W 1 -I "$1" "$2" >/dev/null 2>&1; then echo "$node $1 answers"; return; fi
  while [ $# -gt 0 ]; do
    try_path "$node" "$1" "$2" &
    shift 2
  done
  wait
}

# Lines for each peer, all peers at the same time: NODE IFACE STATE.
look_for_peers() {
  undecided && progress 0 || exit 1
  whys='|' # of each interface: IFACE=WHY|
  peers=' '
  while read -r kind iface address node; do
    case $kind in
      own) explain_interface "$iface" "$address"; whys="$whys$iface=$why|" ;;
      peer)
        [ -z "$why" ] || echo "$node $iface $why"
        case $peers in *" $node "*) ;; *) peers="$peers$node " ;; esac ;;
    esac
  done <"$J/proof"
  for node in $peers; do look_for "$node" & done
  wait
}
