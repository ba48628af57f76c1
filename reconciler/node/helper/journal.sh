# shellcheck shell=dash
# shellcheck disable=SC2154 # J, T and d are the caller's
# shellcheck disable=SC2013 # children are called by numbers
# Functions over an apply's journal in $J, which the scripts left on a node need as well.
# Into `steps`: the numbers of the steps, the last one first or last. No program is started for that.
list_steps() { # -n|-rn
  steps=
  for step in "$J"/[0-9] "$J"/[0-9][0-9] "$J"/[0-9][0-9][0-9] "$J"/[0-9][0-9][0-9][0-9]; do
    [ -d "$step" ] || continue
    case $1 in -rn) steps="${step##*/} $steps" ;; *) steps="$steps ${step##*/}" ;; esac
  done
}

# What this node decided about a plan (commit, revert, or nothing yet), and how far it is. A revert that could not be
# written down in the journal stands here.
RUN=/run/spark-reconcile/reverted
is_volatile() { [ -e "$RUN/${J##*/}" ]; }
is_decided() { is_volatile || [ -L "$J/decision" ]; }
decision() { if is_volatile; then echo revert; else readlink "$J/decision"; fi; }
state() { read_state && printf '%s\n' "$text"; }
read_state() { read_text "$RUN/${J##*/}" || read_text "$J/state"; } # into `text`

# Sets `text` to the first line of a file, and starts no program for that. Non-zero: there is no such file, or it is empty.
read_text() { # FILE
  text=
  { IFS= read -r text <"$1" || [ -n "$text" ]; } 2>/dev/null
}

put() { # FROM TO [MARKER], at once or not at all, and never before the marker lasts
  tmp=$(mktemp "${2%/*}/.spark-reconcile.XXXXXXXXXX") || return 1
  cp -p -- "$1" "$tmp" && sync "$tmp" ${3:+"$3" "${3%/*}"} && mv -fT -- "$tmp" "$2" && sync "${2%/*}" && return 0
  rm -f -- "$tmp"
  return 1
}

same() { # FILE FILE, with mode and owner
  cmp -s -- "$1" "$2" || return 1
  # shellcheck disable=SC2046 # six words
  set -- $(stat -c '%a %u %g' -- "$1" "$2")
  [ $# = 6 ] && [ "$1 $2 $3" = "$4 $5 $6" ]
}

prepared() { printf '%s' "${T%/*}/.spark-reconcile.${J##*/}.${d##*/}"; } # beside the target
note() { logger -t spark-reconcile -- "apply ${J##*/}: $1" 2>/dev/null; return 0; }

# Addresses of this apply's own on the fabric. A node that shows those of `peers` is ready to commit; those of `proof` say
# nothing. Lines of both: "own IFACE ADDRESS/64" and "peer IFACE ADDRESS NODE".
beacons() { # replace|del peers|proof
  [ -e "$J/$2" ] || return 0
  # All at once. Where one fails, each is tried on its own.
  while read -r kind iface address _; do
    [ "$kind" != own ] || echo "address $1 $address dev $iface nodad"
  done <"$J/$2" | ip -6 -batch - >/dev/null 2>&1 && return 0
  while read -r kind iface address _; do
    [ "$kind" != own ] || ip -6 address "$1" "$address" dev "$iface" nodad >/dev/null 2>&1 || [ "$1" = del ] ||
      note "$iface takes no beacon"
  done <"$J/$2"
  return 0
}
# While a verb of the guard takes the beacons away it holds the journal's lock; what it took away is not shown again.
show_beacons() {
  (exec 8<"$J" && flock 8 && case $(decision),$(state) in revert,* | commit,finished) ;; *) beacons replace peers ;; esac)
}
uptime() { read -r up _ </proc/uptime; up=${up%.*}; }

# Ends the shell of a session, and what it runs, but not the caller. Killed, it does not remove its lease. Each process is
# stopped before its children are listed: one that runs may start another that no list has. In its `stat` the state follows
# the name, which may hold anything but ends at the last ')'.
family() { # PROCESS
  [ "$1" != "$self" ] || return 0
  kill -STOP "$1" 2>/dev/null
  tries=0
  while [ $tries -lt 50 ]; do
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || break
    case ${stat##*) } in [TtZX]*) break ;; esac
    tries=$((tries + 1))
    sleep 0.02
  done
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do family "$child"; done
  echo "$1"
}
# The processes of sudo above one. sudo stops when its command does, and sees the command's end only after it goes on.
list_sudos() { # PROCESS
  above=$1
  while { read -r stat <"/proc/$above/stat"; } 2>/dev/null; do
    stat=${stat##*) }; stat=${stat#* }; above=${stat%% *}
    { read -r name <"/proc/$above/comm"; } 2>/dev/null && [ "$name" = sudo ] || return 0
    echo "$above"
  done
}
go_on() { # PROCESS…, until all of them ended: one may stop after a signal to go on
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for process do ! kill -CONT "$process" 2>/dev/null || left=yes; done
    [ -n "$left" ] || return 0
    sleep 0.1
  done
}
end_shell() { # PROCESS
  read -r self _ </proc/self/stat
  sudos=$(list_sudos "$1")
  stopped=$(family "$1")
  # No other process can take the lock yet. Where this is cut off before, the lease still names the holder.
  rm -f "$D/lease" "$D/lease.until"
  # shellcheck disable=SC2086 # one word per process
  kill -KILL $stopped 2>/dev/null
  # shellcheck disable=SC2086 # likewise
  go_on $sudos
}
