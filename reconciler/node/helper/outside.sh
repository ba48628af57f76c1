# shellcheck shell=dash
# shellcheck disable=SC2154 # J is the caller's
# Interfaces that are up, addresses, routes and rules outside the fabric, one line each. When an apply is armed they are noted in the journal as
# `outside`, beside the fabric's interfaces in `fabric`; before the commit none of them may be lost. Not compared: what was
# added since, what expires within 600 s, routes of the kernel (which follow the addresses) and of routing daemons, and what
# was on an interface that is gone or has no carrier: networkd takes its addresses away until the carrier returns.
#
# What someone added by hand to an interface of the fabric, and what no change there names, is noted as well: IPv6 addresses
# and routes, as `fabric-address` and `fabric-route`. A revert alone restores it.

of_fabric() { # WORD…, of a line
  while [ $# -gt 1 ]; do
    case $1,$fabric in dev,*" $2 "* | iif,*" $2 "* | oif,*" $2 "*) return 0 ;; esac
    shift
  done
  return 1
}

fleeting() { # LINE MARK: the seconds that stand behind the mark are few
  rest=${1#*"$2" }
  rest=${rest%%sec*}
  case $rest in *[!0-9]* | '') return 1 ;; *) [ "$rest" -lt 600 ] ;; esac
}

list_links() {
  ip -o -0 link show up | while read -r _ iface _; do
    iface=${iface%%[@:]*}
    of_fabric dev "$iface" || printf '%s\n' "link -0 dev $iface up"
  done
}

# What `ip address add` takes besides the address, so that a restored address is as it was.
read_options() { # WORD…
  options=
  while [ $# -gt 1 ]; do
    case $1 in peer | brd | scope | metric) options="$options $1 $2"; shift ;; noprefixroute) options="$options $1" ;; esac
    shift
  done
}

# With `now` an address is listed both as its own and as a lease, and what expires soon is listed too.
list_addresses() { # [now]
  ip -o address show | while read -r _ iface family address rest; do
    case $family in inet) family=-4 ;; inet6) family=-6 ;; *) continue ;; esac
    line="dev ${iface%%@*} $address"
    where=
    # shellcheck disable=SC2086 # words
    if of_fabric $line; then
      case $family,$address,$rest in -4,* | *,fe80:*) continue ;; *' valid_lft forever '*) where=fabric- ;; *) continue ;; esac
    fi
    # shellcheck disable=SC2086 # words
    read_options $rest
    line=$line$options
    case ${1:-},$rest in
      now,*) printf '%s\n' "${where}address $family $line" "lease $family $line" ;;
      *' valid_lft forever '*) printf '%s\n' "${where}address $family $line" ;;
      *) fleeting "$rest" ' valid_lft' || printf '%s\n' "lease $family $line" ;;
    esac
  done
}

# What ip shows of both families, with a line "family -4" or "family -6" before each. The marks of broken lines, and tabs,
# become blanks behind it.
show_families() { # ARG…, of ip
  for family in -4 -6; do
    printf '%s\n' "family $family"
    ip -o $family "$@"
  done
}

list_routes() { # [now]
  show_families route show table all | while read -r line; do
    case "$line " in
      family\ *) family=${line#family }; continue ;;
      local\ * | broadcast\ * | multicast\ * | anycast\ *) continue ;;
      *' proto static '* | *' proto dhcp '* | *' proto ra '*) ;;
      *' proto '*) continue ;;
    esac
    where=
    # shellcheck disable=SC2086 # words
    if of_fabric $line; then
      case "$line " in *' proto '* | fe80:*) continue ;; *) where=fabric- ;; esac
    fi
    [ "${1:-}" = now ] || ! fleeting "$line" ' expires' || continue
    printf '%s\n' "${where}route $family $line"
  done | sed 's/[\\	]/ /g; s/ expires [0-9]*sec//; s/ \(linkdown\|dead\|offload\|cache\)//g; s/ error -[0-9]*//; s/  */ /g; s/ $//'
}

list_rules() {
  show_families rule show | while read -r line; do
    case $line in family\ *) family=${line#family }; continue ;; esac
    # shellcheck disable=SC2086 # words
    of_fabric $line || printf '%s\n' "rule $family pref ${line%%:*}${line#*:}"
  done | sed 's/[\\	]/ /g; s/ \[[a-z]*\]//; s/  */ /g; s/ $//'
}

list_outside() { # KINDS [now]
  fabric=
  while read -r iface; do fabric="$fabric $iface "; done <"$J/fabric"
  kinds=$1; shift
  case $kinds in *link*) list_links ;; esac
  case $kinds in *address*) list_addresses "$@" ;; esac
  case $kinds in *route*) list_routes "$@" ;; esac
  case $kinds in *rule*) list_rules ;; esac
}

note_outside() { # NETDEV…: those of the fabric
  [ ! -e "$J/outside" ] || return 0
  printf '%s\n' "$@" >"$J/fabric" && list_outside "$KINDS" >"$J/outside.new" 2>/dev/null && mv -f "$J/outside.new" "$J/outside"
}

has_carrier() { # NETDEV; a port that is off has none to read
  { read -r carrier <"/sys/class/net/$1/carrier"; } 2>/dev/null && [ "$carrier" = 1 ]
}

# An Ethernet port takes seconds to find its peer again.
await_carrier() { # NETDEV
  for pause in 0.2 0.3 0.5 1 1 2 2 3; do
    ! has_carrier "$1" || return 0
    sleep $pause
  done
}

KINDS='link address route rule'

# Into `lost`: what was noted of these kinds and is not there, one line each.
find_lost() { # KIND…
  lost=
  [ -s "$J/outside" ] || return 0
  lost=$(list_outside "$*" now 2>/dev/null | grep -vxF -f - "$J/outside" | while read -r line; do
    case $line in lease\ *) kind=address ;; *) kind=${line%% *} ;; esac
    case " $* " in *" $kind "*) ;; *) continue ;; esac
    case $line in
      link\ *) dev=${line#* dev }; [ -e "/sys/class/net/${dev%% *}" ] || continue ;;
      *' dev '*) dev=${line#* dev }; has_carrier "${dev%% *}" || continue ;;
    esac
    printf '%s\n' "$line"
  done)
}

# Of what is in `lost`. What a daemon keeps is its own to restore: leases, and what it marks with its protocol. An interface
# that is up again may bring others back, and shows more that is lost.
restore_outside() { # KIND…
  for kind do
    [ -n "$lost" ] || return 0
    case $kind in link) verb='set' ;; *) verb='add' ;; esac
    ours=$(printf '%s\n' "$lost" | grep "^$kind " | grep -v ' proto ') || continue
    printf '%s\n' "$ours" | while read -r _ family line; do
      # shellcheck disable=SC2086 # words
      ip "$family" "${kind#fabric-}" $verb $line 2>/dev/null && note "restored $kind $line"
      [ "$kind" != link ] || { line=${line#dev }; await_carrier "${line%% *}"; }
    done
    # shellcheck disable=SC2086 # words
    find_lost $KINDS
  done
}

# What is lost besides may return on its own, as a lease does.
outside_is_whole() { # KIND…, to be restored
  for pause in 0 1 1 2 ''; do
    # shellcheck disable=SC2086 # words
    find_lost $KINDS
    restore_outside "$@"
    [ -n "$lost" ] || return 0
    [ -z "$pause" ] || sleep "$pause"
  done
  say "lost since the apply began: $(printf '%s\n' "$lost" | sed '$!s/$/;/; s/^\(fabric-\)*\([a-z]*\) -[046] /\2 /' | tr '\n' ' ' | sed 's/ $//')"
}
