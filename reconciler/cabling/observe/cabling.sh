# shellcheck shell=dash
# shellcheck disable=SC2034 # the scripts below use what is set here
# shellcheck disable=SC2086 # the parts of a MAC are several words
# Functions over the fabric ports; the scripts below get their names in $PORTS, separated by blanks. Most of them set variables
# and start no program: a port has several states to look at, and a node eight ports.
LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
cd /
batch() { # LINE of `ip -batch`, …; the lines after one that fails are carried out too
  [ $# = 0 ] || printf '%s\n' "$@" | ip -force -6 -batch - 2>/dev/null
}
find_state() { # IFACE; sets `state`: missing, down, no-carrier or link
  state=missing
  [ -e "/sys/class/net/$1" ] || return 0
  state=down; flags=0; read -r flags <"/sys/class/net/$1/flags"
  [ $((flags & 1)) = 1 ] || return 0
  state=no-carrier; carrier=0; { read -r carrier <"/sys/class/net/$1/carrier"; } 2>/dev/null
  [ "$carrier" != 1 ] || state='link'
}
list_addresses() { listing=$(ip -o address show 2>/dev/null </dev/null); } # of all interfaces; the functions below look there
# The link-local IPv6 addresses of an interface: all, those that the kernel still tests, or those that it does not. Sets `own`,
# each behind a blank.
find_own() { # IFACE all|tentative|settled
  own=
  while read -r _ dev family address rest; do
    case "${dev%%@*} $family  $rest" in "$1 inet6 "*' scope link '*) ;; *) continue ;; esac
    case "$2  $rest " in
      tentative*' tentative '* | all*) ;;
      tentative* | settled*' tentative '*) continue ;;
    esac
    own="$own ${address%%/*}"
  done <<END
$listing
END
}
# The link-local address that an interface's MAC makes. Sets `derived`.
derive() { # IFACE
  mac=; { read -r mac <"/sys/class/net/$1/address"; } 2>/dev/null
  old=$IFS; IFS=:; set -- $mac; IFS=$old
  [ $# = 6 ] || return 1
  derived=$(printf 'fe80::%x:%x:%x:%x' $((((0x$1 ^ 2) << 8) + 0x$2)) $(((0x$3 << 8) + 255)) $((0xfe00 + 0x$4)) $(((0x$5 << 8) + 0x$6)))
}
