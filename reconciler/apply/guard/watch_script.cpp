#include "reconciler/apply/guard/watch_script.h"

#include <fmt/format.h>

#include "reconciler/apply/guard/revert_script.h"

namespace reconciler {
namespace {

// /proc/uptime counts time asleep too, and no clock set by hand moves it.
constexpr std::string_view kWatch = R"sh(
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
taken_back() { [ "$(cat "$J/state")" = reverted ] || sh "$J/revert" guard; }
persist() { # COMMAND
  for pause in 1 5 15 30 60 0; do
    "$1" && return 0
    sleep $pause
  done
  return 1
}
# A peer that is ready and late must see it; where peers ask in rounds, the last one is later by as many.
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
  else persist taken_back; fi
}
later() { # SECONDS; where no timer can be had nothing stays undecided
  uptime; echo "$up" >"$J/progress"
  timeout 30 systemd-run -q --no-block --unit="$UNIT" --on-active="$1" --timer-property=AccuracySec=1s sh "$J/watch"
}

if [ "${1:-}" = boot ]; then
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
  exit
fi

if [ "${1:-}" = ask ]; then # for the next apply, which does not see every node of this one
  if [ ! -L "$J/decision" ]; then
    if [ -s "$J/peers" ] && peers_are_new; then sh "$J/commit"; else sh "$J/revert"; fi >&2
  fi
  readlink "$J/decision"
  exit
fi

# A controller that lost its power never closes its connection: its shell would hold the lock for ever.
family() { for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do family "$child"; done; echo "$1"; }
end_holder() {
  holder=$(cat "$J/holder")
  [ "$(readlink "/proc/$holder/fd/9")" = "$D/lock" ] || return 0
  note 'no sign of life: its shell is ended'
  kill -KILL $(family "$holder")
}

wait_for_progress
[ -L "$J/decision" ] || end_holder
if [ ! -L "$J/decision" ] && [ -e "$J/intent" ]; then
  sleep "$MOMENT"
  if [ -s "$J/peers" ] && peers_are_new; then sh "$J/commit"; fi
fi
[ -L "$J/decision" ] || sh "$J/revert" guard
decided
)sh";

}  // namespace

std::string BuildWatchScript(std::string_view apply_id, std::string_view journal,
                             const GuardTimes& times) {
  return BuildScriptHead(
             fmt::format("Decides about apply {} when its controller is gone.", apply_id),
             journal) +
         fmt::format("LIMIT={}\nMOMENT={}\nLINGER={}\n", times.revert_after, times.moment(),
                     times.linger()) +
         std::string(kWatch);
}

}  // namespace reconciler
