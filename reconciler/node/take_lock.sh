# shellcheck shell=dash
# Takes the node's lock for as long as this shell lives, and writes the lease beside it; its second file says until when
# (seconds of /proc/uptime) the holder may keep silent.
may_be_silent() { # SECONDS
  # Over what is there: on a full disk a file that was emptied before stays empty.
  uptime; echo $((up + $1)) 1<>"$D/lease.until"
}

# A controller whose machine is gone never closes its connection, and its shell would hold the lock for hours: it ends after
# $PATIENCE seconds more than it may be silent. `until` is that limit, as it was read last.
end_when_silent() {
  trap 'kill "$pause"; exit' TERM
  left=$PATIENCE
  unread=0
  while [ "$left" -gt 0 ]; do
    sleep "$left" & pause=$!
    wait "$pause"
    [ "/proc/$$/fd/9" -ef "$D/lock" ] || exit # also where a link leads to $D
    if read -r found <"$D/lease.until"; then until=$found; unread=0; else unread=$((unread + 1)); fi
    uptime; left=$((until + PATIENCE - up))
    # Half written at this moment, it is read again; on a full disk it may stay so.
    [ "$left" -gt 0 ] || [ "$unread" = 0 ] || [ "$unread" -gt "$PATIENCE" ] || left=1
  done
  logger -t spark-reconcile "no sign of life of $LEASE: its shell is ended"
  end_shell $$
}

cannot_lock() { frame 'done 1'; exit 1; }

# Where no apply was yet, one that may change nothing leaves nothing.
[ -z "$KNOWN" ] || [ -e "$D/lock" ] || { echo 'no apply was here yet' >&2; cannot_lock; }
mkdir -p "$D" && true >>"$D/lock" || cannot_lock
exec 9>>"$D/lock"
flock -n 9; locked=$?
case $locked in
  0) ;;
  1)
    cat "$D/lease"; frame 'done 9'
    exit 9
    ;;
  *) cannot_lock ;; # there is no such program, or it cannot lock a file there
esac
trap 'rm -f "$D/lease" "$D/lease.until"; kill $watch 2>/dev/null' EXIT
trap 'exit 129' HUP INT TERM PIPE
# Its first request comes when all nodes are connected to.
read -r up _ </proc/uptime; until=$((${up%.*} + FIRST)); echo "$until" >"$D/lease.until"
printf '%s\nshell %s\n' "$LEASE" $$ >"$D/lease" # at once: without its end it cannot be read
# By exec: dash keeps the old ones of a function's redirections open, and with them the lock and the connection.
(exec </dev/null >/dev/null 2>&1 9>&- && end_when_silent) &
watch=$!
frame 'done 0'
