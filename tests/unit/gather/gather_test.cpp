#include "reconciler/gather/gather.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

constexpr char kNul = '\0';

struct Said {
  std::string files = {};    // records of the listing
  std::string stat = {};     // records of both looks
  std::string content = {};  // of all files
  std::string values = {};   // path, NUL and first line of each
};

// A node that answers the gather script with that.
FakeNode SayingNode(const Said& said) {
  return {.shell = [said](const std::string& script) {
    const std::string nonce = script.substr(script.find("NONCE='") + 7, 32);
    ScriptReply reply;
    for (const auto& [label, out] :
         std::vector<std::pair<std::string, std::string>>{{"session", ""},
                                                          {"files", said.files},
                                                          {"stat", said.stat},
                                                          {"content", said.content},
                                                          {"again", said.stat},
                                                          {"values", said.values},
                                                          {"end", ""}}) {
      reply.out += "\n" + nonce + " " + label + "\n" + out;
      reply.err += "\n" + nonce + " " + label + "\n";
    }
    return reply;
  }};
}

FakeNode NodeWithFile(const std::string& path, const std::string& content) {
  return SayingNode({.files = "F " + path + kNul,
                     .stat = std::to_string(content.size()) +
                             " 644 root root 0 0 7 2026-01-01 00:00:00.0 +0000 " + path + kNul,
                     .content = content});
}

std::vector<Read> ProbeHosts(const ClusterSpec&, const Fabric&, const NodeSpec&) {
  return {ReadFile{"/etc/hosts"}};
}

void ThrowForTwo(const ProbeReply&, NodeFacts& facts) {
  if (facts.node == "spark-2") throw std::out_of_range("basic_string::substr");
}

ClusterFacts GatherFrom(const std::vector<std::pair<NodeName, FakeNode>>& nodes,
                        const Plugin& plugin) {
  FakeNetwork network({});
  ClusterSpec cluster;
  for (const auto& [name, node] : nodes) {
    network.SetNode(name, node);
    cluster.nodes.push_back({.name = name});
  }
  NodePool pool(network.Dialer());
  return Gather(cluster, {}, {plugin}, SelectNodes(cluster, {}), pool);
}

const Plugin kHosts = {.name = "hosts", .probe = ProbeHosts};

TEST(Gather, AFileWithANulByteIsUnknownWithTheReason) {
  const ClusterFacts facts =
      GatherFrom({{"spark-1", NodeWithFile("/etc/hosts", std::string("127.0.0.1 a\0b\n", 14))},
                  {"spark-2", NodeWithFile("/etc/hosts", "127.0.0.1 a\n")}},
                 kHosts);
  EXPECT_EQ(std::get<Unknown>(facts.nodes.at("spark-1").files.at("/etc/hosts")).why,
            "holds a NUL byte");
  EXPECT_EQ(Known(facts.nodes.at("spark-2").files.at("/etc/hosts"))->content, "127.0.0.1 a\n");
}

TEST(Gather, ALedgerWhoseTextsHoldANulByteIsUnknown) {
  const auto judge = [](const std::string& name, const std::string& command) {
    const std::string ledger = fmt::format(
        R"({{"format":"spark-reconcile/ledger/1","cluster":"lab","generation":1,)"
        R"("manifest_digest":"","nodes":[],"entries":[{{"kind":"file","name":"{}",)"
        R"("plugin":"hosts","generation":1,"original":[],"triggers":[{{"time_limit_s":30,{}}}],"again":[],)"
        R"("impact":"none","digest":"","shared":false}}]}})",
        name, command);
    const ClusterFacts facts =
        GatherFrom({{"spark-1", NodeWithFile(std::string(kLedgerFile), ledger)}}, kHosts);
    const Unknown* unknown = std::get_if<Unknown>(&facts.nodes.at("spark-1").ledger);
    return unknown == nullptr ? "" : unknown->why;
  };
  EXPECT_EQ(judge("/etc/ab", R"("run":["true"],"user":"","sets":"/sys/a","makes":["/run/a"])"), "");
  for (const char* command :
       {R"("run":["a\u0000"],"user":"")", R"("run":["true"],"user":"a\u0000")",
        R"("run":["true"],"user":"","id":"a\u0000")",
        R"("run":["true"],"user":"","sets":"/sys/a\u0000b")",
        R"("run":["true"],"user":"","makes":["/run/a\u0000"])"}) {
    EXPECT_EQ(judge("/etc/ab", command), "holds a NUL byte") << command;
  }
  EXPECT_EQ(judge(R"(/etc/a\u0000b)", R"("run":["true"],"user":"")"), "holds a NUL byte");
}

