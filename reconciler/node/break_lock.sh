# shellcheck shell=dash
# shellcheck disable=SC2013,SC2034
# Ends the process $HOLDER, but only one that has the lock open, and with it its children: the running step.
[ "/proc/$HOLDER/fd/9" -ef "$D/lock" ] || { echo 'the lock has another holder now' >&2; exit 1; }
end_shell "$HOLDER"
for try in 1 2 3 4 5 6 7 8 9 10; do
  flock -n "$D/lock" true && exit 0
  sleep 0.3
done
echo 'the lock is still held' >&2
exit 1
