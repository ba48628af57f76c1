# shellcheck shell=dash
# shellcheck disable=SC1010,SC2016 # ping -M do; a script of its own for sh -c
# Functions that measure a node's links; the calls follow. Values: LOGIN, the user whose logins are tried (empty: who called
# sudo), KILL_AFTER, PING_LIMIT, SSH_LIMIT and NAMES_LIMIT in seconds, COUNTERS, a pattern of sed, FUNCTIONS, these and the values.
# Background jobs write to files, so that answers do not interleave. Where jumbo packets come back, small ones need not be
# tried. Otherwise they make the neighbour entries on both sides, so that a jumbo packet that is lost then counts. A loss is
# measured again, longer: a busy node loses answers in its own socket buffers while all pings run. Logins use the node's own
# keys alone and leave known_hosts as it is.
cd / || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' HUP INT TERM
# The few lines of a ping are read by the shell itself: programs for that would be half of all processes. What a login says
# may be long.
print() { # LABEL FILE
  [ -s "$2" ] || return 0
  case $1 in ssh.*) cat "$2"; return ;; esac
  while IFS= read -r line || [ -n "$line" ]; do printf '%s\n' "$line"; done <"$2"
}
loses_none() { # FILE
  while read -r line; do
    case $line in *' 0% packet loss'*) return 0 ;; esac
  done <"$1"
  return 1
}
run() {
  label=$1; shift; rc=0
  "$@" >"$work/$label.out" 2>"$work/$label.err" </dev/null || rc=$?
  echo "$rc" >"$work/$label.rc"
}
count_errors() { # LABEL IFACE…
  label=$1; shift
  run "$label" timeout -k "$KILL_AFTER" "$PING_LIMIT" sh -c '
    counters=$1; shift
    for port do
      read -r count <"/sys/class/net/$port/carrier_down_count" && echo "$port carrier_down_count $count"
      ethtool -S "$port" | sed -n "s/^ *\($counters\): */\1 /p" |
        while read -r name count; do echo "$port $name $count"; done
    done 2>/dev/null' sh "$COUNTERS" "$@"
}
probe_ping() { # INDEX IFACE ADDRESS SIZE
  # L: this node itself does not answer where all nodes of a rail are pinged.
  case $3 in ff02:*) flags=-nL ;; *) flags=-n ;; esac
  jumbo="-M do -s $4 -c 2 -i 0.2 -W 1"
  # shellcheck disable=SC2086 # words
  run "jumbo.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping "$flags" $jumbo -I "$2" "$3"
  [ "$rc" != 0 ] || ! loses_none "$work/jumbo.$1.out" || return 0
  case $rc in
    124 | 137) # it did not end, which no size explains
      for part in out err rc; do mv -- "$work/jumbo.$1.$part" "$work/small.$1.$part"; done
      return 0 ;;
  esac
  run "small.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping "$flags" -c 2 -i 0.2 -W 1 -I "$2" "$3"
  [ "$rc" = 0 ] || return 0
  # shellcheck disable=SC2086 # words
  run "jumbo.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping "$flags" $jumbo -I "$2" "$3"
  [ "$rc" = 0 ] && ! loses_none "$work/jumbo.$1.out" || return 0
  sleep 1
  run "jumbo.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping "$flags" -M do -s "$4" -c 10 -i 0.2 -W 1 -I "$2" "$3"
}
list_neighbours() { run neighbours timeout -k "$KILL_AFTER" "$PING_LIMIT" ip -4 neigh show; }
probe_path() { # INDEX ADDRESS SIZE
  run "path.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping -n -4 -c 2 -i 0.2 -W 1 "$2"
  [ "$rc" = 0 ] || return 0
  run "fullpath.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping -n -4 -M do -s "$3" -c 3 -i 0.2 -W 1 "$2"
  [ "$rc" = 0 ] && ! loses_none "$work/fullpath.$1.out" || return 0
  sleep 1 # the machine may answer few pings in a second
  run "fullpath.$1" timeout -k "$KILL_AFTER" "$PING_LIMIT" ping -n -4 -M do -s "$3" -c 10 -i 0.2 -W 1 "$2"
}
# All names at once, and each one alone only where some are not as wanted, until NAMES_LIMIT has passed: " ADDRESS…" of each, or
# " ?" where nothing answered in time. IPv4 alone: a question for IPv6 that no line of /etc/hosts answers would go to a name server.
list_addresses() { # NAME…
  lookup=0
  text=$(timeout -k "$KILL_AFTER" "$NAMES_LIMIT" getent ahostsv4 "$@" 2>/dev/null) || lookup=$?
  # 2: a name has no address.
  case $lookup in 0 | 2) ;; *) printf ' ?'; return ;; esac
  while read -r address kind rest; do
    [ "$kind" != STREAM ] || printf ' %s' "$address"
  done <<END
$text
END
}
judge_names() { # NAME ADDRESS…
  wanted=; count=$#
  for word do
    if [ $((count % 2)) = 0 ]; then set -- "$@" "$word"; else wanted="$wanted $word"; fi
    shift; count=$((count - 1))
  done
  [ "$(list_addresses "$@")" != "$wanted" ] || return 0
  start=$(date +%s)
  for name do
    if [ $(($(date +%s) - start)) -gt "$NAMES_LIMIT" ]; then printf '%s ?\n' "$name"; continue; fi
    printf '%s%s\n' "$name" "$(list_addresses "$name")"
  done
}
probe_names() { run names judge_names "$@"; }
login() {
  timeout -k "$KILL_AFTER" "$SSH_LIMIT" ssh -n -T -x -a -o BatchMode=yes -o ConnectTimeout=5 \
    -o StrictHostKeyChecking=yes -o UpdateHostKeys=no -o ControlMaster=no -o ControlPath=none \
    -o IdentityAgent=none -o LogLevel=ERROR -- "$1" true
}
probe_ssh() {
  run "ssh.$1" login "$2"
  if [ "$rc" = 255 ] && grep -q kex_exchange_identification "$work/ssh.$1.err"; then
    sleep 0.5
    run "ssh.$1" login "$2"
  fi
}
answer() {
  for file in "$work"/*.rc; do
    [ -e "$file" ] || continue
    label=${file##*/}; label=${label%.rc}
    frame "$label"
    read -r rc <"$file" && echo "$rc"
    print "$label" "$work/$label.out"
    print "$label" "$work/$label.err" >&2
  done
}
# All logins by one shell of the user who logs in, since to become that user takes longer than much of a login. Where it
# cannot be had, its words are those of every login.
log_in() { # COUNT CALLS
  me=$(id -un)
  user=${LOGIN:-${SUDO_USER:-$me}}
  [ "$me" != "$user" ] || { eval "$2"; return; }
  rc=0
  # By its input, for one argument of a program holds at most 128 KiB.
  printf '%s\n' "$FUNCTIONS" "$2" answer | runuser -u "$user" -- sh >"$work/logins.out" 2>"$work/logins.err" || rc=$?
  if [ "$rc" = 0 ]; then cat "$work/logins.out"; cat "$work/logins.err" >&2; return; fi
  count=0
  while [ "$count" -lt "$1" ]; do
    cat "$work/logins.err" >"$work/ssh.$count.err"
    true >"$work/ssh.$count.out"
    echo "$rc" >"$work/ssh.$count.rc"
    count=$((count + 1))
  done
}
