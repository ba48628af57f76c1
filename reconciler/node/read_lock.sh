# shellcheck shell=dash
# Prints "free", or "held SHELL UNTIL UPTIME" and the lease's first two lines. The lock is not tried: a controller that
# came in that moment would be refused.
[ -e "$D/lease" ] || { echo free; exit 0; }
shell=0; until=
while read -r word value; do [ "$word" != shell ] || shell=$value; done <"$D/lease"
[ "$(readlink "/proc/$shell/fd/9")" = "$D/lock" ] || { echo free; exit 0; }
read -r until <"$D/lease.until"
read -r up _ </proc/uptime
echo "held $shell ${until:--} ${up%.*}"
head -n 2 "$D/lease"
