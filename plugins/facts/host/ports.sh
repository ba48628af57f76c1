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
return 0
