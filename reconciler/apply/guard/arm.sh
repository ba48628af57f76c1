# shellcheck shell=dash
# shellcheck disable=SC2154 # functions of node_helper.sh
# Arms the node's own revert before the first change. J: the journal; UNIT: the name of the guard's units; LIMIT: seconds;
# SSH_UNITS: what carries logins; FABRIC: the interfaces of all cages, used or not; REVERT, COMMIT, FINISH, WATCH: the guard's
# scripts; BOOT: the unit of the early boot.
stage_script() { printf '%s' "$2" >"$J/$1.new"; }

# The kernel's settings of each port, as they were before the first pass.
note_conf() { # NETDEV…
  for netdev do
    shift
    set -- "$@" "/proc/sys/net/ipv4/conf/$netdev"/* "/proc/sys/net/ipv6/conf/$netdev"/*
  done
  grep -s '' "$@" >"$J/conf"
}

arm() { # NETDEV…
  # shellcheck disable=SC2086 # several units
  undecided && mkdir -p "$J" && echo $$ >"$J/holder" &&
    { systemctl is-active $SSH_UNITS >"$J/sshd"; :; } && stage_script revert "$REVERT" &&
    stage_script commit "$COMMIT" && stage_script finish "$FINISH" && stage_script watch "$WATCH" &&
    sync "$J"/*.new || exit 1
  for name in revert commit finish watch; do mv -f "$J/$name.new" "$J/$name" || exit 1; done
  progress 0 && echo armed >"$J/state" || exit 1
  file=/etc/systemd/system/$UNIT-boot.service # nothing runs it before the link is there
  printf '%s' "$BOOT" >"$file" && chmod 0644 "$file" && sync "$file" || exit 1
  (umask 022; mkdir -p /etc/systemd/system/sysinit.target.wants) &&
    ln -sfn "../$UNIT-boot.service" "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" &&
    sync /etc/systemd/system/sysinit.target.wants "$J" || exit 1
  systemctl is-active -q "$UNIT.timer" || systemctl is-active -q "$UNIT.service" ||
    timeout 10 systemd-run -q --unit="$UNIT" --on-active="$LIMIT" --timer-property=AccuracySec=1s \
      sh "$J/watch" || exit 1
  systemctl is-active -q "$UNIT.timer" || systemctl is-active -q "$UNIT.service" ||
    say 'the timer that reverts changes is not active' || exit 1
  [ $# = 0 ] || [ -e "$J/conf" ] || note_conf "$@"
  # shellcheck disable=SC2086 # one word per interface
  note_outside $FABRIC || exit 1
  note "armed: without progress for $LIMIT s this node reverts"
}
