# shellcheck shell=dash
# Removes the addresses of add_addresses.sh.
for iface in $PORTS; do
  address=$(derived "$iface") || continue
  # Those that the kernel, networkd and NetworkManager make have no end.
  [ -n "$(run 5 ip -6 -o address show dev "$iface" to "$address" dynamic)" ] || continue
  run 5 ip -6 address del "$address/64" dev "$iface"
  [ -n "$(own "$iface")" ] || run 5 ip -6 route del fe80::/64 dev "$iface" proto kernel
done
true
