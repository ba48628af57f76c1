# shellcheck shell=dash
# Stops the unit $1 in the early boot, and at no other time: what runs later was not started by our link. A plan may show the command,
# so that it is one line.
[ "$(systemctl is-system-running)" != initializing ] || exec systemctl --no-block stop -- "$1"
