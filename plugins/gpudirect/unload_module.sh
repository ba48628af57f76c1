# shellcheck shell=dash
# Unloads the module $1. rmmod and not modprobe -r, which takes unused modules along that this one needs, whoever loaded
# them. A module in use stays: the next boot is without it. A plan may show the command, so that it is one line.
grep -qsx 0 "/sys/module/$1/refcnt" || exit 0; exec rmmod "$1"
