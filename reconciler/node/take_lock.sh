# shellcheck shell=dash
# Takes the node's lock for as long as this shell lives, and writes the lease beside it; its second file says until when
# (seconds of /proc/uptime) the holder may keep silent.
may_be_silent() { # SECONDS
  uptime; echo $((up + $1)) >"$D/lease.until"
}

cannot_lock() { frame 'done 1'; exit 1; }

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
trap 'rm -f "$D/lease" "$D/lease.until"' EXIT
trap 'exit 129' HUP INT TERM PIPE
# Its first request comes when all nodes are connected to.
read -r up _ </proc/uptime; echo "$((${up%.*} + 120))" >"$D/lease.until"
printf '%s\n' "$LEASE" >"$D/lease" && echo "shell $$" >>"$D/lease"
frame 'done 0'
