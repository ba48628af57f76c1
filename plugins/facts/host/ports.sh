# shellcheck shell=dash
# Each argument is NETDEV=ADDRESS.
for path in /sys/class/net/*/device; do
  [ -e "$path" ] || continue
  real=$(readlink -f "$path")
  net=${path%/device}
  printf 'pci %s %s\n' "${real##*/}" "${net##*/}"
done
for port do
  net=${port%%=*}
  [ ! -e "/sys/bus/pci/devices/${port#*=}" ] || printf 'function %s\n' "${port#*=}"
  [ -e "/sys/class/net/$net" ] || continue
  command -v ethtool >/dev/null || continue
  { read -r carrier <"/sys/class/net/$net/carrier"; } 2>/dev/null || carrier=0 # a port that is off has none to read
  # Without carrier a port has neither an encoding nor lanes, and counters nevertheless.
  { [ "$carrier" = 0 ] || { ethtool --show-fec "$net"; ethtool "$net"; }; ethtool -S "$net"; } 2>/dev/null | awk -v net="$net" '
    /^Active FEC encodings?: / { sub(/^[^:]*: */, ""); print "fec", net, $0 }
    $1 == "Lanes:" { print "lanes", net, $2 }
    $1 ~ /^(rx_crc_errors_phy|link_down_events_phy):$/ { sub(":", "", $1); print "errors", net, $2, $1 }'
done
exit 0
