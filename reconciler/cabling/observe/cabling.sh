# shellcheck shell=dash
# shellcheck disable=SC2086 # $2 of own and the parts of a MAC are several words
# Functions over the fabric ports; the scripts below get their names in $PORTS, separated by blanks.
LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
cd /
run() { timeout -k 1 "$@" </dev/null 2>/dev/null; }
state() { # IFACE: missing, down, no-carrier or link
  [ -e "/sys/class/net/$1" ] || { echo missing; return; }
  flags=0; read -r flags <"/sys/class/net/$1/flags"
  [ $((flags & 1)) = 1 ] || { echo down; return; }
  carrier=0; read -r carrier 2>/dev/null <"/sys/class/net/$1/carrier"
  [ "$carrier" = 1 ] || { echo no-carrier; return; }
  echo link
}
own() { run 5 ip -6 -o address show dev "$1" scope link $2 | awk '{ sub("/.*", "", $4); print $4 }'; }
derived() { # IFACE: the link-local address that its MAC makes
  mac=$(cat "/sys/class/net/$1/address") || return 1
  old=$IFS; IFS=:; set -- $mac; IFS=$old
  [ $# = 6 ] || return 1
  printf 'fe80::%x:%x:%x:%x' $((((0x$1 ^ 2) << 8) + 0x$2)) $(((0x$3 << 8) + 255)) $((0xfe00 + 0x$4)) $(((0x$5 << 8) + 0x$6))
}
