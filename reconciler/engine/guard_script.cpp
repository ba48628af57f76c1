#include "reconciler/engine/guard_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/engine/apply_script.h"
#include "reconciler/engine/home_path.h"

namespace reconciler {
namespace {

constexpr int kLeastLimitS = 90;
constexpr int kMarginS = 30;  // beyond the longest single step

std::string UnitName(std::string_view apply_id) {
  return fmt::format("spark-reconcile-guard-{}", apply_id);
}

std::string CommandLine(const RunCommand& command) {
  const std::string argv = ShellJoin(command.argv);
  return fmt::format("as {} timeout -k 2 {} {}", ShellQuote(command.user), command.time_limit_s,
                     argv);
}

std::vector<Step> StepsOf(const GuardedStage& stage) {
  std::vector<const Change*> changes;
  for (const Change& change : stage.changes) changes.push_back(&change);
  return StepsOf(changes);
}

// Only what had begun is taken back: the journal has an entry for each step that was started.
std::string IfBegun(std::size_t step, const std::string& command) {
  return fmt::format("[ ! -e \"$J/{}\" ] || live {}\n", step, command);
}

// What the triggers make of the restored files.
std::string TriggersAgain(const GuardedStage& stage) {
  std::string text;
  for (const Step& step : StepsOf(stage)) {
    if (step.change != Step::kTrigger) continue;
    text += IfBegun(stage.first_step, CommandLine(std::get<RunCommand>(step.action)));
  }
  return text;
}

// Each change's own undo, newest change first. A change without steps is done by the triggers.
std::string UndoCommands(const GuardedStage& stage) {
  const std::vector<Step> steps = StepsOf(stage);
  std::string text;
  for (std::size_t i = stage.changes.size(); i-- > 0;) {
    const auto own = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.change == i ||
             (stage.changes[i].actions.empty() && step.change == Step::kTrigger);
    });
    if (own == steps.end()) continue;
    const auto number = stage.first_step + static_cast<std::size_t>(own - steps.begin());
    for (const Action& action : stage.changes[i].undo) {
      if (const auto* command = std::get_if<RunCommand>(&action)) {
        text += IfBegun(number, CommandLine(*command));
      }
    }
  }
  return text;
}

constexpr std::string_view kRevertHead = R"sh(
say() { printf '%s\n' "$1"; printf '%s\n' "$1" >>"$J/revert.log"; }

# Nobody restores what another has committed; the same decision may be carried out again.
mkdir "$J/decision" 2>/dev/null || [ -e "$J/decision/revert" ] || {
  say 'this plan was committed: nothing is taken back'
  exit 3
}
: >"$J/decision/revert"

restore() { # STEP DIRECTORY
  T=$(cat "$1/path") || return 1
  if [ -e "$1/before" ]; then
    cmp -s "$1/before" "$T" && [ "$(stat -c '%a %u %g' "$1/before")" = "$(stat -c '%a %u %g' "$T")" ] &&
      return 0
    tmp=$(mktemp "${T%/*}/.spark-reconcile.XXXXXXXXXX") &&
      cp -p -- "$1/before" "$tmp" && sync "$tmp" && mv -fT -- "$tmp" "$T" && sync "${T%/*}"
  elif [ -e "$1/absent" ]; then rm -f -- "$T"; fi
}

restore_all() {
  all=0
  for step in $(ls "$J" | grep -x '[0-9]*' | sort -rn); do
    [ -e "$J/$step/path" ] || continue
    restore "$J/$step" || { say "cannot restore $(cat "$J/$step/path")"; all=1; }
  done
  return $all
}

# A live value that cannot be set again is told; whether the node is as it was shows when it is read.
live() { "$@" >/dev/null 2>>"$J/revert.log" </dev/null || say "exit $?: $*"; }

