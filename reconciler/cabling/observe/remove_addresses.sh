# shellcheck shell=dash
# shellcheck disable=SC2154 # from cabling.sh
# Removes the addresses of add_addresses.sh.
has_end() { # IFACE ADDRESS; those that the kernel, networkd and NetworkManager make have none
  while read -r _ dev _ address rest; do
    case "${dev%%@*} $address $rest " in "$1 $2/64 "*' dynamic '*) return 0 ;; esac
  done <<END
$listing
END
  return 1
}
list_addresses
case $listing in *' dynamic '*) ;; *) PORTS= ;; esac # as a rule there is none to remove
set --
for port in $PORTS; do
  derive "$port" && has_end "$port" "$derived" || continue
  find_own "$port" all
  set -- "$@" "address del $derived/64 dev $port"
  [ "$own" != " $derived" ] || set -- "$@" "route del fe80::/64 dev $port proto kernel"
done
batch "$@"
true
