#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plugins/nccl/leftovers/settings.h"
#include "plugins/nccl/nccl.h"
#include "reconciler/base/text.h"
#include "tests/unit/plugins/pair_scenario.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::nccl {

inline Value Env(std::vector<std::pair<std::string, Value>> variables) {
  return test::Map(std::move(variables));
}

// The pair with a section `nccl` and nodes that have neither files, nor a libnccl, nor a GPU.
struct NcclScenario : test::PairScenario {
  using Members = std::vector<std::pair<std::string, Value>>;
  ClusterFacts all = {};

  explicit NcclScenario(Members section = {}) {
    cluster.settings = test::Map({{"nccl", test::Map(std::move(section))}});
    MakeBare(facts);
    all.nodes["spark-1"] = facts;
    all.nodes["spark-2"] = {.node = "spark-2"};
    MakeBare(all.nodes["spark-2"]);
  }

  static void MakeBare(NodeFacts& node) {
    for (const std::string_view path : {kShellFile, kServiceFile}) {
      node.files[std::string(path)] = Absent{};
    }
    node.nccl.settings = std::vector<NcclSetting>{};
    node.nccl.library = Absent{};
    node.gpudirect.driver = Absent{};
    node.gpudirect.gpu = Absent{};
  }

  // A library that knows these names.
  static void AddLibrary(NodeFacts& node, const std::string& version, const std::string& names) {
    NcclLibrary library{.path = "/usr/lib/libnccl.so.2", .version = version};
    for (std::string& name : Split(names, ' ')) library.names.insert(std::move(name));
    node.nccl.library = std::move(library);
  }

  static std::string Subnet(int rail) { return "10.0." + std::to_string(rail) + "."; }

  // Three cables, each node's cages with one neighbour each.
  void MakeRing() {
    fabric = {};
    cluster.nodes.push_back({.name = "spark-3", .id = 3, .address = "192.168.1.23"});
    for (int rail = 0; rail < 6; ++rail) {
      const int from = rail / 2;
      Segment segment{.rail = rail, .subnet = *ParseIpv4Prefix(Subnet(rail) + "0/24")};
      for (const auto& [id, cage] : {std::pair(from + 1, 0), std::pair((from + 1) % 3 + 1, 1)}) {
        RailPort port = test::PairPort(id, rail % 2);
        port.cage = cage == 0 ? "p0" : "p1";
        port.hca = (rail % 2 == 0 ? "rocep1s0f" : "roceP2p1s0f") + std::to_string(cage);
        port.rail = rail;
        port.address = *ParseIpv4Prefix(Subnet(rail) + std::to_string(id) + "/24");
        segment.ports.push_back(port);
        fabric.ports[port.node].push_back(port);
      }
      fabric.segments.push_back(segment);
    }
  }

  std::vector<Resource> Wanted() {
    all.nodes[facts.node] = facts;
    return Get().resources({cluster, fabric, cluster.nodes.front(), facts, all});
  }

  // What the plan has notes of.
  std::vector<std::string> Notes() {
    all.nodes[facts.node] = facts;
    return ListDiagnostics(Severity::kInforms);
  }

  // What the plan warns of, after the blocked ones of our two files.
  std::vector<std::string> Warnings() {
    std::vector<std::string> lines;
    for (const Resource& resource : Wanted()) {
      const auto change = Diff(resource, "nccl");
      if (!change || change->change != ChangeKind::kBlocked) continue;
      lines.push_back(resource.name + ": " + change->detail);
    }
    for (std::string& line : ListDiagnostics(Severity::kWarns)) lines.push_back(std::move(line));
    return lines;
  }

  std::vector<std::string> ListDiagnostics(Severity severity) {
    std::vector<std::string> lines;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      if (one.severity != severity) continue;
      EXPECT_TRUE(one.message.starts_with(one.subject + ": ")) << one.message;
      lines.push_back(one.message + (one.next_step.empty() ? "" : ": " + one.next_step));
    }
    return lines;
  }

  std::string Body(std::string_view path) {
    for (const Resource& resource : Wanted()) {
      if (resource.name != path) continue;
      const auto* state = std::get_if<ResourceState>(&resource.desired);
      return state == nullptr ? "not known" : std::get<FileState>(*state).content;
    }
    return "none";
  }

  // "NAME=VALUE" lines of the environment file.
  std::vector<std::string> Variables() {
    std::vector<std::string> lines;
    for (const std::string& line : SplitLines(Body(kServiceFile))) {
      if (!line.starts_with('#')) lines.push_back(line);
    }
    return lines;
  }

  Errors Check() const { return Get().check(cluster, fabric); }

  // The codes of what `validate` refuses.
  std::vector<std::string> RefusalCodes() const {
    std::vector<std::string> codes;
    for (const Error& error : Check()) codes.push_back(error.code);
    return codes;
  }

  std::vector<std::string> DiagnosticCodes(Severity severity) const {
    std::vector<std::string> codes;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      if (one.severity == severity) codes.push_back(one.code);
    }
    return codes;
  }
};

}  // namespace reconciler::plugins::nccl
