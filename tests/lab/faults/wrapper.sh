#!/bin/sh
# Stands before a command in a test node's PATH, under that command's name. What it does beyond the command itself is requested by
# files in /run/faults/NAME, so that it does nothing after a restart:
#   count      every call leaves a numbered file there: ARMED MTU ARGV, as they were when the call was made
#   stop       a call of this number says `reached` and waits while `hold` exists
#   slow       sleeps this many seconds first
#   fail       exits 1 instead;  fail-once  the first call does
#   flood      says this many bytes first, on stdout and stderr
#   insert     one word per line, put before the arguments
# The folder goes whenever the matrix has seen what it waited for: a call that is running then is one as any other.
name=${0##*/}
D=${FAULTS:-/run/faults}/$name

number_this_call() {
  armed=no
  for timer in /run/systemd/transient/spark-reconcile*.timer; do [ ! -e "$timer" ] || armed=yes; done
  { read -r mtu </sys/class/net/enp1s0f1np1/mtu; read -r n <"$D/count"; } 2>/dev/null
  # noclobber makes the file a lock on the number.
  set -C
  until { printf '%s %s %s\n' "$armed" "$mtu" "$*" >"$D/$n"; } 2>/dev/null; do
    [ -e "$D/count" ] || break
    n=$((n + 1))
  done
  set +C
}

if [ -d "$D" ]; then
  if [ -e "$D/count" ]; then
    number_this_call "$@"
    stop=0
    [ ! -e "$D/stop" ] || read -r stop <"$D/stop"
    if [ "$n" = "$stop" ]; then
      true >"$D/reached" # `:` would end the script where it fails
      while [ -e "$D/hold" ]; do sleep 0.02; done
    fi
  fi
  [ ! -e "$D/slow" ] || sleep "$(cat "$D/slow")"
  if [ -e "$D/fail" ]; then exit 1; fi
  if [ -e "$D/fail-once" ] && /usr/bin/rm "$D/fail-once" 2>/dev/null; then exit 1; fi
  if [ -e "$D/flood" ]; then
    size=$(cat "$D/flood")
    head -c "$size" /dev/zero | tr '\0' x
    head -c "$size" /dev/zero | tr '\0' x >&2
  fi
  if [ -e "$D/insert" ]; then
    while IFS= read -r word; do set -- "$@" "$word"; done <"$D/insert"
  fi
fi
for directory in /usr/sbin /usr/bin; do
  [ ! -x "$directory/$name" ] || exec "$directory/$name" "$@"
done
exit 127
