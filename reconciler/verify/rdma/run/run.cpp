#include "reconciler/verify/rdma/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "reconciler/fabric/roofline.h"
#include "reconciler/node/node_program.h"
#include "reconciler/spark_verify/protocol/options.h"
#include "reconciler/verify/exchange/relay.h"

namespace reconciler {
namespace {

using spark_verify::RunError;
using Ports = std::vector<std::pair<RailPort, RailPort>>;  // from, to

// Path of spark-verify per node, or why there is none.
using Programs = std::map<NodeName, Result<std::string>>;

constexpr int kGraceMs = 10'000;  // beyond the sending: start, connect, last pattern

// 2 MiB in flight fill a 200 Gb/s link many times over, and a slow device is done with them soon.
std::vector<std::string> BuildArguments(const std::string& program, const Ports& ports, bool from,
                                        const RdmaOptions& options) {
  spark_verify::WriteOptions write{.send = from,
                                   .size = 131'072,
                                   .depth = 8,
                                   .queue_pairs = 2,
                                   .milliseconds = options.milliseconds,
                                   .ack_timeout = 16,
                                   .limit_ms = options.milliseconds + kGraceMs};
  for (const auto& [a, b] : ports) {
    const RailPort& own = from ? a : b;
    write.rails.push_back({.hca = own.hca, .ipv4 = ToString(own.address.address)});
  }
  // Rounds of a ping-pong, on an idle rail only.
  if (from && ports.size() == 1) write.latency = 100;
  return {program, "write", spark_verify::FormatWriteOptions(std::move(write))};
}

// The PCIe device of a port by its hardware's profile; empty: the profile has none.
std::string FindPcie(const ClusterSpec& cluster, const RailPort& port) {
  const NodeSpec* node = cluster.FindNode(port.node);
  const Hardware* hardware = node != nullptr ? cluster.FindHardware(*node) : nullptr;
  const Cage* cage = hardware != nullptr ? hardware->FindCage(port.cage) : nullptr;
  const auto twin = static_cast<std::size_t>(port.twin);
  return cage != nullptr && twin < cage->twins.size() ? cage->twins[twin].PciDevice() : "";
}

RailEnd MakeRailEnd(const ClusterSpec& cluster, const RailPort& port) {
  const NodeSpec* node = cluster.FindNode(port.node);
  return {.hca = port.hca,
          .netdev = port.netdev,
          .cage = port.cage,
          .pcie = FindPcie(cluster, port),
          .hardware = node != nullptr ? node->hardware : std::string()};
}

Transfer MakeTransfer(const ClusterSpec& cluster, const Ports& ports) {
  Transfer transfer{.from = ports.front().first.node, .to = ports.front().second.node};
  for (const auto& [from, to] : ports) {
    transfer.rails.push_back({.rail = from.rail,
                              .from = MakeRailEnd(cluster, from),
                              .to = MakeRailEnd(cluster, to),
                              .wanted_mtu = ComputeRdmaMtu(std::min(from.mtu, to.mtu))});
  }
  return transfer;
}

void Fill(Transfer& transfer, RelayResult result) {
  transfer.run_error = std::move(result.run_error);
  transfer.failed_node = result.failed_end == 0 ? transfer.from : transfer.to;
  transfer.from_counters = std::move(result.ends[0].counters);
  transfer.to_counters = std::move(result.ends[1].counters);
  for (std::size_t i = 0; i < transfer.rails.size(); ++i) {
    RailWrite& rail = transfer.rails[i];
    if (i < result.ends[0].ready.rails.size()) {
      rail.from.active_mtu = result.ends[0].ready.rails[i].active_mtu;
      rail.from.limits = result.ends[0].ready.rails[i].limits;
    }
    if (i < result.ends[1].ready.rails.size()) {
      rail.to.active_mtu = result.ends[1].ready.rails[i].active_mtu;
      rail.to.limits = result.ends[1].ready.rails[i].limits;
    }
    if (i < result.ends[0].sent.size()) {
      const spark_verify::RailSent& sent = result.ends[0].sent[i];
      rail.gbps = sent.Gbps();
      rail.bytes = sent.total_bytes;
      rail.latency_us = sent.latency_us;
    }
  }
}

class RdmaRun {
 public:
  RdmaRun(const ClusterSpec& cluster, NodePool& pool, const RdmaOptions& options,
          const SkipRail& skip)
      : cluster_(cluster), pool_(pool), options_(options), skip_(skip) {}

  void Push(const std::vector<NodePair>& pairs);
  void Remove();
  // What is thrown in it is the transfers' error.
  std::vector<Transfer> MeasureCaught(const NodePair& pair);

 private:
  std::vector<Transfer> Measure(const NodePair& pair);
  Transfer Write(const Ports& ports, double uplink_gbps);
  Result<LineChannel> Start(const NodeName& node, const Ports& ports, bool from, Deadline deadline);
  std::string ExplainSkipped(const Ports& ports) const;

