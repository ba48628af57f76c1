# shellcheck shell=dash
# What lldpd heard on all ports, as JSON, behind a line that says so. Nothing where it is not there: that says nothing about a cable.
echo lldp
! command -v lldpcli >/dev/null || run 5 lldpcli -f json show neighbors
true
