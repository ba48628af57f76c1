#include "reconciler/engine/gather.h"

#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"
#include "reconciler/engine/gather_script.h"

namespace reconciler {
namespace {

constexpr std::string_view kUnderWay = "engine.under-way";

// A constant. The lease counts only while its lock is held: a node that lost its power keeps the
// file. "-" keeps the words apart from each other and from nothing.
constexpr std::string_view kUnderWayScript =
    "cd /var/lib/spark-reconcile 2>/dev/null || exit 0\n"
    "[ ! -e lock ] || flock -n lock true || echo \"lease $(cat lease)\"\n"
    "for journal in journal/*; do\n"
    "  [ -e \"$journal/revert\" ] && [ ! -e \"$journal/decision\" ] || continue\n"
    "  echo \"undecided ${journal#journal/}\"\n"
    "done\n";

std::vector<Read> LedgerReads() {
  return {
      ReadFile{std::string(kLedgerFile)}, ReadListed{std::string(kOwnedList)},
      RunProbe{.id = std::string(kUnderWay), .argv = {"sh", "-c", std::string(kUnderWayScript)}}};
}

Observed<Ledger> LedgerOf(const Observed<FileState>& file) {
  if (const auto* unknown = std::get_if<Unknown>(&file)) return *unknown;
  const FileState* state = Known(file);
  if (state == nullptr) return Absent{};
  auto ledger = ParseLedger(state->content);
  if (!ledger) return Unknown{ledger.error().message};
  return std::move(*ledger);
}

// The engine's own reads become facts and leave the reply, where plugins do not look for them.
void TakeLedger(ProbeReply& raw, NodeFacts& facts) {
  facts.ledger = LedgerOf(raw.files[std::string(kLedgerFile)]);
  raw.files.erase(std::string(kLedgerFile));
  raw.files.erase(std::string(kOwnedList));
  std::vector<std::string> undecided;
  for (const std::string& line : SplitLines(raw.commands[std::string(kUnderWay)].out)) {
    if (line.starts_with("lease ")) facts.values[std::string(kLeaseKey)] = line.substr(6);
    if (line.starts_with("undecided ")) undecided.push_back(line.substr(10));
  }
  if (!undecided.empty()) facts.values[std::string(kUndecidedKey)] = Join(undecided, ", ");
}

Result<NodeFacts> GatherNode(const ClusterSpec& cluster, const Fabric& fabric,
                             const std::vector<Plugin>& plugins, const NodeSpec& node,
                             NodePool& pool) {
  std::vector<Read> reads;
  for (const Plugin& plugin : plugins) {
    if (plugin.probe == nullptr) continue;
    for (Read& read : plugin.probe(cluster, fabric, node)) reads.push_back(std::move(read));
  }
  for (Read& read : LedgerReads()) reads.push_back(std::move(read));
  const std::string nonce = MakeNonce();
  auto reply = pool.Run(node, GatherScript(reads, nonce),
                        std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(std::move(reply).error());
  auto raw = ParseGatherReply(*reply, reads, nonce);
  if (!raw) return Fail(InContext(std::move(raw).error(), node.name));

  NodeFacts facts;
  facts.node = node.name;
  facts.session_address = raw->session_address;
  TakeLedger(*raw, facts);
  facts.files = raw->files;
  for (const Plugin& plugin : plugins) {
    if (plugin.parse != nullptr) plugin.parse(*raw, facts);
  }
  return facts;
}

}  // namespace

ClusterFacts Gather(const ClusterSpec& cluster, const Fabric& fabric,
                    const std::vector<Plugin>& plugins, const std::vector<const NodeSpec*>& nodes,
                    NodePool& pool, const std::function<void(const NodeName&)>& on_node) {
  ClusterFacts facts;
  std::mutex mutex;
  ForEachNode(nodes, [&](const NodeSpec& node) {
    auto gathered = GatherNode(cluster, fabric, plugins, node, pool);
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
  return facts;
}

}  // namespace reconciler