as() { # USER COMMAND…, in that user's home
  user=$1; shift
  [ -n "$user" ] || { "$@"; return; }
  resolve "~$user/." ''
  (cd "$home" && HOME=$home runuser -u "$user" -- "$@")
}

)sh";

constexpr std::string_view kRestoreFiles = R"sh(
failed=1
for attempt in 1 2 3; do
  restore_all && { failed=0; break; }
  sleep 2
done
if [ -e "$J/made" ]; then
  sort -r "$J/made" | while IFS= read -r made; do rmdir -- "$made" 2>/dev/null; done
fi
)sh";

constexpr std::string_view kRevertTail = R"sh(
rm -f "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" "/etc/systemd/system/$UNIT-boot.service"
if [ $failed = 0 ]; then echo reverted >"$J/state"; else echo revert-failed >"$J/state"; fi
sync "$J/state"
say "$(cat "$J/state")"
[ "${1:-}" = guard ] || [ "${1:-}" = boot ] || systemctl stop "$UNIT.timer" 2>/dev/null
exit $failed
)sh";

// Runs when the timer fires, and again until the last progress is LIMIT seconds old. /proc/uptime
// counts time asleep too, and no clock set by hand moves it.
constexpr std::string_view kWatch = R"sh(
while :; do
  [ -e "$J/decision" ] && exit 0
  read -r now _ </proc/uptime
  read -r last <"$J/progress"
  left=$((LIMIT - ${now%.*} + ${last%.*}))
  [ $left -gt 0 ] || break
  sleep $left
done
exec sh "$J/revert" guard
)sh";

constexpr std::string_view kEnvironment =
    "export LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    "umask 077\ncd /\n";

std::string BootUnit(std::string_view journal) {
  return fmt::format(
      "# Written by spark-reconcile while an apply is under way, and taken away when it is "
      "decided.\n"
      "[Unit]\nDescription=Take back an unfinished spark-reconcile apply\nDefaultDependencies=no\n"
      "After=local-fs.target\n"
      "Before=systemd-sysctl.service systemd-networkd.service NetworkManager.service "
      "network-pre.target\n"
      "[Service]\nType=oneshot\nExecStart=/bin/sh {}/revert boot\n"
      "[Install]\nWantedBy=sysinit.target\n",
      journal);
}

}  // namespace

int GuardLimit(const std::vector<GuardedStage>& stages) {
  int longest = 0;
  for (const GuardedStage& stage : stages) {
    for (const Step& step : StepsOf(stage)) {
      const auto* command = std::get_if<RunCommand>(&step.action);
      if (command != nullptr) longest = std::max(longest, command->time_limit_s);
    }
  }
  return std::max(kLeastLimitS, longest + kMarginS);
}

std::string RevertScript(const std::vector<GuardedStage>& stages, std::string_view journal) {
  const std::size_t slash = journal.rfind('/');
  std::string script = fmt::format(
      "#!/bin/sh\n# Takes back what apply {} did on this node. Root may run it by hand.\n"
      "J={}\nUNIT={}\n",
      journal.substr(slash + 1), ShellQuote(journal), UnitName(journal.substr(slash + 1)));
  script += kEnvironment;
  script += HomePathFunction();
  script += kRevertHead;
  std::string undo;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) undo += UndoCommands(*stage);
  // Some states need the new files to be taken back (a unit's links), others the old ones (a
  // reload). An undo sets a state, so that twice is as good as once.
  script += "if [ \"${1:-}\" != boot ]; then\n:\n" + undo + "fi\n";
  script += kRestoreFiles;
  script +=
      "if [ \"${1:-}\" = boot ]; then\nlive netplan generate\nlive systemctl "
      "daemon-reload\nelse\n:\n";
  for (const GuardedStage& stage : stages) script += TriggersAgain(stage);
  script += undo + "fi\n";
  return script + std::string(kRevertTail);
}

