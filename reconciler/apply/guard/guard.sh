# shellcheck shell=dash
# shellcheck disable=SC2154,SC2153 # values and functions from other files
# shellcheck disable=SC2012,SC2045,SC2013 # journals are called by digits and dashes
# Ends an apply on its node: the plain script `guard` beside the journal, which needs neither the controller nor sshd. Root
# may run each verb by hand:
#
#   revert    reverts what the apply did      finish   takes away what guarded it
#   commit    completes it                    watch    decides about it and carries that out
#
# Exit code 0: it is done, or was before; 1: it failed, and may be tried again; 3: it is refused. What an apply's state
# (decision, `state`) makes of a verb; "newer": an apply that began later on this node and was not reverted.
#
#                                revert    commit     finish    watch
#   undecided, without intent    done      refused    refused   reverts
#   undecided, with intent       done      done       refused   queries its peers
#   revert, not yet reverted     done      refused    refused   reverts
#   revert, reverted             no-op     refused    no-op     no-op
#   commit, not yet committed    refused   done       refused   commits, finishes
#   commit, committed            refused   no-op      done      finishes
#   commit, finished             refused   no-op      no-op     no-op
#   newer                        where it says done, revert and commit are refused
#
# Before it stand these values:
#
#   J           the apply's journal (see node_helper.h)   D       the folder of our state
#   UNIT        the name of its systemd units             LIMIT, MOMENT, LINGER, BOOT_S   seconds (see GuardTimes)
#   SSH_UNITS   what carries logins                       GUARD_PROPERTIES        of its service, as options of systemd-run
#
# and the functions of journal.sh and home_path.sh; what to revert, as calls of if_begun, is in revert_at_boot,
# revert_before_files and revert_after_files; generate_at_boot runs the generators of what is on trial, and release_again sets
# back in the kernel what the apply no longer sets. A revert needs no write in the journal. (A redirection that fails ends the
# script when it stands at a special builtin as `:` or `exec`.)
export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
cd /

say() { printf '%s\n' "$1"; { printf '%s\n' "$1" >>"$J/revert.log"; } 2>/dev/null; note "$1"; }
refuse() { echo "$1" >&2; exit 3; }

# One verb at a time: a later one finds what the first one did.
lock() { exec 8<"$J" && flock 8 || exit 1; }

# The first caller decides a plan's fate on this node. Both links are there since the guard was armed, so that deciding
# takes no new file.
decide() { # commit|revert
  [ -L "$J/decision" ] || { mv -fT "$J/.$1" "$J/decision" || ln -sT "$1" "$J/decision"; } 2>/dev/null
  sync "$J"
  [ "$(readlink "$J/decision")" = "$1" ]
}
record() { # STATE
  { echo "$1" >"$J/state"; } 2>/dev/null && sync "$J/state"
}

