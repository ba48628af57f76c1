# shellcheck shell=dash
# Gives the interface $1 the IPv4 addresses that follow, and no others. Where it has them nothing is touched: systemd-networkd
# no longer counts an address as its own that was removed and added, and then waits for a router without end (seen with 257).
# A plan may show the command, so that it is one line.
port=$1; shift; ip -br -4 address show dev "$port" | { read -r _ _ had; [ "$had" = "$*" ]; } || { ip -4 address flush dev "$port" && for address; do ip address replace "$address" broadcast + dev "$port" || exit; done; }
