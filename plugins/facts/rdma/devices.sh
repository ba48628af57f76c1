# shellcheck shell=dash
# shellcheck disable=SC2035 # no device is called like an option
# $1 is /sys/class/infiniband/. What sysfs keeps in files of several lines, in links, and in tables of which most places are
# empty (reading one's type or interface is an error): the first hundred.
cd "$1" 2>/dev/null || return 0
for net in */device/net/*; do [ ! -e "$net" ] || echo "$net"; done
grep -sH '^PCI_SLOT_NAME=' */device/uevent */device/../uevent
set --
for table in gids gid_attrs/types gid_attrs/ndevs; do set -- "$@" */ports/1/$table/? */ports/1/$table/??; done
grep -sHv '^0000:0000:0000:0000:0000:0000:0000:0000$' "$@"
cd /
return 0
