#include "reconciler/apply/guard/guard_script.h"

#include <fmt/format.h>

#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/apply/guard/watch_script.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/node/node_helper.h"

namespace reconciler {
namespace {

// Renames only, but where a power loss or a full disk came between.
constexpr std::string_view kCommit = R"sh(
decide commit || { echo 'this node has taken the plan back' >&2; exit 3; }
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
)sh";

constexpr std::string_view kFinish = R"sh(
beacons del
rm -f "/etc/systemd/system/sysinit.target.wants/$UNIT-boot.service" "/etc/systemd/system/$UNIT-boot.service" || exit 1
echo finished >"$J/state"
sync "$J/state"
# Staged by a controller that ended before it armed anything; without the lock it may be at work.
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
)sh";

std::string BuildBootUnit(std::string_view journal) {
  return fmt::format(
      "# Written by spark-reconcile while an apply is under way, and taken away when it is "
      "decided.\n"
      "[Unit]\nDescription=End an unfinished spark-reconcile apply\nDefaultDependencies=no\n"
      "After=local-fs.target\n"
      "Before=systemd-sysctl.service systemd-networkd.service NetworkManager.service "
      "network-pre.target\n"
      "[Service]\nType=oneshot\nTimeoutStartSec=120\nExecStart=/bin/sh {}/watch boot\n"
      "[Install]\nWantedBy=sysinit.target\n",
      journal);
}

}  // namespace

std::string BuildArmRequest(std::string_view journal, std::string_view revert,
                            const GuardTimes& times, const std::vector<std::string>& netdevs) {
  std::string conf;
  for (const std::string& netdev : netdevs) {
    for (const char* family : {"ipv4", "ipv6"}) {
      conf += fmt::format(" /proc/sys/net/{}/conf/{}/*", family, QuoteForShell(netdev));
    }
  }
  if (!conf.empty()) {  // as it was before the first pass
    conf = "[ -e \"$J/conf\" ] || grep -s ''" + conf + " >\"$J/conf\"\n";
  }
  const std::string apply_id(journal.substr(journal.rfind('/') + 1));
  const std::string commit =
      BuildScriptHead("Completes apply " + apply_id + " on this node.", journal) +
      std::string(kCommit);
  const std::string finish =
      BuildScriptHead("Takes away what guarded apply " + apply_id + ".", journal) +
      std::string(kFinish);
  return fmt::format(
      R"sh(J={journal}
script() {{ printf '%s' "$2" >"$J/$1.new"; }}
undecided && mkdir -p "$J" && echo $$ >"$J/holder" &&
  {{ systemctl is-active {sshd} >"$J/sshd"; :; }} && script revert {revert} && script commit {commit} &&
  script finish {finish} && script watch {watch} && sync "$J"/*.new || exit 1
for name in revert commit finish watch; do mv -f "$J/$name.new" "$J/$name" || exit 1; done
progress 0 && echo armed >"$J/state" || exit 1
BOOT=/etc/systemd/system/{unit}-boot.service # nothing runs it before the link is there
printf '%s' {boot} >"$BOOT" && chmod 0644 "$BOOT" && sync "$BOOT" || exit 1
(umask 022; mkdir -p /etc/systemd/system/sysinit.target.wants) &&
  ln -sfn ../{unit}-boot.service /etc/systemd/system/sysinit.target.wants/{unit}-boot.service &&
  sync /etc/systemd/system/sysinit.target.wants "$J" || exit 1
systemctl is-active -q {unit}.timer || systemctl is-active -q {unit}.service ||
  timeout 10 systemd-run -q --unit={unit} --on-active={limit} --timer-property=AccuracySec=1s \
    sh "$J/watch" || exit 1
systemctl is-active -q {unit}.timer || systemctl is-active -q {unit}.service ||
  say 'the timer that takes changes back is not active' || exit 1
{conf}note 'armed: without progress for {limit} s this node takes it back'
)sh",
      fmt::arg("journal", QuoteForShell(journal)), fmt::arg("revert", QuoteForShell(revert)),
      fmt::arg("sshd", kSshUnits), fmt::arg("conf", conf),
      fmt::arg("commit", QuoteForShell(commit)), fmt::arg("finish", QuoteForShell(finish)),
      fmt::arg("watch", QuoteForShell(BuildWatchScript(apply_id, journal, times))),
      fmt::arg("unit", NameGuardUnit(apply_id)),
      fmt::arg("boot", QuoteForShell(BuildBootUnit(journal))),
      fmt::arg("limit", times.revert_after));
}

std::string BuildIntentRequest(std::string_view journal, const Documents& documents,
                               const Peers& peers) {
  std::string script =
      fmt::format("J={}\nundecided && progress 0 && prepare || exit 1\n", QuoteForShell(journal));
  for (const auto& [name, text] : documents) {
    script += fmt::format(
        "to=\"$J/documents/\"{} && mkdir -p \"${{to%/*}}\" && printf '%s' {} >\"$to\" && sync "
        "\"$to\" || exit 1\n",
        QuoteForShell(name), QuoteForShell(text));
  }
  return script + fmt::format(
                      "printf '%s' {} >\"$J/peers\" && echo {} >\"$J/rounds\" && sync \"$J/peers\" "
                      "\"$J/rounds\" || exit 1\n"
                      "undecided && : >\"$J/intent\" && sync \"$J/intent\" \"$J\" && progress 0 || "
                      "exit 1\nbeacons replace\nnote 'ready to commit'\n",
                      QuoteForShell(peers.text), peers.rounds);
}

std::string BuildCommitRequest(std::string_view journal) {
  return fmt::format("sh {}/commit\n", QuoteForShell(journal));
}

std::string BuildFinishRequest(std::string_view journal) {
  return fmt::format("sh {}/finish\n", QuoteForShell(journal));
}

std::string BuildBeatRequest(std::string_view journal) {
  return fmt::format("J={}\nundecided && progress 0\n", QuoteForShell(journal));
}

std::string BuildRevertRequest(std::string_view journal) {
  return fmt::format("[ -e {0}/revert ] || exit 0\nsh {0}/revert\n", QuoteForShell(journal));
}

std::string BuildLeftoversRequest() {
  return R"sh(for apply in $(ls -t "$D/journal" 2>/dev/null); do
  J=$D/journal/$apply
  [ -e "$J/revert" ] || continue
  case $(readlink "$J/decision"),$(cat "$J/state") in
    revert,reverted) ;;
    commit,finished) echo "$apply finished" ;;
    ,*) if [ -e "$J/intent" ]; then echo "$apply intent"; else echo "$apply none"; fi ;;
    *) echo "$apply $(readlink "$J/decision")" ;;
  esac
done
)sh";
}

std::string BuildEndLeftoverRequest(std::string_view apply_id, LeftoverEnd end) {
  const std::string journal = QuoteForShell(GetJournalDirectory(apply_id));
  switch (end) {
    case LeftoverEnd::kCommit:
      return fmt::format("sh {0}/commit >&2 && echo commit\n", journal);
    case LeftoverEnd::kRevert:
      return fmt::format("sh {0}/revert >&2\n", journal);
    case LeftoverEnd::kAskPeers:
      return fmt::format(
          "case $(sh {0}/watch ask) in\n"
          "  commit) sh {0}/commit >&2 && echo commit ;;\n  *) sh {0}/revert >&2 ;;\nesac\n",
          journal);
  }
  return {};
}

}  // namespace reconciler
