#include "reconciler/apply/guard/revert_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/node/home_path.h"
#include "reconciler/node/node_helper.h"

namespace reconciler {
namespace {

std::string FormatCommand(const RunCommand& command) {
  const std::string argv = JoinForShell(command.argv);
  return fmt::format("as {} timeout -k 2 {} {}", QuoteForShell(command.user), command.time_limit_s,
                     argv);
}

std::vector<Step> ListSteps(const GuardedStage& stage) {
  std::vector<const Change*> changes;
  for (const Change& change : stage.changes) changes.push_back(&change);
  return ListSteps(changes);
}

// Only what had begun is reverted.
std::string BuildIfBegun(std::size_t step, std::string_view how, const std::string& command) {
  return fmt::format("[ ! -e \"$J/{}/begun\" ] || {} {}\n", step, how, command);
}

// What the triggers make of the restored files.
std::string BuildTriggersAgain(const GuardedStage& stage) {
  std::string text;
  for (const Step& step : ListSteps(stage)) {
    if (step.change != Step::kTrigger) continue;
    // A file may have changed although its trigger had not begun.
    text +=
        BuildIfBegun(stage.first_step, "live", FormatCommand(std::get<RunCommand>(step.action)));
  }
  return text;
}

enum class RevertAt { kOnce, kAfterTriggers, kBoot };

// Each change's own undo, newest change first. A change without steps is done by the triggers, and
// so it is done anew when they have run again.
std::string BuildRevertCommands(const GuardedStage& stage, RevertAt at) {
  const std::vector<Step> steps = ListSteps(stage);
  std::string text;
  for (std::size_t i = stage.changes.size(); i-- > 0;) {
    const auto own = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.change == i ||
             (stage.changes[i].actions.empty() && step.change == Step::kTrigger);
    });
    if (own == steps.end()) continue;
    const auto number = at == RevertAt::kAfterTriggers && own->change == Step::kTrigger
                            ? stage.first_step
                            : stage.first_step + static_cast<std::size_t>(own - steps.begin());
    for (const Action& action : stage.changes[i].revert) {
      const auto* command = std::get_if<RunCommand>(&action);
      if (command == nullptr || (at == RevertAt::kBoot && !command->at_boot)) continue;
      const bool last = at == RevertAt::kAfterTriggers && command->must_succeed;
      text += BuildIfBegun(number, last ? "last" : "live", FormatCommand(*command));
    }
  }
  return text;
}

constexpr std::string_view kHead = R"sh(
say() { printf '%s\n' "$1"; { printf '%s\n' "$1" >>"$J/revert.log"; } 2>/dev/null; note "$1"; }

failed=0
if ! decide revert; then
  [ ! -L "$J/decision" ] || { say 'this plan was committed: nothing is taken back'; exit 3; }
  say 'the decision cannot be written down: what can be taken back is, and it is tried again'
  failed=1
fi

# One at a time: a second one, begun late, would take back what was applied after the first.
{ : >>"$J/revert.lock"; } 2>/dev/null && exec 8>>"$J/revert.lock" && flock 8
[ "$(cat "$J/state" 2>/dev/null)" != reverted ] || { echo reverted; exit 0; }

