#include "reconciler/apply/guard/guard_script.h"

#include <fmt/format.h>

#include "reconciler/apply/guard/arm.sh.h"
#include "reconciler/apply/guard/end.sh.h"
#include "reconciler/apply/guard/intent.sh.h"
#include "reconciler/apply/guard/leftovers.sh.h"
#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/node_helper.h"

namespace reconciler {
namespace {

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

std::string BuildEndRequest(std::string_view journal, std::string_view function) {
  return AssignForShell({{"J", journal}}) + fmt::format("{}{}\n", kEndSh, function);
}

}  // namespace

std::string BuildArmRequest(std::string_view journal, std::string_view revert,
                            const GuardTimes& times, const std::vector<std::string>& ports,
                            const std::vector<std::string>& unused) {
  const std::string apply_id(journal.substr(journal.rfind('/') + 1));
  const std::string limit = std::to_string(times.revert_after);
  return AssignForShell(
             {{"J", journal},
              {"UNIT", NameGuardUnit(apply_id)},
              {"LIMIT", limit},
              {"SSH_UNITS", kSshUnits},
              {"FABRIC", Join(ports, " ") + " " + Join(unused, " ")},
              {"REVERT", revert},
              {"COMMIT", BuildVerbScript("commit", "Completes apply " + apply_id + " on this node.",
                                         journal)},
              {"FINISH", BuildVerbScript(
                             "finish", "Takes away what guarded apply " + apply_id + ".", journal)},
              {"WATCH",
               BuildVerbScript(
                   "watch",
                   fmt::format("Decides about apply {} when its controller is gone.", apply_id),
                   journal,
                   AssignForShell({{"LIMIT", limit},
                                   {"MOMENT", std::to_string(times.moment())},
                                   {"LINGER", std::to_string(times.linger())}}))},
              {"BOOT", BuildBootUnit(journal)}}) +
         fmt::format("{}arm {}\n", kArmSh, JoinForShell(ports));
}

std::string BuildIntentRequest(std::string_view journal, const Documents& documents,
                               const Peers& peers) {
  std::string script =
      AssignForShell(
          {{"J", journal}, {"PEERS", peers.text}, {"ROUNDS", std::to_string(peers.rounds)}}) +
      std::string(kIntentSh) + "begin_intent\n";
  for (const auto& [name, text] : documents) {
    script += fmt::format("add_document {} {}\n", QuoteForShell(name), QuoteForShell(text));
  }
  return script + "record_intent\n";
}

std::string BuildCommitRequest(std::string_view journal) {
  return fmt::format("sh {}/commit\n", QuoteForShell(journal));
}

std::string BuildFinishRequest(std::string_view journal) {
  return fmt::format("sh {}/finish\n", QuoteForShell(journal));
}

std::string BuildBeatRequest(std::string_view journal) {
  return AssignForShell({{"J", journal}}) + "heartbeat\n";
}

std::string BuildRevertRequest(std::string_view journal) {
  return BuildEndRequest(journal, "revert_if_armed");
}

std::string BuildLeftoversRequest() { return std::string(kLeftoversSh); }

std::string BuildEndLeftoverRequest(std::string_view apply_id, LeftoverEnd end) {
  const std::string journal = GetJournalDirectory(apply_id);
  switch (end) {
    case LeftoverEnd::kCommit:
      return BuildEndRequest(journal, "commit_leftover");
    case LeftoverEnd::kRevert:
      return BuildEndRequest(journal, "revert_leftover");
    case LeftoverEnd::kCheckPeers:
      return BuildEndRequest(journal, "check_peers");
  }
  return {};
}

}  // namespace reconciler
