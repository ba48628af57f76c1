#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/resource.h"

// How a key gets the value again that it had, where the kernel does not simply take it. By the
// kernel's Documentation/admin-guide/sysctl/{kernel,vm}.rst and LSM/Yama.rst. Keys are canonical.
namespace reconciler::plugins::sysctl {

RunCommand MakeSetCommand(const std::string& key, const std::string& value);

// The other key of the same setting: the kernel shows one of them as 0, and refuses or misreads a 0
// that is written. Empty: the key stands alone.
std::string FindPartner(std::string_view key);

// Whether the running kernel takes no other value after this one.
bool StaysUntilRestart(std::string_view key, std::string_view value);

// Sets the key to `before` again: where that is 0, by its partner's value.
RunCommand MakeRestoreCommand(const NodeFacts& facts, const std::string& key,
                              const std::string& before);

// Why that partner's value is not known; empty: it is, or is not needed.
std::string ExplainNoRestore(const NodeFacts& facts, const std::string& key,
                             const std::string& before);

// What the setting was before us, where its partner has been ours until now.
std::optional<PruneCommands> FindPartnersOriginal(const NodeFacts& facts, const std::string& key);

// Why the prune of a key sets nothing; empty: it does. `partner_is_set`: by the manifest.
std::string ExplainNotPruned(const Change& change, bool partner_is_set);

}  // namespace reconciler::plugins::sysctl