# An apply that began later on this node stands: nothing of this one may come over it.
superseded() {
  read_text "$J/order" && own=$text || return 1
  for other in "${J%/*}"/*/order; do
    read_text "$other" && [ "$text" -gt "$own" ] || continue
    read_text "${other%/*}/state"
    [ "$text" = reverted ] || return 0
  done 2>/dev/null
  return 1
}

# It is gone from the disk before the journal says how the apply ended.
remove_boot_unit() {
  units=/etc/systemd/system
  unit_left=0
  rm -f "$units/sysinit.target.wants/$UNIT-boot.service" "$units/$UNIT-boot.service" || unit_left=1
  for folder in "$units/sysinit.target.wants" "$units"; do [ ! -d "$folder" ] || sync "$folder" || unit_left=1; done
  [ $unit_left = 0 ] || { say "cannot remove $UNIT-boot.service"; return 1; }
}

# Nothing is written over what another program or a person wrote to the file $T before there is a copy on the disk. Each such
# text has a file of its own, which a later try names again: the power may have failed before that was on the disk.
keep_foreign() {
  is_absent || is_target "$d/new" || is_target "$d/before" && return
  kept=$d/foreign
  number=1
  while [ -e "$kept" ] && ! is_target "$kept"; do
    number=$((number + 1))
    kept=$d/foreign.$number
  done
  [ -e "$kept" ] || { keep_target "$kept" && sync "$kept" "$d"; } || { rm -f -- "$kept"; return 1; }
  say "$T was changed by another program: its text is kept in $kept"
}

# With `d` and T of each step whose file is on trial. Of two passes over one file the later one counts, also where it is no
# longer on trial.
for_each_trial() { # COMMAND…
  missed=0
  seen='|'
  list_steps -rn
  for step in $steps; do
    d=$J/$step
    [ -e "$d/begun" ] && read_text "$d/path" || continue
    T=$text; user= # below a home nothing is on trial
    case $seen in *"|$T|"*) continue ;; esac
    seen="$seen$T|"
    [ ! -e "$d/trial" ] || "$@" || missed=1
  done
  return $missed
}

# ---- revert. Argument: guard (run by watch), boot, or none. Exit code 0: every file is as it was. `scope` is what it does:
#
#   whole    all of it                  booted   what a revert at boot had to leave; live values are fresh since that boot
#   boot     what outlives a restart    homes    files of users alone: all else is done
#
# A revert that failed writes down the scope of the next one as `scope`, where that is not the whole.

# Where there is no room for a copy, the journal's own is moved back; below a home the file is overwritten in its place.
restore() { # DIRECTORY
  d=$1
  # Where staging was cut off, a step may have no path or home yet. It changed nothing.
  load_target || { [ ! -e "$d/begun" ]; return; }
  # Of a write that power loss cut off, or in a folder that takes no change for a while.
  [ -n "$user" ] || rm -f -- "$(prepared)" "${T%/*}"/.spark-reconcile.?????????? || return 1
  [ -e "$d/begun" ] || return 0
  is_home_mounted || { say "$home lies on $mount, and on $text when the apply began"; return 1; }
  if [ -e "$d/trial" ]; then
    read_text "$d/trial" && tried=$text && rm -f -- "$tried" "${tried%/*}"/.spark-reconcile.??????????
    return
  fi
  keep_foreign || { [ -z "$user" ] || say "$answer"; return 1; }
  if [ -e "$d/before" ]; then
    is_target "$d/before" || put_target "$d/before" || move_back
  elif [ -e "$d/absent" ]; then remove_target; fi || return 1
  [ -z "$user" ] || tidy_home
}
move_back() {
  if [ -n "$user" ]; then put_home "$d/before" overwrite
  else [ "$(stat -c %d "$d/before")" = "$(stat -c %d "${T%/*}")" ] && mv -fT -- "$d/before" "$T" && sync "${T%/*}"; fi
}
# What a write left that power loss cut off, and the folders that were not there, where they are empty.
tidy_home() { request_home /dev/null tidy "$below" "$(cat "$d/absent" 2>/dev/null)" || :; }

# What is written into the folder that a home will be mounted on is lost. Journals of earlier versions do not say where it was.
is_home_mounted() {
  [ -n "$user" ] && read_text "$d/mount" || return 0
  find_home_mount
  [ "$mount" != "$text" ] || return 0
  timeout -k 1 5 ls -d -- "$ROOT$home/." >/dev/null 2>&1 8<&- # which mounts it, where autofs does
  find_home_mount
  [ "$mount" = "$text" ]
}

restore_all() {
  all=0
  others=0 # what is no file of a user
  list_steps -rn
  for step in $steps; do
    [ -e "$J/$step/path" ] || continue
    restore "$J/$step" && continue
    say "cannot restore $(cat "$J/$step/path")"
    # A user can keep others out of his home for ever: after a second try the revert ends without it. But what a boot brings
    # late, such as a home on another machine, is waited for.
    uptime
    [ -n "$user" ] && [ "$was" = revert-failed ] && [ "$up" -ge "$BOOT_S" ] && continue
    all=1
    [ -n "$user" ] || others=1
  done
  return $all
}

# Files that other programs generated during the trial: they return without their generators. Where there is no room for a
# second copy, the trial's own makes it.
restore_own_generated() {
  for d in "$J"/generated/*; do
    read_text "$d/path" && T=$text || continue # of a pass that was cut off
    if [ ! -e "$d/before" ]; then rm -f -- "$T"
    else same "$d/before" "$T" || put "$d/before" "$T" || { rm -f -- "$T"; put "$d/before" "$T"; }; fi 2>/dev/null ||
      { say "cannot restore $T"; failed=1; }
  done
}

log() { log=$J/revert.log; { true >>"$log"; } 2>/dev/null || log=/dev/null; }
# What fails on the way is reported; whether it mattered shows in the last values, and when the node is read.
live() { log; "$@" >/dev/null 2>>"$log" </dev/null 8<&- || say "exit $?: $*"; }
# A value that was set before and cannot be set again.
last() {
  for pause in 1 3 ''; do
    log
    "$@" >/dev/null 2>>"$log" </dev/null 8<&- && return 0
    [ -z "$pause" ] || sleep $pause
  done
  say "cannot set back: $*"
  failed=1
}

# Of a revert at boot: the timer tries again.
once() {
  log
  "$@" >/dev/null 2>>"$log" </dev/null 8<&- && return
  say "exit $?: $*"
  failed=1
}
# What needs the network or services runs when the timer tries again.
postpone() {
  if [ "$scope" = booted ]; then once "$@"; else say "is left until the node has started: $*"; failed=1; fi
}

# For a command that sets a value below PATH, in the kernel. What is gone (a port, since it saves power) has nothing to restore.
gone='|'
if_there() { # PATH COMMAND…
  if [ ! -e "$1" ]; then
    case $gone in *"|$1|"*) ;; *) say "$1 is gone: there is nothing to restore"; gone="$gone$1|" ;; esac
    return 0
  fi
  shift
  without_reload "$@"
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
    moved=
    while IFS=: read -r path was; do
      { IFS= read -r now <"$path"; } 2>/dev/null || continue # the port is gone
      [ "$now" != "$was" ] || continue
      moved="$moved $path:$was"
      [ $attempt = 5 ] || { printf '%s\n' "$was" >"$path"; } 2>/dev/null
    done <"$J/conf"
    [ -n "$moved" ] || return 0
    sleep 0.7
  done
  say "kernel settings that did not stay:$moved"
}

# Only what had begun is reverted.
if_begun() { # STEP COMMAND…
  [ -e "$J/$1/begun" ] || return 0
  shift
  "$@"
}

# Once, where any of these steps had begun.
if_any_begun() { # STEPS COMMAND…
  for step in $1; do
    [ -e "$J/$step/begun" ] || continue
    shift
    "$@"
    return
  done
}

# A step that saw no decision is over when `working` is free. What it writes until then is to be reverted too.
await_step() {
  [ -e "$J/working" ] || return 0
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    ! flock -n "$J/working" true 2>/dev/null || return 0
    sleep 1
  done
  say 'a step is still running: the apply is reverted all the same'
}

# How the revert ended. Where the journal takes no write, /run knows it until it does.
conclude() { # STATE
  if decide revert && record "$1"; then rm -f "$RUN/${J##*/}"
  else { mkdir -p "$RUN" && echo "$1" >"$RUN/${J##*/}"; } 2>/dev/null; fi
}

