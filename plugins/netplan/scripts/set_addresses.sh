# shellcheck shell=dash
# shellcheck disable=SC2086 # several words
# Gives the interface $1 the IPv4 addresses that follow, in their order, and no others. Where it has them nothing is touched,
# whatever their order: systemd-networkd no longer counts an address as its own that was removed and added, and then waits for a
# router without end (seen with 257). A plan may show the command, so that it is one line.
port=$1; shift; ip -br -4 address show dev "$port" | { read -r _ _ had; wanted=$#; all=" $* "; found=0; set -- $had; while [ $# -gt 0 ]; do case $1 in metric) shift ;; *) case $all in *" $1 "*) found=$((found + 1)) ;; *) exit 1 ;; esac ;; esac; shift; done; [ $found = $wanted ]; } || { ip -4 address flush dev "$port" && for address; do ip address replace "$address" broadcast + dev "$port" || exit; done; }
