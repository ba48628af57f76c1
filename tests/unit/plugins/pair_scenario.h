#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reconciler/planning/diff.h"
#include "reconciler/plugin.h"
#include "tests/unit/plugins/values.h"

// Two nodes with one cable at cage p1, as a session from elsewhere finds spark-1.
namespace reconciler::plugins::test {

inline RailPort PairPort(int id, int rail) {
  const std::string netdev = rail == 0 ? "enp1s0f1np1" : "enP2p1s0f1np1";
  const std::string address =
      "192.168." + std::to_string(177 + rail) + "." + std::to_string(id) + "/24";
  return {.node = "spark-" + std::to_string(id),
          .cage = "p1",
          .twin = rail,
          .rail = rail,
          .netdev = netdev,
          .hca = rail == 0 ? "rocep1s0f1" : "roceP2p1s0f1",
          .address = *ParseIpv4Prefix(address),
          .position = {.line = 9, .column = 13}};
}

inline LinkFact Bare(const std::string& mac) {
  return {.mac = mac, .mtu = 1500, .admin_up = true, .carrier = true, .operstate = "UP"};
}

struct PairScenario {
  ClusterSpec cluster = {.file = "cluster.yaml", .name = "homelab"};
  Fabric fabric = {};
  NodeFacts facts = {.node = "spark-1"};

  PairScenario() {
    cluster.fabric.position = {.line = 7, .column = 3};
    for (int id = 1; id <= 2; ++id) {
      cluster.nodes.push_back({.name = "spark-" + std::to_string(id),
                               .id = id,
                               .address = "192.168.1.2" + std::to_string(id)});
    }
    for (int rail = 0; rail < 2; ++rail) {
      Segment segment{.rail = rail, .subnet = PairPort(1, rail).address.Network()};
      for (int id = 1; id <= 2; ++id) {
        segment.ports.push_back(PairPort(id, rail));
        fabric.ports["spark-" + std::to_string(id)].push_back(PairPort(id, rail));
      }
      fabric.segments.push_back(segment);
    }
    fabric.unused_netdevs["spark-1"] = {"enp1s0f0np0", "enP2p1s0f0np0"};
    facts.session.address = "192.168.1.21";
    facts.session.interface = "enP7s7";
    facts.network.links = 5;
    facts.network.default_route = std::vector<std::string>{"enP7s7"};
    facts.links["enP7s7"] = Bare("02:53:50:00:01:01");
    facts.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")};
    facts.links["enp1s0f1np1"] = Bare("02:53:50:00:01:04");
    facts.links["enP2p1s0f1np1"] = Bare("02:53:50:00:01:05");
    facts.links["enp1s0f0np0"] = Bare("02:53:50:00:01:02");
    facts.links["enP2p1s0f0np0"] = Bare("02:53:50:00:01:03");
  }

  AdoptOffers CollectOffers(const Plugin& plugin, const ClusterFacts& all) const {
    if (plugin.adoptable == nullptr) return {};
    return {cluster, plugin.adoptable(cluster, fabric, all)};
  }

  std::vector<Resource> Resources(const Plugin& plugin) const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    const AdoptOffers offers = CollectOffers(plugin, all);
    return plugin.resources(
        {cluster, fabric, *cluster.FindNode(facts.node), facts, all, false, &offers});
  }

  Resource Find(const Plugin& plugin, const std::string& name) const {
    for (const Resource& resource : Resources(plugin)) {
      if (resource.name == name) return resource;
    }
    ADD_FAILURE() << "no resource " << name;
    return {};
  }

  // The file that a resource wants; empty content when it wants none.
  FileState File(const Plugin& plugin, const std::string& name) const {
    const Resource resource = Find(plugin, name);
    const auto* state = std::get_if<ResourceState>(&resource.desired);
    return state != nullptr ? std::get<FileState>(*state) : FileState{};
  }

  // What a plan says for one resource.
  std::string Detail(const Plugin& plugin, const std::string& name) const {
    const auto change = Diff(Find(plugin, name), plugin.name);
    if (!change) return "holds";
    return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
  }

  // What the plugin warns of about `subject`; without a message where it does not.
  Diagnostic FindWarning(const Plugin& plugin, const std::string& subject) const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    const AdoptOffers offers = CollectOffers(plugin, all);
    for (const Diagnostic& one : plugin.diagnose(
             {cluster, fabric, *cluster.FindNode(facts.node), facts, all, false, &offers})) {
      if (one.subject != subject) continue;
      EXPECT_EQ(one.severity, Severity::kWarns);
      return one;
    }
    return {};
  }

  // "message: next step" of the warning about `subject`.
  std::string Warning(const Plugin& plugin, const std::string& subject) const {
    const Diagnostic found = FindWarning(plugin, subject);
    if (found.message.empty()) return "none";
    return found.message + (found.next_step.empty() ? "" : ": " + found.next_step);
  }

  std::vector<std::string> Names(const Plugin& plugin) const {
    std::vector<std::string> names;
    for (const Resource& resource : Resources(plugin)) names.push_back(resource.name);
    return names;
  }

  void AddFile(const std::string& path, const std::string& content) {
    facts.files[path] = FileState{.content = content, .mode = 0600};
  }
};

inline std::vector<std::string> Lines(const std::vector<RunCommand>& commands) {
  std::vector<std::string> lines;
  for (const RunCommand& command : commands) {
    std::string line;
    for (const std::string& word : command.argv) line += (line.empty() ? "" : " ") + word;
    lines.push_back(line);
  }
  return lines;
}

inline std::vector<std::string> Lines(const std::vector<Action>& actions) {
  std::vector<RunCommand> commands;
  for (const Action& action : actions) commands.push_back(std::get<RunCommand>(action));
  return Lines(commands);
}

}  // namespace reconciler::plugins::test