# Where there is no room for a copy, the journal's own goes back.
restore() { # DIRECTORY
  d=$1; T=$(cat "$d/path") || return 1
  rm -f -- "$(prepared)" "${T%/*}"/.spark-reconcile.?????????? # of a write that power loss cut off
  if [ -e "$d/trial" ]; then
    tried=$(cat "$d/trial") || return 1
    [ ! -e "$d/begun" ] || rm -f -- "$tried" "${tried%/*}"/.spark-reconcile.?????????? || return 1
    return 0
  fi
  [ -e "$d/begun" ] || return 0
  same "$d/merged" "$T" 2>/dev/null && return 0
  [ ! -e "$T" ] || same "$d/new" "$T" 2>/dev/null || same "$d/before" "$T" 2>/dev/null ||
    cp -p -- "$T" "$d/foreign" || return 1 # somebody else's words are kept
  if [ -e "$d/before" ]; then
    # Their lines stay in the file too, where that can be done without a doubt.
    if [ -e "$d/foreign" ] && diff3 -m "$d/foreign" "$d/new" "$d/before" >"$d/merged" 2>/dev/null; then
      chown --reference="$d/before" "$d/merged" && chmod --reference="$d/before" "$d/merged" &&
        put "$d/merged" "$T" && return 0
    fi
    same "$d/before" "$T" 2>/dev/null || put "$d/before" "$T" ||
      { [ "$(stat -c %d "$d/before")" = "$(stat -c %d "${T%/*}")" ] && mv -fT -- "$d/before" "$T"; }
  elif [ -e "$d/absent" ]; then rm -f -- "$T"; fi
}

restore_all() {
  all=0
  for step in $(steps -rn); do
    [ -e "$J/$step/path" ] || continue
    restore "$J/$step" || { say "cannot restore $(cat "$J/$step/path")"; all=1; }
  done
  return $all
}

# What fails on the way is told; whether it mattered shows in the last values, and when the node is read.
log=$J/revert.log; [ -w "$log" ] || log=/dev/null
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
  [ -n "$user" ] || { "$@"; return; }
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
  say "kernel settings that did not stay: $(printf '%s ' $moved)"
}

beacons del
)sh";

constexpr std::string_view kRestoreFiles = R"sh(
for attempt in 1 2 3; do
  restore_all && break
  [ $attempt != 3 ] || failed=1
  sleep 2
done
if [ -e "$J/made" ]; then
  sort -r "$J/made" | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
fi
)sh";

constexpr std::string_view kTail = R"sh(
[ $failed != 0 ] || rm -f "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" \
  "/etc/systemd/system/$UNIT-boot.service" || failed=1
if [ $failed = 0 ]; then
  echo reverted >"$J/state"
else echo revert-failed >"$J/state"; fi
sync "$J/state"
say "$(cat "$J/state")"
[ $failed != 0 ] || [ "${1:-}" = guard ] || [ "${1:-}" = boot ] || systemctl stop "$UNIT.timer" "$UNIT.service" 2>/dev/null
exit $failed
)sh";

}  // namespace

std::string NameGuardUnit(std::string_view apply_id) {
  return fmt::format("spark-reconcile-guard-{}", apply_id);
}

std::string BuildScriptHead(std::string_view purpose, std::string_view journal) {
  const std::string_view apply_id = journal.substr(journal.rfind('/') + 1);
  return fmt::format(
             "#!/bin/sh\n# {} Root may run it by hand.\nJ={}\nUNIT={}\nD={}\n"
             "export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
             "umask 077\ncd /\n",
             purpose, QuoteForShell(journal), NameGuardUnit(apply_id), kStateFolder) +
         std::string(GetJournalFunctions());
}

std::string BuildRevertScript(const std::vector<GuardedStage>& stages, std::string_view journal) {
  std::string script = BuildScriptHead(fmt::format("Takes back what apply {} did on this node.",
                                                   journal.substr(journal.rfind('/') + 1)),
                                       journal);
  script += GetHomePathFunction();
  script += kHead;
  std::string revert;
  std::string revert_again;
  std::string revert_at_boot;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    revert += BuildRevertCommands(*stage, RevertAt::kOnce);
    revert_again += BuildRevertCommands(*stage, RevertAt::kAfterTriggers);
    revert_at_boot += BuildRevertCommands(*stage, RevertAt::kBoot);
  }
  // Some states need the new files to be reverted (a unit's links), others the old ones (a
  // reload). An undo sets a state, so that twice is as good as once.
  script += "if [ \"${1:-}\" = boot ]; then\n:\n" + revert_at_boot + "else\n:\n" + revert + "fi\n";
  script += kRestoreFiles;
  script +=
      "if [ \"${1:-}\" = boot ]; then\nlive timeout 30 netplan generate\nlive "
      "timeout 30 systemctl daemon-reload\nelse\n:\n";
  for (const GuardedStage& stage : stages) script += BuildTriggersAgain(stage);
  script += revert_again +
            fmt::format(
                "restore_conf\n[ ! -e \"$J/sshd\" ] || for unit in {}; do read -r was\n"
                "  [ \"$was\" != active ] || systemctl is-active -q $unit || live systemctl "
                "start $unit\ndone <\"$J/sshd\"\nfi\n",
                kSshUnits);
  return script + std::string(kTail);
}

}  // namespace reconciler
