# shellcheck shell=dash
# shellcheck disable=SC2154 # from cabling.sh
# Gives each port without an address one for $LIFETIME seconds, and reports what the ports have, and the MACs of bridges: a bridge
# answers for the ports that are its members. $1 is $SSH_CONNECTION, its third word our own address in the session. An address
# that the kernel still tests for being unique answers no one: that takes a second.
find_session_port() { # CLIENT PORT SERVER PORT; sets `session_port`
  session_port=
  [ -n "${3:-}" ] || return 0
  while read -r _ dev _ address _; do
    [ "${address%%/*}" != "$3" ] || session_port=${dev%%@*}
  done <<END
$listing
END
}
add_temporary() { # IFACE…
  for iface do
    shift
    find_state "$iface"
    find_own "$iface" all
    [ "$state" = link ] && [ -z "$own" ] && [ "$iface" != "$session_port" ] && derive "$iface" || continue
    set -- "$@" "address replace $derived/64 dev $iface scope link nodad valid_lft $LIFETIME preferred_lft $LIFETIME"
  done
  [ $# = 0 ] || listing_is_old=yes
  batch "$@"
}
report() {
  find_state "$1"
  mac=; { read -r mac <"/sys/class/net/$1/address"; } 2>/dev/null
  echo "port $1 $state $mac"
  find_own "$1" settled
  [ "$state" != link ] || for address in $own; do echo "own $1 $address"; done
}
read -r name </proc/sys/kernel/hostname
echo "host $name"
list_addresses
listing_is_old=
# shellcheck disable=SC2086 # four words
find_session_port $1
# shellcheck disable=SC2086 # several names
add_temporary $PORTS
# shellcheck disable=SC2034 # counts only
for round in 1 2 3 4; do
  [ -z "$listing_is_old" ] || list_addresses
  listing_is_old=yes
  tentative=
  for iface in $PORTS; do
    find_state "$iface"
    [ "$state" != link ] || { find_own "$iface" tentative; tentative=$tentative$own; }
  done
  [ -n "$tentative" ] || break
  sleep 0.5
done
for bridge in /sys/class/net/*/bridge; do
  mac=; { read -r mac <"${bridge%/*}/address"; } 2>/dev/null
  echo "bridge $mac"
done
for iface in $PORTS; do report "$iface"; done
