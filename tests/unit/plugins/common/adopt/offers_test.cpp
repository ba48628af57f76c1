#include "plugins/common/adopt/offers.h"

#include <gtest/gtest.h>

#include "tests/unit/plugins/pair_scenario.h"

// The advice to add to the manifest's `adopt`.
namespace reconciler::plugins {
namespace {

constexpr const char* kFile = "file: /etc/netplan/40-cx7.yaml";
constexpr const char* kLines = "lines: /etc/sysctl.d/90-t.conf, match: [a.b, c.d]";

std::string Advise(std::vector<AdoptOffer> offers, std::vector<Value> entries = {}) {
  ClusterSpec cluster;
  cluster.settings = test::Map({{"adopt", test::List(std::move(entries))}});
  return AdviseToAdopt(cluster, offers);
}

TEST(AdoptOffers, NodesWithOneThingAreOneEntryWithTheDigestOfEach) {
  test::PairScenario pair;
  ClusterFacts all;
  for (const NodeSpec& node : pair.cluster.nodes) all.nodes[node.name].node = node.name;
  all.nodes["stranger"].node = "stranger";
  const PluginInput input{pair.cluster, pair.fabric, pair.cluster.nodes[1], all.nodes["spark-2"],
                          all};
  const AdoptOffers offers = CollectOffers(input, [](const PluginInput& one) {
    return std::vector<AdoptableFile>{
        {.path = "/etc/netplan/40-cx7.yaml", .entry = kFile, .digest = one.facts.node + "!"}};
  });
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(Advise(offers.at("/etc/netplan/40-cx7.yaml")),
            "add {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: \"spark-1!\", spark-2: "
            "\"spark-2!\"}} to adopt");
}

TEST(AdoptOffers, WhatBelongsTogetherIsOneAdvice) {
  EXPECT_EQ(
      Advise({{kFile, {{"spark-1", "0123456789abcdef"}}}, {"master: br0", {{"spark-1", ""}}}}),
      "add {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: \"0123456789ab\"}} and {master: "
      "br0, nodes: [spark-1]} to adopt");
}

TEST(AdoptOffers, AnEntryThatIsThereIsExtendedByTheNode) {
  const Value entry =
      test::At(12, test::Map({{"file", test::Text("/etc/netplan/40-cx7.yaml")},
                              {"nodes", test::Map({{"spark-1", test::Text("111111111111")}})}}));
  EXPECT_EQ(Advise({{kFile, {{"spark-1", "333333333333"}, {"spark-2", "222222222222"}}}}, {entry}),
            "extend the entry on line 12 of adopt to {file: /etc/netplan/40-cx7.yaml, nodes: "
            "{spark-1: \"111111111111\", spark-2: \"222222222222\"}}");
  const Value master = test::At(13, test::Map({{"master", test::Text("br0")},
                                               {"nodes", test::List({test::Text("spark-1")})}}));
  EXPECT_EQ(Advise({{"master: br0", {{"spark-2", ""}}}}, {entry, master}),
            "extend the entry on line 13 of adopt to {master: br0, nodes: [spark-1, spark-2]}");
}

// The text there is another one by now, because lines were taken from it.
TEST(AdoptOffers, AnEntryThatIsThereIsExtendedByTheKeyWithTheDigestOfNow) {
  const auto entry = [](std::vector<Value> keys) {
    return test::At(12,
                    test::Map({{"lines", test::Text("/etc/sysctl.d/90-t.conf")},
                               {"match", test::List(std::move(keys))},
                               {"nodes", test::Map({{"spark-1", test::Text("111111111111")},
                                                    {"spark-2", test::Text("222222222222")}})}}));
  };
  const std::vector<AdoptOffer> offers = {{kLines, {{"spark-1", "333333333333"}}}};
  const std::string start =
      "extend the entry on line 12 of adopt to {lines: "
      "/etc/sysctl.d/90-t.conf, match: [a.b, c.d], nodes: {spark-1: \"";
  EXPECT_EQ(Advise(offers, {entry({test::Text("a.b")})}),
            start + "333333333333\", spark-2: \"222222222222\"}}");
  EXPECT_EQ(Advise(offers, {entry({test::Text("a.b"), test::Text("c.d")})}),
            start + "111111111111\", spark-2: \"222222222222\"}}");
}

}  // namespace
}  // namespace reconciler::plugins