std::string ArmScript(std::string_view apply_id, std::string_view journal, std::string_view revert,
                      int limit_s) {
  const std::string unit = UnitName(apply_id);
  const std::string watch = fmt::format("#!/bin/sh\nJ={}\nLIMIT={}\n{}{}", ShellQuote(journal),
                                        limit_s, kEnvironment, kWatch);
  return fmt::format(
      R"sh(J={journal}
put() {{ printf '%s' "$2" >"$1.new" && sync "$1.new" && mv -f "$1.new" "$1"; }}
[ ! -e "$J/decision" ] || {{ echo 'this node has decided about this plan already' >&2; exit 3; }}
mkdir -p "$J" && put "$J/revert" {revert} && put "$J/watch" {watch} || exit 1
read -r up _ </proc/uptime && echo "$up" >"$J/progress" && echo armed >"$J/state" || exit 1
put /etc/systemd/system/{unit}-boot.service {boot} && chmod 0644 /etc/systemd/system/{unit}-boot.service || exit 1
(umask 022; mkdir -p /etc/systemd/system/sysinit.target.wants) &&
  ln -sfn ../{unit}-boot.service /etc/systemd/system/sysinit.target.wants/{unit}-boot.service &&
  sync /etc/systemd/system/sysinit.target.wants "$J" || exit 1
systemctl is-active -q {unit}.timer || systemctl is-active -q {unit}.service ||
  timeout 10 systemd-run -q --unit={unit} --on-active={limit} --timer-property=AccuracySec=1s \
    sh "$J/watch" || exit 1
systemctl is-active -q {unit}.timer || {{ echo 'the timer that takes changes back is not active' >&2; exit 1; }}
)sh",
      fmt::arg("journal", ShellQuote(journal)), fmt::arg("revert", ShellQuote(revert)),
      fmt::arg("watch", ShellQuote(watch)), fmt::arg("unit", unit),
      fmt::arg("boot", ShellQuote(BootUnit(journal))), fmt::arg("limit", limit_s));
}

std::string CommitScript(std::string_view apply_id, std::string_view journal,
                         const CommitTexts& texts) {
  return fmt::format(
      R"sh(J={journal}
mkdir "$J/decision" 2>/dev/null || {{ [ -e "$J/decision/commit" ] || exit 3; }}
: >"$J/decision/commit"
rm -f /etc/systemd/system/sysinit.target.wants/{unit}-boot.service /etc/systemd/system/{unit}-boot.service
systemctl stop {unit}.timer {unit}.service 2>/dev/null
echo committed >"$J/state"
D=/var/lib/spark-reconcile
put() {{ printf '%s' "$2" >"$1.new" && sync "$1.new" && mv -f "$1.new" "$1"; }}
mkdir -p "$D/generations" && put "$D/generations/{number}.json" {generation} &&
  put "$D/owned" {owned} && put "$D/ledger.json" {ledger} && sync "$D/generations" "$D" "$J/state"
)sh",
      fmt::arg("journal", ShellQuote(journal)), fmt::arg("unit", UnitName(apply_id)),
      fmt::arg("number", texts.number), fmt::arg("generation", ShellQuote(texts.generation)),
      fmt::arg("ledger", ShellQuote(texts.ledger)), fmt::arg("owned", ShellQuote(texts.owned)));
}

std::string LeftoversScript() {
  return R"sh(failed=0
for journal in $(ls -t /var/lib/spark-reconcile/journal 2>/dev/null); do
  J=/var/lib/spark-reconcile/journal/$journal
  [ -e "$J/revert" ] && [ ! -e "$J/decision/commit" ] || continue
  [ "$(cat "$J/state")" != reverted ] || continue
  sh "$J/revert" >/dev/null || failed=1
  echo "$journal"
done
exit $failed
)sh";
}

std::string RevertNowScript(std::string_view journal) {
  return fmt::format("[ -e {0}/revert ] || exit 0\nsh {0}/revert\n", ShellQuote(journal));
}

}  // namespace reconciler
