# shellcheck shell=dash
# shellcheck disable=SC2154 # from cabling.sh
# Queries every host on each port for its address. -L: no answer from this host itself. Three requests 0.1 s apart, ended 2 s
# after the first: the answers of all hosts to the first two are in before those to the third end it. One line is one
# write, so that ports do not mix.
query() {
  for address in $(run 6 ping -n -L -c 3 -i 0.1 -w 2 -I "$1" "ff02::1%$1" |
      sed -n 's/.* from \([0-9a-f:]*\)\(%[^:]*\)\{0,1\}: icmp_seq=.*/\1/p' | sort -u); do
    echo "heard $1 $address"
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
[ "$queried" = ' ' ] || run 5 ip -6 neigh show |
  awk -v queried="$queried" '$2 == "dev" && $4 == "lladdr" && index(queried, " " $3 " ") { print "neighbour", $3, $1, $5 }'
true
