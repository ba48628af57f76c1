# shellcheck shell=dash
# Each argument is the NETDEV of a port. What is not there has no line.
command -v ethtool >/dev/null || return 0
for net do
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