revert() {
  lock
  case $(decision),$(state) in
    commit,*) refuse 'this plan was committed: nothing is reverted' ;;
    revert,reverted)
      ! is_volatile || { decide revert && remove_boot_unit && conclude reverted; }
      echo reverted
      exit 0 ;;
  esac
  ! superseded || refuse 'a later apply stands on this node: nothing is reverted'
  decide revert || { conclude armed; say 'the journal cannot be written: the apply is reverted without it'; }
  [ "${1:-}" = boot ] || await_step

  failed=0
  was=$(state)
  scope=whole
  if [ "${1:-}" = boot ]; then scope=boot
  elif [ "$was" = revert-failed ] && read_text "$J/scope"; then scope=$text; fi
  beacons del proof
  beacons del peers
  case $scope in boot | booted) revert_at_boot ;; whole) revert_before_files ;; esac
  for attempt in 1 2 3; do
    restore_all && break
    [ $attempt != 3 ] || [ $others = 0 ] || failed=1
    sleep 2
  done
  if [ -e "$J/made" ]; then
    sort -r "$J/made" | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
  fi
  case $scope in boot) generate_at_boot ;; esac
  case $scope in boot | booted) live as '' timeout 30 systemctl daemon-reload ;; esac
  if [ "$scope" = whole ]; then
    restore_own_generated
    revert_after_files
    restore_own_generated # as the triggers left them
    restore_conf
    KINDS="$KINDS fabric-address fabric-route"
    # shellcheck disable=SC2086 # one word per kind
    outside_is_whole $KINDS
    [ ! -e "$J/sshd" ] || for unit in $SSH_UNITS; do
      read -r was
      [ "$was" != active ] || systemctl is-active -q "$unit" || live systemctl start "$unit"
    done <"$J/sshd"
  fi
  case $scope,$failed in
    boot,* | booted,*) next=booted ;;
    whole,1) next= ;;
    *) next=homes ;;
  esac
  { if [ -n "$next" ]; then echo "$next" >"$J/scope"; else rm -f "$J/scope"; fi; } 2>/dev/null
  [ "$all" = 0 ] || failed=1
  # While the journal knows nothing of it, the next boot finds the unit.
  [ $failed != 0 ] || ! decide revert || remove_boot_unit || failed=1
  remove_empty
  if [ $failed = 0 ]; then conclude reverted; else conclude revert-failed; fi
  say "$(state)"
  [ $failed != 0 ] || is_volatile || [ "${1:-}" = guard ] || [ "${1:-}" = boot ] ||
    systemctl stop "$UNIT.timer" "$UNIT.service" 2>/dev/null
  exit $failed
}

