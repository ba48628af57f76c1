# shellcheck shell=dash
# The interfaces that are wireless: "wireless NETDEV".
for path in /sys/class/net/*/wireless /sys/class/net/*/phy80211; do
  [ ! -e "$path" ] || { path=${path%/*}; echo "wireless ${path##*/}"; }
done
return 0
