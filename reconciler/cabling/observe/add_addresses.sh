# shellcheck shell=dash
# shellcheck disable=SC2154 # from cabling.sh
# Gives each port without an address one for $LIFETIME seconds, and reports what the ports have. $1 is $SSH_CONNECTION, its third
# word our own address in the session. An address that the kernel still tests for being unique answers no one: that takes
# a second.
session=$(echo "$1" | awk '{ print $3 }')
carries_session() { [ -n "$session" ] && run 5 ip -o address show dev "$1" | grep -qF " $session/"; }
add_temporary() {
  [ "$(state "$1")" = link ] && [ -z "$(own "$1")" ] && ! carries_session "$1" || return 0
  address=$(derived "$1") &&
    run 5 ip -6 address replace "$address/64" dev "$1" scope link nodad valid_lft "$LIFETIME" preferred_lft "$LIFETIME"
}
report() {
  state=$(state "$1")
  echo "port $1 $state $(cat "/sys/class/net/$1/address" 2>/dev/null)"
  [ "$state" != link ] || for address in $(own "$1" -tentative); do echo "own $1 $address"; done
}
echo "host $(hostname)"
for iface in $PORTS; do add_temporary "$iface"; done
# shellcheck disable=SC2034 # counts only
for round in 1 2 3 4; do
  tentative=
  for iface in $PORTS; do [ "$(state "$iface")" != link ] || tentative=$tentative$(own "$iface" tentative); done
  [ -n "$tentative" ] || break
  sleep 0.5
done
for iface in $PORTS; do report "$iface"; done
