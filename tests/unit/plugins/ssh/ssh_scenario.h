#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plugins/ssh/ssh.h"
#include "reconciler/base/mark.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/values.h"

// Three nodes with keys and facts, for the tests of the ssh plugin.
namespace reconciler::plugins::ssh {

inline constexpr const char* kPublic = "~nvidia/.ssh/id_ed25519_spark.pub";
inline constexpr const char* kAuthorized = "~nvidia/.ssh/authorized_keys";
inline constexpr const char* kKnown = "~nvidia/.ssh/known_hosts";
inline constexpr const char* kConfig = "~nvidia/.ssh/config";
inline constexpr const char* kHostKey = "/etc/ssh/ssh_host_ed25519_key.pub";

// 25 base64 digits and two bits of the next say type and length; then come 32 bytes of one kind.
inline std::string Ed25519(char fill) {
  return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA" + std::string(42, fill);
}

inline RailPort Port(const NodeName& node, int rail, const std::string& address) {
  return {.node = node, .rail = rail, .address = *ParseIpv4Prefix(address)};
}

struct Scenario {
  ClusterSpec cluster = {.file = "cluster.yaml", .name = "homelab"};
  Fabric fabric = {};
  ClusterFacts facts = {};

  std::vector<Resource> Resources(const NodeName& node) const {
    return Get().resources({cluster, fabric, *cluster.FindNode(node), facts.nodes.at(node), facts});
  }
  Resource Find(const NodeName& node, const std::string& name) const {
    for (const Resource& resource : Resources(node)) {
      if (resource.name == name) return resource;
    }
    ADD_FAILURE() << node << " has no resource " << name;
    return {};
  }
  std::string BlockIn(const NodeName& node, const std::string& path) const {
    const Resource resource = Find(node, path);
    const auto* state = std::get_if<ResourceState>(&resource.desired);
    if (state == nullptr) return "known after apply";
    return ReadBlock(std::get<FileState>(*state).content, "homelab", "ssh-mesh").value_or("none");
  }
  // What the plan warns of about `subject`.
  std::string Warning(const NodeName& node, const std::string& subject) const {
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, *cluster.FindNode(node), facts.nodes.at(node), facts})) {
      if (one.subject != subject) continue;
      EXPECT_EQ(one.severity, Severity::kWarns);
      EXPECT_EQ(one.code, "ssh-peer-key-unknown");
      return one.message;
    }
    return "none";
  }
  // What the plan says for one resource.
  std::string Detail(const NodeName& node, const std::string& name) const {
    const auto change = Diff(Find(node, name), "ssh");
    if (!change) return "holds";
    return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
  }
};

inline NodeFacts MakeFacts(const NodeName& node, char key, char host) {
  NodeFacts facts{.node = node};
  facts.ssh.group = "users";
  facts.ssh.directory = FileAccess{{0700}, "nvidia"};
  facts.ssh.private_key = FileAccess{{0600}, "nvidia"};
  facts.files[kPublic] =
      FileState{.content = Ed25519(key) + " spark-reconcile homelab " + node + "\n"};
  for (const char* path : {kAuthorized, kKnown, kConfig}) facts.files[path] = Absent{};
  facts.files[kHostKey] = FileState{.content = Ed25519(host) + " root@" + node + "\n"};
  facts.files["/etc/ssh/ssh_host_ecdsa_key.pub"] = Absent{};
  facts.files["/etc/ssh/ssh_host_rsa_key.pub"] = Absent{};
  return facts;
}

// spark-1 and spark-2 share both rails; spark-3 is reached by management only.
inline Scenario Cluster() {
  Scenario scenario;
  for (int id = 1; id <= 3; ++id) {
    const std::string name = "spark-" + std::to_string(id);
    NodeSpec node{.name = name, .id = id, .address = "192.168.1.2" + std::to_string(id)};
    node.access.user = "nvidia";
    node.position = {.line = 4 + id, .column = 5};
    scenario.cluster.nodes.push_back(node);
    scenario.facts.nodes[name] =
        MakeFacts(name, static_cast<char>('a' + id - 1), static_cast<char>('A' + id - 1));
  }
  for (int rail = 0; rail < 2; ++rail) {
    const std::string subnet = "192.168.17" + std::to_string(7 + rail) + ".";
    scenario.fabric.segments.push_back({.rail = rail,
                                        .subnet = *ParseIpv4Prefix(subnet + "0/24"),
                                        .ports = {Port("spark-1", rail, subnet + "1/24"),
                                                  Port("spark-2", rail, subnet + "2/24")}});
  }
  scenario.cluster.settings =
      test::Map({{"ssh", test::Map({{"mesh", test::At(18, test::Flag(true))}})}});
  return scenario;
}

}  // namespace reconciler::plugins::ssh
