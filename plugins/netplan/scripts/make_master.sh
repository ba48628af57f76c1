# shellcheck shell=dash
# Makes the bond or bridge $1 with the words that follow, where there is no interface of that name: a revert runs twice, and also
# where it was not deleted yet. A plan may show the command, so that it is one line.
[ -e "/sys/class/net/$1" ] || exec ip link add name "$@"
