# shellcheck shell=dash
# Prints "free"; or "held SHELL UNTIL UPTIME" and the lease's first two lines; or "unreadable", where the lease does not say
# which shell holds the lock: it is being written, or was cut off. The lock is not tried: a controller that came in that
# moment would be refused.
[ -e "$D/lease" ] || { echo free; exit 0; }
shell=; until=
# A line without its end is one that is cut off, and so may be the number.
while read -r word value; do [ "$word" != shell ] || shell=$value; done <"$D/lease"
case $shell in
  '' | 0* | *[!0-9]*)
    # It may have gone meanwhile, and the lock with it.
    if [ -e "$D/lease" ]; then echo unreadable; else echo free; fi
    exit 0
    ;;
esac
[ "/proc/$shell/fd/9" -ef "$D/lock" ] || { echo free; exit 0; }
read -r until <"$D/lease.until"
read -r up _ </proc/uptime
echo "held $shell ${until:--} ${up%.*}"
head -n 2 "$D/lease"