# ---- commit. Renames only, but where a power loss or a full disk came between.

# What has its place is on trial no longer: when the commit is tried again, later edits of it stay.
place() {
  keep_foreign || return 1
  read_text "$d/trial"; tried=$text
  if [ -e "$d/new" ]; then
    if [ -e "$(prepared)" ]; then mv -fT -- "$(prepared)" "$T"
    else same "$d/new" "$T" 2>/dev/null || put "$d/new" "$T"; fi
  else rm -f -- "$T"; fi && sync "${T%/*}" && rm -f -- "$tried" && mv -fT -- "$d/trial" "$d/placed"
}

commit() {
  lock
  case $(decision),$(state) in
    revert,*) refuse 'this node has reverted the plan' ;;
    commit,committed | commit,finished) exit 0 ;;
  esac
  ! superseded || refuse 'a later apply stands on this node: nothing is committed'
  [ -e "$J/intent" ] || refuse 'this node is not ready to commit'
  decide commit || { echo 'the decision cannot be written to the journal' >&2; exit 1; }
  failed=0
  for_each_trial place || failed=1
  if [ -e "$J/made" ]; then # nothing is on trial any more
    grep '^/run/' "$J/made" | sort -r | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
  fi
  folders=
  # They lie on the same file system since before the intent: a rename takes no room, nor do folders that come along.
  for file in $(cd "$J/documents" 2>/dev/null && find . -type f); do
    [ -e "$J/documents/$file" ] || continue
    while [ ! -d "$D/${file%/*}" ]; do file=${file%/*}; done
    mv -fT -- "$J/documents/$file" "$D/$file" || failed=1
    case "$folders " in *" $D/${file%/*} "*) ;; *) folders="$folders $D/${file%/*}" ;; esac
  done
  # shellcheck disable=SC2086 # several folders
  [ -z "$folders" ] || sync $folders || failed=1
  # The boot before read the old files too, where these stand in /etc.
  [ ! -e "$J/booted" ] || release_again
  [ $failed = 0 ] || { record commit-failed; note 'the commit could not be completed'; exit 1; }
  record committed || exit 1
  note committed
}

# ---- finish. Argument: guard (run by watch), boot, or none.

finish() {
  lock
  case $(decision),$(state) in
    commit,committed) ;;
    commit,finished | revert,reverted) exit 0 ;;
    *) refuse 'this apply is neither committed nor reverted: its guard stays' ;;
  esac
  beacons del proof
  beacons del peers
  # Of no use once nothing is reverted any more.
  [ ! -e "$J/aside" ] || while IFS= read -r aside; do rm -rf -- "$aside"; done <"$J/aside"
  remove_boot_unit && record finished || exit 1
  # Staged by a controller that ended before it armed anything; without the lock it may be running.
  kept=0
  for old in "$D"/journal/*; do
    if [ -n "${1:-}" ] || [ -e "$old/guard" ]; then kept=$((kept + 1)); else rm -rf "$old"; fi
  done
  # Folders that an apply made go when they are empty; until then they are remembered.
  if [ -s "$D/made" ] || [ -s "$J/made" ]; then
    cat "$D/made" "$J/made" 2>/dev/null | sort -ru | while IFS= read -r made; do
      rmdir -- "$made" 2>/dev/null || [ ! -d "$made" ] || printf '%s\n' "$made"
    done >"$D/made.new" && mv -f "$D/made.new" "$D/made"
  fi
  # What was decided long ago is of no use for a revert; the ledger knows what matters.
  # By their order, and not by a clock that may have gone back.
  [ "$kept" -le 20 ] || for old in $(grep -sH '' "$D"/journal/*/order | sort -t: -k2rn | tail -n +21 | cut -d: -f1); do
    old=${old%/order}
    read_text "$old/state"
    case $text in finished | reverted) rm -rf "$old" ;; esac
  done
  [ "${1:-}" = guard ] || systemctl stop "$UNIT.timer" "$UNIT.service" 2>/dev/null
  exit 0
}

# ---- watch: decides about the apply when its controller makes no progress any more, and carries the decision out. Run by
# the timer, and again by systemd until it succeeds; with boot by the unit of the early boot; with query by the next apply,
# to which it prints the decision.

