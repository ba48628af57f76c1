# shellcheck shell=dash
# shellcheck disable=SC1010 # ping -M do
# Functions that probe pairs of ports; the calls follow. One ping after the other in a group, the groups at the same time.
# k of n: one lost packet proves nothing. An address that is not on the port answers no one and is not waited for, but for
# the $WAIT_S (s) that a port may need after a change.
settle() { # IFACE BEGINNING of its address: sets `settled`, for all pairs of the port
  settled=; tries=$((WAIT_S * 5))
  while :; do
    case $(ip -4 -o address show dev "$1" 2>/dev/null) in *" $2"*) settled=yes; return ;; esac
    [ "$tries" -gt 0 ] || return
    tries=$((tries - 1))
    sleep 0.2
  done
}
# Each ping hears the answers to all pings of the node. By default it has room for eight of 9000 bytes, and a busy node loses its
# own among them; with -l for twenty or more (it still sends as many as -c says).
reach() { # SIZE IFACE ADDRESS
  ping -n -q -M do -l 20 -c 1 -W 1 -s "$1" -I "$2" "$3" >/dev/null 2>&1 ||
    ping -n -q -M do -c 3 -i 0.3 -W 1 -s "$1" -I "$2" "$3" >/dev/null 2>&1
}
port() { # RAIL IFACE
  carrier=
  { read -r carrier <"/sys/class/net/$2/carrier"; } 2>/dev/null
  [ "$carrier" = 1 ] || echo "dark $1"
}
pair() { # PEER RAIL IFACE ADDRESS SIZE
  if [ -z "$settled" ]; then state=silent
  elif reach "$5" "$3" "$4"; then state=answers
  elif reach 56 "$3" "$4"; then state=small-only
  else state=silent; fi
  echo "$1 $2 $state" # one write, so that lines of two pairs do not mix
}
# On a link-local rail, whose addresses no one knows: whoever is at the other end answers to the group of all nodes. -L: no answer
# from this node itself. A port without an address has not settled.
find_neighbour() { # IFACE; prints its address
  ping -n -L -c 2 -i 0.3 -w 2 -I "$1" "ff02::1%$1" 2>/dev/null </dev/null |
    sed -n 's/.* from \(fe80:[0-9a-f:]*\)\(%[^:]*\)\{0,1\}: icmp_seq=.*/\1/p' | sort -u | head -n 1
}
neighbour() { # PEER RAIL IFACE SIZE
  state=silent
  if [ -n "$settled" ] && found=$(find_neighbour "$3") && [ -n "$found" ]; then
    if reach "$4" "$3" "$found%$3"; then state=answers
    elif reach 56 "$3" "$found%$3"; then state=small-only; fi
  fi
  echo "$1 $2 $state"
}
