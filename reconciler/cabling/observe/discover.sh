# shellcheck shell=dash
# Queries every host on each port for its address. -L: no answer from this host itself. Three requests 0.3 s apart, ended 2 s
# after the first: the answers of all hosts to the first two are in before those to the third end it. One line is one
# write, so that ports do not mix.
query() {
  for address in $(run 6 ping -n -L -c 3 -i 0.3 -w 2 -I "$1" "ff02::1%$1" |
      sed -n 's/.* from \([0-9a-f:]*\)\(%[^:]*\)\{0,1\}: icmp_seq=.*/\1/p' | sort -u); do
    echo "heard $1 $address"
  done
  run 5 ip -6 neigh show dev "$1" |
    awk -v iface="$1" '$2 == "lladdr" { print "neighbour", iface, $1, $3; fflush() }'
}
for iface in $PORTS; do
  [ "$(state "$iface")" != link ] || [ -z "$(own "$iface" -tentative)" ] || query "$iface" &
done
wait
