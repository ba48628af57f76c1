# shellcheck shell=dash
# shellcheck disable=SC2154 # functions of journal.sh
# Before a node records its intent it proves that it would reach its peers' beacons. J: the journal; PROOF: see Peers. Every
# node shows the addresses of the proof before any node looks for them. They are not the beacons: no node is ready to commit
# yet.
show_proof() {
  undecided && printf '%s' "$PROOF" >"$J/proof" && progress 0 || exit 1
  beacons replace proof
}

# Why no peer can answer on an interface; nothing: one could.
explain_interface() { # IFACE OWN
  conf=/proc/sys/net/ipv6/conf/$1/disable_ipv6
  carrier=/sys/class/net/$1/carrier
  if [ ! -e "$carrier" ]; then echo absent
  elif ! grep -qsx 0 "$conf"; then echo ipv6-disabled
  elif ! grep -qs '' "$carrier"; then echo down # it cannot be read then
  elif ! grep -qsx 1 "$carrier"; then echo no-carrier
  elif ! ip -6 address replace "$2" dev "$1" nodad >/dev/null 2>&1; then echo no-address
  fi
}

look_for() { # IFACE OWN ADDRESS NODE
  found=$(explain_interface "$1" "$2")
  if [ -n "$found" ]; then :
  elif ping -6 -n -q -c 1 -W 1 -I "$1" "$3" >/dev/null 2>&1 ||
    ping -6 -n -q -c 3 -i 0.5 -W 2 -I "$1" "$3" >/dev/null 2>&1; then found=answers
  else found=silent; fi
  echo "$4 $1 $found" # one write, so that lines do not mix
}

# A line for each peer and interface, all at the same time: NODE IFACE STATE.
look_for_peers() {
  undecided && progress 0 || exit 1
  while read -r kind iface address node; do
    case $kind in
      own) own=$address ;;
      peer) look_for "$iface" "$own" "$address" "$node" & ;;
    esac
  done <"$J/proof"
  wait
}
