#include "reconciler/apply/guard/guard_script.h"

#include <fmt/format.h>

#include "reconciler/apply/guard/arm.sh.h"
#include "reconciler/apply/guard/end.sh.h"
#include "reconciler/apply/guard/guard.sh.h"
#include "reconciler/apply/guard/intent.sh.h"
#include "reconciler/apply/guard/prove_beacons.sh.h"
#include "reconciler/apply/guard/unfinished.sh.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/helper/home_path.h"
#include "reconciler/node/helper/node_helper.h"

namespace reconciler {
namespace {

// Of the guard's service. Exit code 3: it is refused, and will be.
constexpr std::string_view kGuardProperties =
    "--property=Restart=on-failure --property=RestartSec=10 --property=RestartPreventExitStatus=3 "
    "--property=StartLimitIntervalSec=0 --property=OOMScoreAdjust=-900";

std::string_view GetApplyId(std::string_view journal) {
  return journal.substr(journal.rfind('/') + 1);
}

std::string BuildBootUnit(std::string_view journal) {
  return fmt::format(
      "# Written by spark-reconcile for the time of an apply, and removed when it is "
      "decided.\n"
      "[Unit]\nDescription=End an unfinished spark-reconcile apply\nDefaultDependencies=no\n"
      "After=local-fs.target\n"
      "Before=systemd-sysctl.service systemd-networkd.service NetworkManager.service "
      "network-pre.target\n"
      "[Service]\nType=oneshot\nTimeoutStartSec=120\nOOMScoreAdjust=-900\n"
      "ExecStart=/bin/sh {0}/guard watch boot\n"
      "ExecStopPost=/bin/sh {0}/guard watch stopped\n"
      "[Install]\nWantedBy=sysinit.target\n",
      journal);
}

std::string BuildEndRequest(std::string_view journal, std::string_view function) {
  return AssignForShell({{"J", journal}}) + fmt::format("{}{}\n", kEndSh, function);
}

}  // namespace

std::string NameGuardUnit(std::string_view apply_id) {
  return fmt::format("spark-reconcile-guard-{}", apply_id);
}

std::string BuildGuardScript(std::string_view journal, const std::vector<GuardedStage>& stages,
                             const GuardTimes& times) {
  const std::string_view apply_id = GetApplyId(journal);
  return fmt::format("#!/bin/sh\n# Ends apply {} on this node. Root may run it by hand.\n",
                     apply_id) +
         AssignForShell({{"J", journal},
                         {"UNIT", NameGuardUnit(apply_id)},
                         {"D", kStateFolder},
                         {"SSH_UNITS", kSshUnits},
                         {"GUARD_PROPERTIES", kGuardProperties},
                         {"LIMIT", std::to_string(times.revert_after)},
                         {"MOMENT", std::to_string(times.moment())},
                         {"LINGER", std::to_string(times.linger())},
                         {"BOOT_S", std::to_string(times.boot)}}) +
         BuildRevertFunctions(stages) + GetHomeFunctions() + GetJournalFunctions() +
         std::string(kGuardSh);
}

std::string BuildArmRequest(std::string_view journal, const std::vector<GuardedStage>& stages,
                            const GuardTimes& times, const std::vector<std::string>& ports,
                            const std::vector<std::string>& unused) {
  const std::set<std::string> generated = ListGenerated(stages);
  return AssignForShell({{"J", journal},
                         {"UNIT", NameGuardUnit(GetApplyId(journal))},
                         {"LIMIT", std::to_string(times.revert_after)},
                         {"SSH_UNITS", kSshUnits},
                         {"FABRIC", Join(ports, " ") + " " + Join(unused, " ")},
                         {"GUARD", BuildGuardScript(journal, stages, times)},
                         {"GUARD_PROPERTIES", kGuardProperties},
                         {"BOOT", BuildBootUnit(journal)}}) +
         fmt::format("{}note_generated {}\narm {}\n", kArmSh,
                     JoinForShell({generated.begin(), generated.end()}), JoinForShell(ports));
}

std::string BuildShowProofRequest(std::string_view journal, const Peers& proof) {
  return AssignForShell({{"J", journal}, {"PROOF", proof.text}}) +
         fmt::format("{}show_proof\n", kProveBeaconsSh);
}

std::string BuildLookForPeersRequest(std::string_view journal) {
  return AssignForShell({{"J", journal}}) + fmt::format("{}look_for_peers\n", kProveBeaconsSh);
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
  return BuildEndRequest(journal, "commit_and_say");
}

std::string BuildFinishRequest(std::string_view journal) {
  return fmt::format("sh {}/guard finish\n", QuoteForShell(journal));
}

std::string BuildBeatRequest(std::string_view journal) {
  return AssignForShell({{"J", journal}}) + "heartbeat\n";
}

std::string BuildRevertRequest(std::string_view journal) {
  return BuildEndRequest(journal, "revert_if_armed");
}

std::string BuildUnfinishedRequest() { return std::string(kUnfinishedSh); }

std::string BuildEndUnfinishedRequest(std::string_view apply_id, UnfinishedEnd end) {
  const std::string journal = GetJournalDirectory(apply_id);
  switch (end) {
    case UnfinishedEnd::kCommit:
      return BuildEndRequest(journal, "commit_unfinished");
    case UnfinishedEnd::kRevert:
      return BuildEndRequest(journal, "revert_unfinished");
    case UnfinishedEnd::kCheckPeers:
      return BuildEndRequest(journal, "check_peers");
  }
  return {};
}

}  // namespace reconciler
