#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/diagnosis/diagnose.h"
#include "reconciler/verify/links/probes.h"
#include "reconciler/verify/links/run/reply.h"
#include "reconciler/verify/links/static_facts.h"
#include "reconciler/verify/report/report.h"
#include "tests/unit/verify/severities.h"

namespace reconciler {

// A healthy cluster as values: spark-1 to spark-N, mesh and memlock requested, every fact right.
struct Sample {
  ClusterSpec cluster = {};
  Fabric fabric = {};
  ClusterFacts facts = {};

  LinkFact& Link(int node, int rail) {
    const NodeName name = fmt::format("spark-{}", node);
    for (const RailPort& port : fabric.ports.at(name)) {
      if (port.rail == rail) return facts.nodes.at(name).links.at(port.netdev);
    }
    throw std::out_of_range("no such port");
  }

  void Lose(int node) {
    const NodeName name = fmt::format("spark-{}", node);
    facts.nodes.erase(name);
    facts.unreachable[name] = {
        .kind = ErrorKind::kTransport, .message = "no connection within 10 s", .context = {name}};
  }

  void Join(const std::vector<int>& nodes, int rail, const std::string& cage, int twin) {
    Segment segment{.rail = rail};
    for (const int id : nodes) {
      RailPort port{
          .node = fmt::format("spark-{}", id),
          .cage = cage,
          .twin = twin,
          .rail = rail,
          .netdev = fmt::format("{}f{}np{}", twin == 0 ? "enp1s0" : "enP2p1s0", cage[1], cage[1])};
      port.address = {.address = {0xC0A80000u + (177u + static_cast<std::uint32_t>(rail)) * 256u +
                                  static_cast<std::uint32_t>(id)},
                      .length = 24};
      segment.subnet = port.address.Network();
      LinkFact link{.mtu = 9000, .admin_up = true, .carrier = true, .speed_mbps = 200000};
      link.ipv4 = {port.address};
      facts.nodes[port.node].links[port.netdev] = link;
      fabric.ports[port.node].push_back(port);
      segment.ports.push_back(port);
    }
    fabric.segments.push_back(segment);
  }
};

inline Value Text(std::string text) {
  Value value;
  value.data = std::move(text);
  return value;
}

inline Value Map(std::vector<Member> members) {
  Value value;
  value.data = std::move(members);
  return value;
}

inline Member Entry(std::string key, Value value) {
  return Member{.key = std::move(key), .value = std::move(value)};
}

inline Value Settings(Value memlock, bool mesh) {
  Value wants_mesh;
  wants_mesh.data = mesh;
  return Map(
      {Entry("memlock", std::move(memlock)), Entry("ssh", Map({Entry("mesh", wants_mesh)}))});
}

inline Sample Nodes(int count) {
  Sample sample;
  sample.cluster.name = "homelab";
  sample.cluster.settings = Settings(Text("unlimited"), true);
  for (int id = 1; id <= count; ++id) {
    NodeSpec node{.name = fmt::format("spark-{}", id), .id = id};
    node.access.user = "nvidia";
    sample.cluster.nodes.push_back(node);
    NodeFacts& facts = sample.facts.nodes[node.name];
    facts.node = node.name;
    facts.memlock.session = MemoryLimit{MemoryLimit::kUnlimited};
  }
  return sample;
}

// Two rails, each joins all nodes: a switch, or for two nodes a cable.
inline Sample OnSwitch(int count) {
  Sample sample = Nodes(count);
  std::vector<int> all;
  for (int id = 1; id <= count; ++id) all.push_back(id);
  sample.Join(all, 0, "p1", 0);
  sample.Join(all, 1, "p1", 1);
  return sample;
}

// That rail has link-local addresses: 169.254.ID.9 and fe80::ID.
inline void MakeLinkLocal(Sample& sample, int rail) {
  const auto set = [&](RailPort& port) {
    if (port.rail == rail) port.address = kLinkLocalSubnet;
  };
  for (auto& [node, ports] : sample.fabric.ports) {
    for (RailPort& port : ports) set(port);
  }
  for (Segment& segment : sample.fabric.segments) {
    if (segment.rail == rail) segment.subnet = kLinkLocalSubnet;
    for (RailPort& port : segment.ports) set(port);
  }
  for (const NodeSpec& node : sample.cluster.nodes) {
    LinkFact& link = sample.Link(node.id, rail);
    link.ipv4 = {*ParseIpv4Prefix(fmt::format("169.254.{}.9/16", node.id))};
    link.ipv6 = {fmt::format("fe80::{}/64", node.id)};
  }
}

// Three nodes, three cables, two rails per cable: 1–2 has rails 0 and 1, 2–3 has 2, 3; 3–1 has
// 4, 5.
inline Sample Ring() {
  Sample sample = Nodes(3);
  for (int cable = 0; cable < 3; ++cable) {
    const std::vector<int> ends = {cable + 1, (cable + 1) % 3 + 1};
    for (int twin = 0; twin < 2; ++twin) {
      const int rail = cable * 2 + twin;
      sample.Join({ends[0]}, rail, "p0", twin);
      Segment one = sample.fabric.segments.back();
      sample.fabric.segments.pop_back();
      sample.Join({ends[1]}, rail, "p1", twin);
      sample.fabric.segments.back().ports.insert(sample.fabric.segments.back().ports.begin(),
                                                 one.ports.front());
    }
  }
  return sample;
}

// The report's checks when everything that is measured passes; then Break makes some fail.
inline std::vector<Check> PassedChecks(const Sample& sample) {
  std::vector<Check> checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  for (const VerifyLevel level : {VerifyLevel::kPing, VerifyLevel::kSsh}) {
    for (const NodeSpec& node : sample.cluster.nodes) {
      const NodeProbes probes = ListProbes(sample.cluster, sample.fabric, node, VerifyLevel::kSsh);
      const bool lost = sample.facts.unreachable.contains(node.name);
      for (Check check : MakeNotMeasuredChecks(probes, Symptom::kNodeUnreachable, "")) {
        if (check.level != level) continue;
        if (lost) {
          check.why = node.name + " could not be reached";
        } else {
          check.outcome = Outcome::kPass;
          check.symptom = Symptom::kNone;
        }
        checks.push_back(check);
      }
    }
  }
  return checks;
}

// A rule such as "1>2@0": from, to and rail; 0 as a node and * as a rail stand for any.
inline bool Matches(const Check& check, std::string_view rule) {
  const auto node = [](char id, const NodeName& name) {
    return id == '0' || name == fmt::format("spark-{}", id);
  };
  return node(rule[0], check.from) && node(rule[2], check.to) &&
         (rule[4] == '*' || check.rail == rule[4] - '0');
}

inline void Break(std::vector<Check>& checks, VerifyLevel level, std::string_view rule,
                  Symptom symptom, const std::string& evidence = "") {
  for (Check& check : checks) {
    if (check.level != level || check.to.empty() || check.outcome != Outcome::kPass) continue;
    if (!Matches(check, rule)) continue;
    check.outcome = Outcome::kFail;
    check.symptom = symptom;
    check.measured = std::string(ToString(symptom));
    if (!evidence.empty()) check.evidence = {evidence};
  }
}

inline std::vector<Finding> ListFindings(const Sample& sample, const std::vector<Check>& checks) {
  std::map<NodeName, std::string> unreachable;
  for (const auto& [node, error] : sample.facts.unreachable) unreachable[node] = error.message;
  std::vector<Finding> findings =
      Diagnose(sample.cluster, sample.fabric, sample.facts, checks, unreachable);
  test::CheckSeverities(findings);
  return findings;
}

// "path-mtu spark-1 spark-2 rail0 x2": code, nodes, rails and the number of checks explained.
inline std::vector<std::string> Brief(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) {
    std::vector<std::string> words = {finding.code};
    words.insert(words.end(), finding.nodes.begin(), finding.nodes.end());
    for (const int rail : finding.rails) words.push_back(FormatRailName(rail));
    words.push_back(fmt::format("x{}", finding.explains));
    texts.push_back(Join(words, " "));
  }
  return texts;
}

}  // namespace reconciler