TEST(Gather, AFileHasTheTimeThatTheNodeSaysUnlessItIsNone) {
  const auto read = [](const std::string& mtime) {
    const ClusterFacts facts =
        GatherFrom({{"spark-1", SayingNode({.files = "F /etc/hosts" + std::string(1, kNul),
                                            .stat = "2 644 root root 0 0 7 " + mtime +
                                                    " /etc/hosts" + std::string(1, kNul),
                                            .content = "x\n"})}},
                   kHosts);
    return Known(FindFile(facts.nodes.at("spark-1"), "/etc/hosts"))->mtime;
  };
  EXPECT_EQ(read("2026-01-01 00:00:00.5 +0000"), "2026-01-01 00:00:00.5 +0000");
  EXPECT_EQ(read("--reference=/etc/shadow 00:00:00.5 +0000"), "");
}

TEST(Gather, TheNewestGenerationIsTheLargestNumberOfAFile) {
  const auto name = [](const std::string& file, const std::string& line = "{") {
    return "/var/lib/spark-reconcile/generations/" + file + kNul + line + "\n";
  };
  const std::string start = R"({"manifest_digest": "12ab",)";
  const ClusterFacts facts = GatherFrom(
      {{"spark-1",
        SayingNode({.values = name("10.json", start) +
                              name("9.json", R"({"manifest_digest": "9",)") + name("x.json") +
                              name("12.json.new") + name(".json") + name("2000000000.json")})},
       {"spark-2", SayingNode({})},
       {"spark-3", SayingNode({.values = name("9.json", start) + name("10.json")})}},
      kHosts);
  EXPECT_EQ(facts.nodes.at("spark-1").newest_generation, 10);
  EXPECT_EQ(facts.nodes.at("spark-1").newest_digest, "12ab");
  EXPECT_EQ(facts.nodes.at("spark-2").newest_generation, 0);
  // A version before this one wrote that document.
  EXPECT_EQ(facts.nodes.at("spark-3").newest_generation, 10);
  EXPECT_EQ(facts.nodes.at("spark-3").newest_digest, "");
}

TEST(Gather, TheNamesOfGenerationsComeWithTheOtherValues) {
  FakeNetwork network({{"spark-1", SayingNode({})}});
  const ClusterSpec cluster{.nodes = {{.name = "spark-1"}}};
  NodePool pool(network.Dialer());
  Gather(cluster, {}, {}, SelectNodes(cluster, {}), pool);
  const std::vector<std::string> scripts = network.ListScripts("spark-1");
  ASSERT_EQ(scripts.size(), 1U);
  const std::size_t values = scripts[0].find("\ngather_values ");
  ASSERT_NE(values, std::string::npos);
  const std::string call =
      scripts[0].substr(values + 1, scripts[0].find('\n', values + 1) - values);
  EXPECT_NE(call.find(" /var/lib/spark-reconcile/generations/*.json"), std::string::npos) << call;
}

TEST(Gather, AnEmptyRecordLeavesTheFileUnknownAndTheOtherNodesWhole) {
  const ClusterFacts facts = GatherFrom({{"spark-1", SayingNode({.files = std::string(1, kNul)})},
                                         {"spark-2", NodeWithFile("/etc/hosts", "x\n")}},
                                        kHosts);
  EXPECT_TRUE(facts.unreachable.empty());
  EXPECT_TRUE(std::holds_alternative<Unknown>(FindFile(facts.nodes.at("spark-1"), "/etc/hosts")));
  EXPECT_EQ(Known(facts.nodes.at("spark-2").files.at("/etc/hosts"))->content, "x\n");
}

TEST(Gather, WhatANodeSaysInsteadOfAnAnswerIsInItsError) {
  const auto saying = [](ScriptReply reply) {
    return FakeNode{.shell = [reply](const std::string&) { return reply; }};
  };
  const ClusterFacts facts = GatherFrom(
      {{"spark-1", saying({.exit_code = 1, .out = "This account is currently not available.\n"})},
       {"spark-2", saying({.exit_code = 1, .out = "Welcome\n", .err = "x\nsudo: \x1b[2J\n"})},
       {"spark-3", saying({.exit_code = 1})}},
      kHosts);
  EXPECT_EQ(facts.unreachable.at("spark-1").message,
            "the login ran no script: This account is currently not available.");
  EXPECT_EQ(facts.unreachable.at("spark-2").message, "the login ran no script: sudo: \\x1b[2J");
  EXPECT_EQ(facts.unreachable.at("spark-3").message, "the login ran no script");
}