  const ClusterSpec& cluster_;
  NodePool& pool_;
  const RdmaOptions& options_;
  const SkipRail& skip_;
  Programs programs_ = {};
};

// A node that is not measured is not written to either.
void RdmaRun::Push(const std::vector<NodePair>& pairs) {
  std::vector<const NodeSpec*> nodes;
  for (const NodePair& pair : pairs) {
    for (const auto& ports : pair.rails) {
      if (!ExplainSkipped({ports}).empty()) continue;
      for (const NodeName& name : {pair.a, pair.b}) {
        if (programs_.try_emplace(name, Result<std::string>()).second) {
          nodes.push_back(cluster_.FindNode(name));
        }
      }
    }
  }
  NodeErrors thrown = ForEachNode(nodes, [this](const NodeSpec& node) {
    programs_.at(node.name) = PushProgram(node, pool_, options_.programs);
  });
  for (auto& [name, error] : thrown) programs_.at(name) = Fail(std::move(error));
}

void RdmaRun::Remove() {
  std::vector<const NodeSpec*> nodes;
  for (const auto& [name, program] : programs_) {
    if (program) nodes.push_back(cluster_.FindNode(name));
  }
  const auto end = options_.keep_program ? KeepProgram : RemoveProgram;
  std::ignore = ForEachNode(
      nodes, [this, end](const NodeSpec& node) { end(node, pool_, *programs_.at(node.name)); });
}

std::string RdmaRun::ExplainSkipped(const Ports& ports) const {
  for (const auto& [from, to] : ports) {
    const std::string why = skip_(from.node, to.node, from);
    if (!why.empty()) return why;
  }
  return {};
}

Result<LineChannel> RdmaRun::Start(const NodeName& node, const Ports& ports, bool from,
                                   Deadline deadline) {
  const Result<std::string>& program = programs_.at(node);
  if (!program) return Fail(program.error());
  auto shell = pool_.OpenShell(*cluster_.FindNode(node));
  if (!shell) return Fail(shell.error());
  return LineChannel::Start(std::move(*shell), BuildArguments(*program, ports, from, options_),
                            deadline);
}

Transfer RdmaRun::Write(const Ports& ports, double uplink_gbps) {
  Transfer transfer = MakeTransfer(cluster_, ports);
  transfer.uplink_gbps = uplink_gbps;
  transfer.skipped = ExplainSkipped(ports);
  if (!transfer.skipped.empty()) return transfer;
  const Deadline deadline =
      std::chrono::steady_clock::now() + Milliseconds(options_.milliseconds + 2 * kGraceMs);
  auto first = Start(transfer.from, ports, true, deadline);
  auto second = Start(transfer.to, ports, false, deadline);
  for (const bool from : {true, false}) {
    const Result<LineChannel>& end = from ? first : second;
    if (end) continue;
    transfer.run_error =
        RunError{.code = "no-program", .text = end.error().message, .hint = end.error().hint};
    transfer.failed_node = from ? transfer.from : transfer.to;
    return transfer;
  }
  Fill(transfer, Relay(*first, *second, deadline));
  return transfer;
}

std::vector<Transfer> RdmaRun::Measure(const NodePair& pair) {
  Ports back;
  for (const auto& [a, b] : pair.rails) back.emplace_back(b, a);
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < pair.rails.size(); ++i) {
    transfers.push_back(Write({pair.rails[i]}, pair.uplink_gbps));
    transfers.push_back(Write({back[i]}, pair.uplink_gbps));
  }
  if (pair.rails.size() > 1) {
    transfers.push_back(Write(pair.rails, pair.uplink_gbps));
    transfers.push_back(Write(back, pair.uplink_gbps));
  }
  return transfers;
}

std::vector<Transfer> RdmaRun::MeasureCaught(const NodePair& pair) {
  std::vector<Transfer> transfers;
  const auto thrown = CatchThrown(pair.a, [&] { transfers = Measure(pair); });
  if (!thrown) return transfers;
  for (const auto& ports : pair.rails) {
    Transfer transfer = MakeTransfer(cluster_, {ports});
    transfer.run_error =
        RunError{.code = "protocol", .text = thrown->message, .hint = thrown->hint};
    transfer.failed_node = pair.a;
    transfers.push_back(std::move(transfer));
  }
  return transfers;
}

}  // namespace

std::vector<Transfer> RunRdma(const ClusterSpec& cluster, const Fabric& fabric, NodePool& pool,
                              const RdmaOptions& options, const SkipRail& skip) {
  const std::vector<NodePair> pairs = ListPairs(cluster, fabric);
  RdmaRun run(cluster, pool, options, skip);
  run.Push(pairs);
  std::vector<Transfer> transfers;
  for (const std::vector<NodePair>& round : Schedule(pairs)) {
    std::vector<std::vector<Transfer>> measured(round.size());
    {
      // No node is in two pairs of a round, so that each connection belongs to one thread.
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < round.size(); ++i) {
        threads.emplace_back([&, i] { measured[i] = run.MeasureCaught(round[i]); });
      }
    }
    for (auto& some : measured) {
      std::move(some.begin(), some.end(), std::back_inserter(transfers));
    }
  }
  run.Remove();
  return transfers;
}

}  // namespace reconciler
