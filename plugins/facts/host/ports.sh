# shellcheck shell=dash
# Each argument is NETDEV=ADDRESS.
for path in /sys/class/net/*/device; do
  cd -P "$path" 2>/dev/null || continue
  net=${path%/device}
  printf 'pci %s %s\n' "${PWD##*/}" "${net##*/}"
  cd -P ./driver 2>/dev/null && printf 'driver %s %s\n' "${net##*/}" "${PWD##*/}"
done
cd /
for port do
  [ ! -e "/sys/bus/pci/devices/${port#*=}" ] || printf 'function %s\n' "${port#*=}"
done
command -v ethtool >/dev/null || return 0
for port do
  net=${port%%=*}
  [ -e "/sys/class/net/$net" ] || continue
  printf 'netdev %s\n' "$net"
  { read -r carrier <"/sys/class/net/$net/carrier"; } 2>/dev/null || carrier=0 # a port that is off has none to read
  # Without carrier a port has neither an encoding nor lanes, and counters nevertheless.
  [ "$carrier" = 0 ] || { ethtool --show-fec "$net"; ethtool "$net"; } 2>/dev/null
  ethtool -S "$net" 2>/dev/null
done | awk '
  $1 == "netdev" { net = $2 }
  /^Active FEC encodings?: / { sub(/^[^:]*: */, ""); print "fec", net, $0 }
  $1 == "Lanes:" { print "lanes", net, $2 }
  $1 ~ /^(rx_crc_errors_phy|link_down_events_phy):$/ { sub(":", "", $1); print "errors", net, $2, $1 }'
return 0