std::vector<Read> ProbePorts(const ClusterSpec& cluster, const Fabric& fabric,
                             const NodeSpec& node) {
  std::vector<Read> reads;
  for (const RailPort& port : fabric.ports.at(node.name)) {
    reads.push_back(ReadValue{"/of-fabric/" + port.netdev});
  }
  for (const Cage& cage : cluster.FindHardware(node)->cages) {
    for (const Twin& twin : cage.twins) reads.push_back(ReadValue{"/of-profile/" + twin.netdev});
  }
  return reads;
}

// spark-1 has its ports under their names, workstation-2 a card in slot 3.
void ParsePorts(const ProbeReply&, NodeFacts& facts) {
  const std::string slot = facts.node == "spark-1" ? "1" : "3";
  for (const std::string port : {"0", "1"}) {
    const std::string netdev = "enp" + slot + "s0f" + port + "np" + port;
    facts.links[netdev] = {.phys_port_name = "p" + port, .driver = "mlx5_core"};
    facts.network.pci["0000:0" + slot + ":00." + port] = netdev;
  }
}

TEST(Gather, ANodeWhosePortsHaveOtherNamesIsReadOnceMoreByThese) {
  const Plugin plugin{.name = "ports", .probe = ProbePorts, .parse = ParsePorts};
  FakeNetwork network({});
  ClusterSpec cluster;
  Fabric fabric;
  for (const NodeName name : {"spark-1", "workstation-2"}) {
    network.SetNode(name, SayingNode({}));
    cluster.nodes.push_back({.name = name, .hardware = "connectx5-workstation"});
    fabric.ports[name] = {{.node = name, .cage = "p0", .netdev = "enp1s0f0np0"}};
  }
  NodePool pool(network.Dialer());
  const ClusterFacts facts = Gather(cluster, fabric, {plugin}, SelectNodes(cluster, {}), pool);
  EXPECT_TRUE(facts.unreachable.empty());
  EXPECT_EQ(network.ListScripts("spark-1").size(), 1U);
  const std::vector<std::string> twice = network.ListScripts("workstation-2");
  ASSERT_EQ(twice.size(), 2U);
  EXPECT_NE(twice[0].find("/of-fabric/enp1s0f0np0"), std::string::npos);
  for (const char* read : {"/of-fabric/enp3s0f0np0", "/of-profile/enp3s0f1np1"}) {
    EXPECT_EQ(twice[0].find(read), std::string::npos) << read;
    EXPECT_NE(twice[1].find(read), std::string::npos) << read;
  }
  EXPECT_EQ(twice[1].find("enp1s0"), std::string::npos);
}

std::vector<Read> ProbeTwice(const ClusterSpec&, const Fabric&, const NodeSpec&) {
  return {RunProbe{.id = "needed", .argv = {"needed"}},
          RunProbe{.id = "judged", .argv = {"judged"}, .only_for_verification = true}};
}

TEST(Gather, APlanDoesNotWaitForWhatOnlyAVerificationJudges) {
  const Plugin plugin{.name = "both", .probe = ProbeTwice};
  const ClusterSpec cluster{.nodes = {{.name = "spark-1"}}};
  for (const Purpose purpose : {Purpose::kPlan, Purpose::kVerification}) {
    FakeNetwork network({{"spark-1", SayingNode({})}});
    NodePool pool(network.Dialer());
    const ClusterFacts facts =
        Gather(cluster, {}, {plugin}, SelectNodes(cluster, {}), pool, {}, {}, purpose);
    EXPECT_TRUE(facts.nodes.contains("spark-1"));
    const std::string script = network.ListScripts("spark-1").at(0);
    EXPECT_NE(script.find("needed"), std::string::npos);
    EXPECT_EQ(script.find("judged") != std::string::npos, purpose == Purpose::kVerification);
  }
}

TEST(Gather, WhatIsThrownOverANodesAnswerIsThatNodesErrorAlone) {
  const ClusterFacts facts =
      GatherFrom({{"spark-1", NodeWithFile("/etc/hosts", "x\n")},
                  {"spark-2", NodeWithFile("/etc/hosts", "x\n")}},
                 {.name = "hosts", .probe = ProbeHosts, .parse = ThrowForTwo});
  EXPECT_TRUE(facts.nodes.contains("spark-1"));
  EXPECT_FALSE(facts.nodes.contains("spark-2"));
  EXPECT_EQ(facts.unreachable.at("spark-2").message,
            "its answer could not be processed: basic_string::substr");
}

}  // namespace
}  // namespace reconciler
