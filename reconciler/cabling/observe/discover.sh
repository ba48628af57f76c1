# shellcheck shell=dash
# shellcheck disable=SC2154 # from cabling.sh
# Queries every host on each port for its address. -L: no answer from this host itself. Three requests 0.05 s apart, ended 2 s
# after the first: the answers of all hosts to the first two are in before those to the third end it. One line is one
# write, so that ports do not mix; an address can come several times.
query() { # IFACE
  ping -n -L -c 3 -i 0.05 -w 2 -I "$1" "ff02::1%$1" 2>/dev/null </dev/null |
    while IFS= read -r line; do # 64 bytes from ADDRESS%IFACE: icmp_seq=1 …
      case $line in *' from '*': icmp_seq='*) ;; *) continue ;; esac
      address=${line#*' from '}
      address=${address%%': icmp_seq='*}
      echo "heard $1 ${address%%'%'*}"
    done
}
list_addresses
queried=' '
for port in $PORTS; do
  find_state "$port"
  find_own "$port" settled
  [ "$state" = link ] && [ -n "$own" ] || continue
  queried="$queried$port "
  query "$port" &
done
wait
[ "$queried" = ' ' ] || ip -6 neigh show 2>/dev/null </dev/null | while read -r address dev port kind mac _; do
  case "$dev $kind $queried" in "dev lladdr "*" $port "*) echo "neighbour $port $address $mac" ;; esac
done
true