# /proc/uptime counts time asleep too, and no clock set by hand moves it. Both times are rounded down: one second more, and
# no node acts before its time.
wait_for_progress() {
  while ! is_decided; do
    last=0; step=0
    for _ in 1 2 3; do # it may be half written at this moment
      read -r last step <"$J/progress" && break
      sleep 1
    done
    uptime
    [ "${last:-0}" -le "$up" ] || last=0 # of the time before a restart
    # What works on a step has `working` open, orphaned or not.
    flock -n "$J/working" true 2>/dev/null && step=0
    left=$((LIMIT + 1 - up + last + ${step:-0}))
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
  show_beacons
  sleep 1
  for round in $(seq "$(cat "$J/rounds")"); do
    [ "$round" = 1 ] || sleep "$MOMENT"
    for peer in $(grep '^peer ' "$J/peers" | cut -d ' ' -f 4 | sort -u); do
      answers "$peer" || { note "the beacon of $peer does not answer"; return 1; }
    done
  done
}

# A peer that is ready and late must see it; where peers check in rounds, the last one is later by as many.
linger() {
  for round in $(seq $((LINGER / MOMENT - 1 + 2 * $(cat "$J/rounds")))); do
    show_beacons
    sleep "$MOMENT"
    [ "$(state)" != finished ] || exit 0
  done
}
carry_out() {
  case $(decision),$(state) in
    commit,finished) exit 0 ;;
    commit,*) sh "$J/guard" commit && linger && sh "$J/guard" finish guard ;;
    *) sh "$J/guard" revert guard && ! is_volatile ;;
  esac
  exit
}
# With its default dependencies a timer starts after sysinit.target, and that waits for the boot unit, which runs this.
later() { # SECONDS; where no timer can be had nothing stays undecided
  uptime; echo "$up" >"$J/progress"
  # shellcheck disable=SC2086 # several words
  timeout 30 systemd-run -q --unit="$UNIT" --on-active="$1" --timer-property=AccuracySec=1s \
    --timer-property=DefaultDependencies=no $GUARD_PROPERTIES sh "$J/guard" watch
}

end_holder() {
  holder=$(cat "$J/holder")
  [ "/proc/$holder/fd/9" -ef "$D/lock" ] || return 0
  note 'no sign of life: its shell is ended'
  end_shell "$holder"
}

# What a restart took from /run.
try_again() {
  read_text "$d/trial"; to=$text
  (umask 022 && mkdir -p "${to%/*}")
  if [ -e "$d/new" ]; then put "$d/new" "$to"; else true >"$to"; fi
}
put_on_trial() {
  { true >"$J/booted"; } 2>/dev/null
  for_each_trial try_again
  generate_at_boot
}

watch_at_boot() {
  rm -f "$D/lease" "$D/lease.until" # of a shell from before the restart
  case $(decision),$(state) in
    commit,finished) remove_boot_unit; exit ;;
    revert,reverted) is_volatile || { remove_boot_unit; exit; } ;;
    commit,*)
      # This boot's generators read the files from before the commit.
      [ "$(state)" = committed ] || superseded || put_on_trial
      sh "$J/guard" commit
      later 1 || sh "$J/guard" finish boot
      exit ;;
  esac
  if is_decided || [ ! -e "$J/intent" ] || superseded; then
    sh "$J/guard" revert boot; end=$?
    [ $end = 1 ] || exit $end
    later 10; exit
  fi
  # Ready to commit when the power went: it comes up as new, and its peers decide.
  put_on_trial
  later "$LIMIT" || sh "$J/guard" revert boot
}

# For the next apply, which does not see every node of this one.
watch_for_next_apply() {
  if ! is_decided; then
    if [ -s "$J/peers" ] && peers_are_new; then sh "$J/guard" commit; else sh "$J/guard" revert; fi >&2 || exit
  fi
  decision
}

watch() {
  case ${1:-} in
    boot) watch_at_boot; exit ;;
    # systemd says how `watch boot` ended: where it was killed or out of time, a timer does it again.
    stopped) case ${SERVICE_RESULT:-} in success | exit-code | '') ;; *) later 10 ;; esac; exit ;;
    query) watch_for_next_apply; exit ;;
  esac
  wait_for_progress
  is_decided || end_holder
  if ! is_decided && [ -e "$J/intent" ]; then
    sleep "$MOMENT"
    # Where the peers commit and this node cannot, it stays as they are, and tries again.
    if [ -s "$J/peers" ] && peers_are_new; then sh "$J/guard" commit || is_decided || exit 1; fi
  fi
  is_decided || sh "$J/guard" revert guard
  carry_out
}

verb=${1:-}
[ $# = 0 ] || shift
case $verb in
  revert) revert "$@" ;;
  commit) commit ;;
  finish) finish "$@" ;;
  watch) watch "$@" ;;
  *)
    echo "guard: wanted revert, commit, finish or watch, found '$verb'" >&2
    exit 2
    ;;
esac
