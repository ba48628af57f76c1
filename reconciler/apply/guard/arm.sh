# shellcheck shell=dash
# shellcheck disable=SC2154 # functions of node_helper.sh
# Arms the node's own revert before the first change. J: the journal; UNIT: the name of the guard's units; LIMIT: seconds;
# SSH_UNITS: what carries logins; FABRIC: the interfaces of all cages, used or not; GUARD: the guard's script;
# GUARD_PROPERTIES: of its service, as options of systemd-run; BOOT: the unit of the early boot.

# The kernel's settings of each port, as they were before the first pass.
note_conf() { # NETDEV…
  for netdev do
    shift
    set -- "$@" "/proc/sys/net/ipv4/conf/$netdev"/* "/proc/sys/net/ipv6/conf/$netdev"/*
  done
  grep -s '' "$@" >"$J/conf"
}

is_noted() { # FILE
  for path in "$J"/generated/*/path; do
    ! read_text "$path" || [ "$text" != "$1" ] || return 0
  done
  return 1
}

# Files that other programs will generate again, as they were before the first pass.
note_generated() { # FILE…
  [ $# = 0 ] || mkdir -p "$J/generated" || exit 1
  number=0
  for T do
    ! is_noted "$T" || continue
    while [ -e "$J/generated/$number" ]; do number=$((number + 1)); done
    d=$J/generated/$number
    mkdir "$d" && { [ ! -e "$T" ] || cp -p -- "$T" "$d/before"; } && printf '%s\n' "$T" >"$d/path" || exit 1
  done
}

# All that the guard must not have to make when there may be no room.
make_room() {
  ln -sfT commit "$J/.commit" && ln -sfT revert "$J/.revert" && true >>"$J/revert.log" && [ -e "$J/order" ] && return
  last=0
  for order in "$D"/journal/*/order; do
    read_text "$order" || continue
    case $text in *[!0-9]*) continue ;; esac # damaged
    [ "$text" -le "$last" ] || last=$text
  done
  echo $((last + 1)) >"$J/order"
}

# Whether the timer or the service of the guard is active.
is_watched() { systemctl is-active -q "$UNIT.timer" "$UNIT.service"; }

# The same right after the start of the timer. Notes in the journal which of $SSH_UNITS are active, one line for each; two more
# lines follow, of the guard's own units.
is_watched_and_logins_noted() {
  # shellcheck disable=SC2086 # several units
  states=$(systemctl is-active $SSH_UNITS "$UNIT.timer" "$UNIT.service")
  [ -e "$J/sshd" ] || printf '%s\n' "$states" >"$J/sshd" || return 1
  # shellcheck disable=SC2086 # several words
  set -- $states
  while [ $# -gt 2 ]; do shift; done
  [ "${1:-}" = active ] || [ "${2:-}" = active ]
}

arm() { # NETDEV…
  again=
  [ ! -e "$J/guard" ] || again=yes # in a later pass
  undecided && { [ -d "$J" ] || mkdir -p "$J"; } && make_room && echo $$ >"$J/holder" &&
    printf '%s' "$GUARD" >"$J/guard.new" || exit 1
  sync "$J/guard.new" "$J/order" && echo armed >"$J/state" && mv -f "$J/guard.new" "$J/guard" && progress 0 || exit 1
  # From here on the guard removes what stands outside the journal. Nothing runs the unit before the link is there.
  units=/etc/systemd/system
  at_boot=$UNIT-boot.service
  # A later pass leaves it as it is: cut off in a write, it would be empty, and systemd takes an empty unit for a masked one.
  (umask 022
    { [ -n "$again" ] && [ -s "$units/$at_boot" ] || printf '%s' "$BOOT" >"$units/$at_boot"; } &&
      { [ -d "$units/sysinit.target.wants" ] || mkdir -p "$units/sysinit.target.wants"; }) && sync "$units/$at_boot" || exit 1
  ln -sfn "../$at_boot" "$units/sysinit.target.wants/$at_boot" && sync "$units/sysinit.target.wants" "$J" || exit 1
  # shellcheck disable=SC2086 # several words
  { [ -n "$again" ] && is_watched; } || {
    timeout 10 systemd-run -q --unit="$UNIT" --on-active="$LIMIT" --timer-property=AccuracySec=1s $GUARD_PROPERTIES \
      sh "$J/guard" watch || exit 1
    is_watched_and_logins_noted || say 'the timer that reverts changes is not active' || exit 1
  }
  [ $# = 0 ] || [ -e "$J/conf" ] || note_conf "$@"
  # shellcheck disable=SC2086 # one word per interface
  note_outside $FABRIC || exit 1
  note "armed: without progress for $LIMIT s this node reverts"
}
