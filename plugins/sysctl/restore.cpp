#include "plugins/sysctl/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/sysctl/keys.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
    {"vm.dirty_background_bytes", "vm.dirty_background_ratio"},
    {"vm.dirty_bytes", "vm.dirty_ratio"},
    {"vm.overcommit_kbytes", "vm.overcommit_ratio"},
};

constexpr std::pair<std::string_view, std::string_view> kLastValues[] = {
    {"kernel.kexec_load_disabled", "1"},
    {"kernel.modules_disabled", "1"},
    {"kernel.unprivileged_bpf_disabled", "1"},
    {"kernel.yama.ptrace_scope", "3"},
};

constexpr std::string_view kOff = "0";

bool SetsToOff(const std::vector<RunCommand>& commands, const std::string& key) {
  return std::any_of(commands.begin(), commands.end(), [&](const RunCommand& command) {
    return !command.argv.empty() && command.argv.back() == fmt::format("{}={}", key, kOff);
  });
}

}  // namespace

RunCommand MakeSetCommand(const std::string& key, const std::string& value) {
  return {.argv = {"sysctl", "-w", "--", fmt::format("{}={}", key, value)},
          .must_succeed = true,
          .sets = MakeKeyPath(key)};
}

std::string FindPartner(std::string_view key) {
  for (const auto& [one, other] : kPairs) {
    if (key == one) return std::string(other);
    if (key == other) return std::string(one);
  }
  return {};
}

bool StaysUntilRestart(std::string_view key, std::string_view value) {
  return std::find(std::begin(kLastValues), std::end(kLastValues), std::pair(key, value)) !=
         std::end(kLastValues);
}

RunCommand MakeRestoreCommand(const NodeFacts& facts, const std::string& key,
                              const std::string& before) {
  const std::string partner = before == kOff ? FindPartner(key) : std::string();
  if (partner.empty()) return MakeSetCommand(key, before);
  const Observed<std::string> observed = FindOrUnknown(facts.sysctl.keys, partner);
  const auto* value = Known(observed);
  return value != nullptr && *value != kOff ? MakeSetCommand(partner, *value)
                                            : MakeSetCommand(key, before);
}

std::string ExplainNoRestore(const NodeFacts& facts, const std::string& key,
                             const std::string& before) {
  const std::string partner = before == kOff ? FindPartner(key) : std::string();
  if (partner.empty()) return {};
  const Observed<std::string> observed = FindOrUnknown(facts.sysctl.keys, partner);
  const auto* unknown = std::get_if<Unknown>(&observed);
  return unknown == nullptr ? "" : fmt::format("{}: {}", partner, unknown->why);
}

std::optional<PruneCommands> FindPartnersOriginal(const NodeFacts& facts, const std::string& key) {
  const std::string partner = FindPartner(key);
  const Ledger* ledger = Known(facts.ledger);
  if (partner.empty() || ledger == nullptr) return std::nullopt;
  const LedgerEntry* entry = ledger->Find("sysctl/" + partner);
  if (entry == nullptr) return std::nullopt;
  return PruneCommands{.after = entry->triggers};
}

std::string ExplainNotPruned(const Change& change, bool partner_is_set) {
  if (StaysUntilRestart(change.name, change.cause.applied.value_or(""))) {
    return fmt::format(
        "sysctl: {} stays {} until the node restarts: the kernel takes no other value", change.name,
        *change.cause.applied);
  }
  const std::string partner = FindPartner(change.name);
  if (partner.empty()) return {};
  if (partner_is_set) {
    return fmt::format(
        "sysctl: {} gives way to {}, which the manifest sets: only one of them holds", change.name,
        partner);
  }
  // Of a version that did not read the partner; or the partner's, which left it to this key.
  for (const std::string& key : {change.name, partner}) {
    if (!SetsToOff(change.triggers, key)) continue;
    return fmt::format(
        "sysctl: {} stays as it is: a 0 does not bring it back, and what {} was is not known",
        change.name, FindPartner(key));
  }
  return {};
}

}  // namespace reconciler::plugins::sysctl
