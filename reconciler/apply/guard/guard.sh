# shellcheck shell=dash
# shellcheck disable=SC2154,SC2153 # values and functions from other files
# shellcheck disable=SC2012,SC2045,SC2013 # journals are called by digits and dashes
# Ends an apply on its node: a plain script beside the journal that needs neither the controller nor sshd. It is there four
# times, once per verb, and root may run each by hand. Before it stand these values:
#
#   VERB    revert, commit, finish or watch   J          the apply's journal (see node_helper.h)
#   UNIT    the name of its systemd units     SSH_UNITS  what carries logins
#   D       the folder of our state
#   LIMIT, MOMENT, LINGER   for watch, in seconds (see GuardTimes)
#
# and the functions of journal.sh; for revert those of home_path.sh too, and what to do, as calls of if_begun:
# revert_at_boot, revert_before_files and revert_after_files.
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
cd /

# ---- revert: reverts what the apply did on this node. Argument: guard (run by watch), boot, or none. Exit code 0:
# every file is as it was.

say() { printf '%s\n' "$1"; { printf '%s\n' "$1" >>"$J/revert.log"; } 2>/dev/null; note "$1"; }

# Where there is no room for a copy, the journal's own is moved back; below a home the file is overwritten in its place.
restore() { # DIRECTORY
  d=$1; load_target || return 1
  [ -n "$user" ] || rm -f -- "$(prepared)" "${T%/*}"/.spark-reconcile.?????????? # of a write that power loss cut off
  if [ -e "$d/trial" ]; then
    tried=$(cat "$d/trial") || return 1
    [ ! -e "$d/begun" ] || rm -f -- "$tried" "${tried%/*}"/.spark-reconcile.?????????? || return 1
    return 0
  fi
  [ -e "$d/begun" ] || return 0
  is_target "$d/merged" && return 0
  is_absent || is_target "$d/new" || is_target "$d/before" || keep_target "$d/foreign" || {
    [ -z "$user" ] || say "$answer"
    return 1
  } # the other text is kept
  if [ -e "$d/before" ]; then
    # Their lines stay in the file too, where that can be done without a doubt.
    if [ -e "$d/foreign" ] && diff3 -m "$d/foreign" "$d/new" "$d/before" >"$d/merged" 2>/dev/null; then
      chown --reference="$d/before" "$d/merged" && chmod --reference="$d/before" "$d/merged" &&
        put_target "$d/merged" && return 0
    fi
    is_target "$d/before" || put_target "$d/before" || move_back
  elif [ -e "$d/absent" ]; then remove_target; fi || return 1
  [ -z "$user" ] || tidy_home
}
move_back() {
  if [ -n "$user" ]; then put_home "$d/before" overwrite
  else [ "$(stat -c %d "$d/before")" = "$(stat -c %d "${T%/*}")" ] && mv -fT -- "$d/before" "$T"; fi
}
# What a write left that power loss cut off, and the folders that were not there, where they are empty.
tidy_home() { request_home /dev/null tidy "$below" "$(cat "$d/absent" 2>/dev/null)" || :; }

restore_all() {
  all=0
  for step in $(steps -rn); do
    [ -e "$J/$step/path" ] || continue
    restore "$J/$step" || { say "cannot restore $(cat "$J/$step/path")"; all=1; }
  done
  return $all
}

# What fails on the way is reported; whether it mattered shows in the last values, and when the node is read.
live() { "$@" >/dev/null 2>>"$log" </dev/null || say "exit $?: $*"; }
# A value that was set before and cannot be set again.
last() {
  for pause in 1 3 ''; do
    "$@" >/dev/null 2>>"$log" </dev/null && return 0
    [ -z "$pause" ] || sleep $pause
  done
  say "cannot set back: $*"
  failed=1
}

as() { # USER COMMAND…, in that user's home
  user=$1; shift
  [ -n "$user" ] || { keep_generated "$@"; return; }
  resolve "~$user/." ''
  (cd "$home" && HOME=$home runuser -u "$user" -- "$@")
}

# The kernel's settings of each fabric port, which a network manager changes when it takes it over. It
# answers before it has let go of the port, and may write once more.
restore_conf() {
  [ -e "$J/conf" ] || return 0
  for attempt in 1 2 3 4 5; do
    cut -d : -f 1 "$J/conf" | xargs grep -sH '' >"$J/conf.now"
    moved=$(grep -vxFf "$J/conf.now" "$J/conf") || return 0
    [ $attempt != 5 ] || break
    printf '%s\n' "$moved" | while IFS=: read -r path was; do printf '%s\n' "$was" >"$path"; done 2>>"$J/revert.log"
    sleep 0.7
  done
  # shellcheck disable=SC2086 # on one line
  say "kernel settings that did not stay: $(printf '%s ' $moved)"
}

# Only what had begun is reverted.
if_begun() { # STEP COMMAND…
  [ -e "$J/$1/begun" ] || return 0
  shift
  "$@"
}

revert() {
  failed=0
  if ! decide revert; then
    [ ! -L "$J/decision" ] || { say 'this plan was committed: nothing is reverted'; exit 3; }
    say 'the decision cannot be written down: what can be reverted is, and it is tried again'
    failed=1
  fi

  # One at a time: a second one, begun late, would revert what was applied after the first.
  { : >>"$J/revert.lock"; } 2>/dev/null && exec 8>>"$J/revert.lock" && flock 8
  [ "$(cat "$J/state" 2>/dev/null)" != reverted ] || { echo reverted; exit 0; }

  log=$J/revert.log; [ -w "$log" ] || log=/dev/null
  beacons del
  if [ "${1:-}" = boot ]; then revert_at_boot; else revert_before_files; fi
  for attempt in 1 2 3; do
    restore_all && break
    [ $attempt != 3 ] || failed=1
    sleep 2
  done
  if [ -e "$J/made" ]; then
    sort -r "$J/made" | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
  fi
  if [ "${1:-}" = boot ]; then
    live timeout 30 netplan generate
    live as '' timeout 30 systemctl daemon-reload
  else
    revert_after_files
    restore_conf
    outside_is_whole address route rule
    [ ! -e "$J/sshd" ] || for unit in $SSH_UNITS; do
      read -r was
      [ "$was" != active ] || systemctl is-active -q "$unit" || live systemctl start "$unit"
    done <"$J/sshd"
  fi
  [ $failed != 0 ] || rm -f "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" \
    "/etc/systemd/system/$UNIT-boot.service" || failed=1
  if [ $failed = 0 ]; then
    echo reverted >"$J/state"
  else echo revert-failed >"$J/state"; fi
  sync "$J/state"
  say "$(cat "$J/state")"
  [ $failed != 0 ] || [ "${1:-}" = guard ] || [ "${1:-}" = boot ] || systemctl stop "$UNIT.timer" "$UNIT.service" 2>/dev/null
  exit $failed
}

# ---- commit: completes the apply on this node. Renames only, but where a power loss or a full disk came between. Exit code
# 3: the node has reverted the apply.

commit() {
  decide commit || { echo 'this node has reverted the plan' >&2; exit 3; }
  failed=0
  for step in $(steps -n); do
    d=$J/$step
    [ -e "$d/trial" ] && [ -e "$d/begun" ] || continue
    T=$(cat "$d/path")
    if [ -e "$d/new" ]; then
      if [ -e "$(prepared)" ]; then mv -fT -- "$(prepared)" "$T"
      else same "$d/new" "$T" 2>/dev/null || put "$d/new" "$T"; fi
    else rm -f -- "$T"; fi && sync "${T%/*}" && rm -f -- "$(cat "$d/trial")" || failed=1
  done
  if [ -e "$J/made" ]; then # nothing is on trial any more
    grep '^/run/' "$J/made" | sort -r | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
  fi
  # The trials of such settings did not last over a restart.
  if [ -e "$J/restarted" ]; then
    for step in $(steps -n); do
      T=$(cat "$J/$step/path" 2>/dev/null)
      case $T in /etc/sysctl.d/*) [ ! -e "$T" ] || timeout 10 sysctl -q -p "$T" 2>/dev/null ;; esac
    done
  fi
  if [ -d "$J/documents" ]; then
    for file in $(cd "$J/documents" && find . -type f); do
      mkdir -p "$D/${file%/*}" && put "$J/documents/$file" "$D/$file" || failed=1
    done
  fi
  [ $failed = 0 ] || { echo commit-failed >"$J/state"; note 'the commit could not be completed'; exit 1; }
  echo committed >"$J/state"
  sync "$J/state"
  note committed
}

# ---- finish: takes away what guarded the apply. Argument: guard (run by watch), boot, or none.

finish() {
  beacons del
  rm -f "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" "/etc/systemd/system/$UNIT-boot.service" || exit 1
  echo finished >"$J/state"
  sync "$J/state"
  # Staged by a controller that ended before it armed anything; without the lock it may be running.
  [ -n "${1:-}" ] || for old in $(ls "$D/journal"); do
    [ -e "$D/journal/$old/revert" ] || rm -rf "$D/journal/$old"
  done
  # Folders that an apply made go when they are empty; until then they are remembered.
  cat "$D/made" "$J/made" 2>/dev/null | sort -ru | while IFS= read -r made; do
    rmdir -- "$made" 2>/dev/null || [ ! -d "$made" ] || printf '%s\n' "$made"
  done >"$D/made.new" && mv -f "$D/made.new" "$D/made"
  # What was decided long ago is of no use for a revert; the ledger knows what matters.
  for old in $(ls -t "$D/journal" | tail -n +21); do
    case $(cat "$D/journal/$old/state") in finished | reverted) rm -rf "$D/journal/$old" ;; esac
  done
  [ "${1:-}" = guard ] || systemctl stop "$UNIT.timer" "$UNIT.service" 2>/dev/null
  exit 0
}

# ---- watch: decides about the apply when its controller makes no progress any more, and carries the decision out. Run by
# the timer; with boot by the unit of the early boot; with query by the next apply, to which it prints the decision.

# /proc/uptime counts time asleep too, and no clock set by hand moves it.
wait_for_progress() {
  while [ ! -L "$J/decision" ]; do
    uptime
    last=0; step=0; read -r last step <"$J/progress"
    # What works on a step has `working` open, orphaned or not.
    flock -n "$J/working" true 2>/dev/null && step=0
    left=$((LIMIT - up + last + ${step:-0}))
    [ $left -gt 0 ] || return 0
    [ "${step:-0}" = 0 ] || left=1
    sleep $left
  done
}

# Every peer that shares a cable or a switch shows, on one rail at least, that it is ready too.
answers() { # NODE
  while read -r kind iface address node; do
    [ "$kind $node" = "peer $1" ] || continue
    ping -6 -n -q -c 1 -W 2 -I "$iface" "$address" >/dev/null 2>&1 && return 0
    ping -6 -n -q -c 3 -i 0.5 -W 2 -I "$iface" "$address" >/dev/null 2>&1 && return 0
  done <"$J/peers"
  return 1
}
peers_are_new() {
  beacons replace
  sleep 1
  for round in $(seq "$(cat "$J/rounds")"); do
    [ "$round" = 1 ] || sleep "$MOMENT"
    for peer in $(grep '^peer ' "$J/peers" | cut -d ' ' -f 4 | sort -u); do
      answers "$peer" || return 1
    done
  done
}

completed() { [ "$(cat "$J/state")" = committed ] || sh "$J/commit"; }
reverted() { [ "$(cat "$J/state")" = reverted ] || sh "$J/revert" guard; }
persist() { # COMMAND
  for pause in 1 5 15 30 60 0; do
    "$1" && return 0
    sleep $pause
  done
  return 1
}
# A peer that is ready and late must see it; where peers check in rounds, the last one is later by as many.
linger() {
  for round in $(seq $((LINGER / MOMENT - 1 + 2 * $(cat "$J/rounds")))); do
    beacons replace
    sleep "$MOMENT"
    [ "$(cat "$J/state")" != finished ] || exit 0
  done
}
decided() { # what this node decided, carried out
  if [ "$(readlink "$J/decision")" = commit ]; then
    [ "$(cat "$J/state")" = finished ] || { persist completed && linger && sh "$J/finish" guard; }
  else persist reverted; fi
}
later() { # SECONDS; where no timer can be had nothing stays undecided
  uptime; echo "$up" >"$J/progress"
  timeout 30 systemd-run -q --no-block --unit="$UNIT" --on-active="$1" --timer-property=AccuracySec=1s sh "$J/watch"
}

# A controller that lost its power never closes its connection: its shell would hold the lock for ever.
family() { for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do family "$child"; done; echo "$1"; }
end_holder() {
  holder=$(cat "$J/holder")
  [ "$(readlink "/proc/$holder/fd/9")" = "$D/lock" ] || return 0
  note 'no sign of life: its shell is ended'
  # shellcheck disable=SC2046 # one word per process
  kill -KILL $(family "$holder")
}

watch_at_boot() {
  case $(readlink "$J/decision") in
    commit) sh "$J/commit"; later 1 || sh "$J/finish" boot; exit ;;
    revert) sh "$J/revert" boot; exit ;;
  esac
  [ -e "$J/intent" ] || { sh "$J/revert" boot; exit; }
  # Ready to commit when the power went: it comes up as new, and its peers decide.
  for step in $(steps -n); do
    d=$J/$step
    [ -e "$d/trial" ] && [ -e "$d/begun" ] || continue
    to=$(cat "$d/trial")
    (umask 022 && mkdir -p "${to%/*}")
    if [ -e "$d/new" ]; then put "$d/new" "$to"; else : >"$to"; fi
  done
  timeout 30 netplan generate
  : >"$J/restarted"
  later "$LIMIT" || sh "$J/revert" boot
}

# For the next apply, which does not see every node of this one.
watch_for_next_apply() {
  if [ ! -L "$J/decision" ]; then
    if [ -s "$J/peers" ] && peers_are_new; then sh "$J/commit"; else sh "$J/revert"; fi >&2
  fi
  readlink "$J/decision"
}

watch() {
  case ${1:-} in
    boot) watch_at_boot; exit ;;
    query) watch_for_next_apply; exit ;;
  esac
  wait_for_progress
  [ -L "$J/decision" ] || end_holder
  if [ ! -L "$J/decision" ] && [ -e "$J/intent" ]; then
    sleep "$MOMENT"
    if [ -s "$J/peers" ] && peers_are_new; then sh "$J/commit"; fi
  fi
  [ -L "$J/decision" ] || sh "$J/revert" guard
  decided
}

case $VERB in
  revert) revert "$@" ;;
  commit) commit ;;
  finish) finish "$@" ;;
  watch) watch "$@" ;;
  *)
    echo "guard: wanted a verb, found '$VERB'" >&2
    exit 2
    ;;
esac
