#include "reconciler/gather/gather.h"

#include <mutex>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/gather/gather_script.h"
#include "reconciler/node/frames.h"
#include "reconciler/planning/ledger.h"
#include "reconciler/planning/nul_byte.h"

namespace reconciler {
namespace {

constexpr std::string_view kJournal = "/var/lib/spark-reconcile/journal/";
constexpr std::string_view kStates = "/var/lib/spark-reconcile/journal/*/state";
constexpr std::string_view kLease = "/var/lib/spark-reconcile/lease";
constexpr std::string_view kGenerations = "/var/lib/spark-reconcile/generations/";
constexpr std::string_view kGenerationFiles = "/var/lib/spark-reconcile/generations/*.json";

std::vector<Read> ListOwnReads() {
  return {ReadFile{std::string(kLedgerFile)},        ReadFile{std::string(kLockFile)},
          ReadListed{std::string(kOwnedList)},       ReadValues{std::string(kStates)},
          ReadValues{std::string(kGenerationFiles)}, ReadValue{std::string(kLease)}};
}

Observed<Ledger> ReadObservedLedger(const Observed<FileState>& file) {
  if (const auto* unknown = std::get_if<Unknown>(&file)) return *unknown;
  const FileState* state = Known(file);
  if (state == nullptr) return Absent{};
  auto ledger = ParseLedger(state->content);
  if (!ledger) return Unknown{ledger.error().message};
  if (HoldsNul(*ledger)) return Unknown{"holds a NUL byte"};
  return std::move(*ledger);
}

std::string ReadGenerationDigest(const Observed<std::string>& first_line) {
  const std::string* line = Known(first_line);
  if (line == nullptr || !line->starts_with(kGenerationStart)) return {};
  const std::size_t end = line->find('"', kGenerationStart.size());
  if (end == std::string::npos) return {};
  return line->substr(kGenerationStart.size(), end - kGenerationStart.size());
}

// By the names of the files, and the first line of the newest: no process is started for them.
void ReadNewestGeneration(const ProbeReply& raw, NodeFacts& facts) {
  constexpr std::string_view kSuffix = ".json";
  for (const auto& [path, value] : raw.values) {
    if (!path.starts_with(kGenerations) || !path.ends_with(kSuffix)) continue;
    const std::size_t length = path.size() - kGenerations.size() - kSuffix.size();
    const auto number = ParseNumber<int>(path.substr(kGenerations.size(), length));
    if (!number || *number > kLargestGeneration || *number <= facts.newest_generation) continue;
    facts.newest_generation = *number;
    facts.newest_digest = ReadGenerationDigest(value);
  }
}

// The engine's own reads become facts and leave the reply, where plugins do not look for them.
void ReadLedgerFact(ProbeReply& raw, NodeFacts& facts) {
  facts.ledger = ReadObservedLedger(raw.files[std::string(kLedgerFile)]);
  raw.files.erase(std::string(kLedgerFile));
  raw.files.erase(std::string(kOwnedList));
  ReadNewestGeneration(raw, facts);
  for (const auto& [path, value] : raw.values) {
    const std::string* state = Known(value);
    if (!path.starts_with(kJournal) || state == nullptr) continue;
    if (*state == "finished" || *state == "reverted") continue;
    facts.apply.undecided.push_back(
        path.substr(kJournal.size(), path.rfind('/') - kJournal.size()));
  }
  if (facts.apply.undecided.empty()) return;
  const auto lease = raw.values.find(std::string(kLease));
  if (lease != raw.values.end() && Known(lease->second) != nullptr) {
    facts.apply.lease = lease->second;
  }
}

// No text that we write can hold what was read there, so that plugins are not given it.
void HideFilesWithNul(ProbeReply& raw) {
  for (auto& [path, file] : raw.files) {
    const FileState* state = Known(file);
    if (state != nullptr && state->content.find('\0') != std::string::npos) {
      file = Unknown{"holds a NUL byte"};
    }
  }
}

// Where not even the first part arrived, something else than our script answered: a login that is
// refused on the node, a `sudo` or a `.bashrc` that ends the shell. Its own words say which.
Error AppendNodeOutput(Error error, const ScriptReply& reply, std::string_view nonce) {
  if (!ParseFrames(reply, nonce).empty()) return error;
  const std::string_view said = Trim(Trim(reply.err).empty() ? reply.out : reply.err);
  if (!said.empty()) error.message += ": " + MakePrintable(SplitLines(said).back());
  return error;
}

bool IsRead(const Read& read, Purpose purpose) {
  const auto* command = std::get_if<RunProbe>(&read);
  return purpose == Purpose::kVerification || command == nullptr || !command->only_for_verification;
}

Result<NodeFacts> GatherByNames(const ClusterSpec& cluster, const Fabric& fabric,
                                const std::vector<Plugin>& plugins, const NodeSpec& node,
                                NodePool& pool, const Trials& trials, Purpose purpose) {
  const auto own = trials.find(node.name);
  const std::vector<TrialFile> on_trial =
      own == trials.end() ? std::vector<TrialFile>() : own->second;
  std::vector<Read> reads = ListReads(on_trial);
  for (const Plugin& plugin : plugins) {
    if (plugin.probe == nullptr) continue;
    for (Read& read : plugin.probe(cluster, fabric, node)) {
      if (IsRead(read, purpose)) reads.push_back(std::move(read));
    }
  }
  for (Read& read : ListOwnReads()) reads.push_back(std::move(read));
  const std::string nonce = MakeNonce();
  auto reply = pool.RunInPlace(node, BuildGatherScript(reads, nonce),
                               std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(std::move(reply).error());
  auto raw = ParseGatherReply(*reply, reads, nonce);
  if (!raw) {
    return Fail(AddContext(AppendNodeOutput(std::move(raw).error(), *reply, nonce), node.name));
  }

  HideFilesWithNul(*raw);
  ShowTrial(on_trial, *raw);

  NodeFacts facts;
  facts.node = node.name;
  facts.session.address = raw->session_address;
  ReadLedgerFact(*raw, facts);
  if (!facts.apply.undecided.empty()) HideTrials(cluster, *raw);
  facts.files = raw->files;
  for (const Plugin& plugin : plugins) {
    if (plugin.parse != nullptr) plugin.parse(*raw, facts);
  }
  return facts;
}

// What is read of ports is read by their names. Where the first answer shows that they have others
// than those of the profile, the node is read once more.
Result<NodeFacts> GatherNode(const ClusterSpec& cluster, const Fabric& fabric,
                             const std::vector<Plugin>& plugins, const NodeSpec& node,
                             NodePool& pool, const Trials& trials, Purpose purpose) {
  auto facts = GatherByNames(cluster, fabric, plugins, node, pool, trials, purpose);
  const Hardware* profile = cluster.FindHardware(node);
  if (!facts || profile == nullptr || !AreElsewhere(LocatePorts(*profile, *facts))) return facts;
  const LocatedCluster located(cluster, fabric, {.nodes = {{node.name, std::move(*facts)}}});
  return GatherByNames(located.spec(), located.fabric(), plugins, node, pool, trials, purpose);
}

}  // namespace

ClusterFacts Gather(const ClusterSpec& cluster, const Fabric& fabric,
                    const std::vector<Plugin>& plugins, const std::vector<const NodeSpec*>& nodes,
                    NodePool& pool, const std::function<void(const NodeName&)>& on_node,
                    const Trials& trials, Purpose purpose) {
  ClusterFacts facts;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, pool.at_once(), [&](const NodeSpec& node) {
    auto gathered = GatherNode(cluster, fabric, plugins, node, pool, trials, purpose);
    {
      const std::lock_guard lock(mutex);
      if (gathered) {
        facts.nodes[node.name] = std::move(*gathered);
      } else {
        facts.unreachable[node.name] = std::move(gathered).error();
      }
    }
    if (on_node) on_node(node.name);
  });
  for (auto& [name, error] : thrown) {
    facts.nodes.erase(name);
    facts.unreachable[name] = std::move(error);
  }
  return facts;
}

}  // namespace reconciler
