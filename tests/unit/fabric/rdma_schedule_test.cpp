#include "reconciler/fabric/rdma_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>

#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

std::vector<NodePair> ListPairs(const std::set<std::pair<int, int>>& edges) {
  std::vector<NodePair> pairs;
  for (const auto& [a, b] : edges) {
    pairs.push_back({.a = fmt::format("spark-{}", a), .b = fmt::format("spark-{}", b)});
  }
  return pairs;
}

std::set<std::pair<int, int>> Complete(int nodes) {
  std::set<std::pair<int, int>> edges;
  for (int a = 1; a <= nodes; ++a) {
    for (int b = a + 1; b <= nodes; ++b) edges.insert({a, b});
  }
  return edges;
}

// Every pair once, and no node twice in a round.
void ExpectRight(const std::vector<NodePair>& pairs) {
  std::multiset<std::string> wanted;
  std::multiset<std::string> found;
  for (const NodePair& pair : pairs) wanted.insert(pair.a + pair.b);
  for (const auto& round : Schedule(pairs)) {
    EXPECT_FALSE(round.empty());
    std::set<NodeName> busy;
    for (const NodePair& pair : round) {
      found.insert(pair.a + pair.b);
      EXPECT_TRUE(busy.insert(pair.a).second);
      EXPECT_TRUE(busy.insert(pair.b).second);
    }
  }
  EXPECT_EQ(found, wanted);
}

TEST(Schedule, AllNodesOfASwitchTakeOneRoundLessThanNodes) {
  for (int nodes = 2; nodes <= 16; nodes += 2) {
    const auto pairs = ListPairs(Complete(nodes));
    EXPECT_EQ(Schedule(pairs).size(), static_cast<std::size_t>(nodes - 1)) << nodes;
    ExpectRight(pairs);
  }
}

TEST(Schedule, AnOddNumberOfNodesTakesARoundPerNode) {
  for (int nodes = 3; nodes <= 9; nodes += 2) {
    EXPECT_EQ(Schedule(ListPairs(Complete(nodes))).size(), static_cast<std::size_t>(nodes))
        << nodes;
  }
}

TEST(Schedule, ARingTakesAtMostThreeRounds) {
  for (int nodes = 3; nodes <= 12; ++nodes) {
    std::set<std::pair<int, int>> edges;
    for (int a = 1; a <= nodes; ++a) edges.insert({a, a % nodes + 1});
    EXPECT_LE(Schedule(ListPairs(edges)).size(), 3u) << nodes;
    ExpectRight(ListPairs(edges));
  }
}

TEST(Schedule, AnyCablingIsMeasuredWholeAndNoNodeTwiceAtOnce) {
  std::mt19937 random(20260401);
  for (int round = 0; round < 200; ++round) {
    const int nodes = 2 + static_cast<int>(random() % 9);
    std::set<std::pair<int, int>> edges;
    for (const auto& edge : Complete(nodes)) {
      if (random() % 2 == 0) edges.insert(edge);
    }
    ExpectRight(ListPairs(edges));
    const std::size_t most = static_cast<std::size_t>(nodes % 2 == 0 ? nodes - 1 : nodes);
    EXPECT_LE(Schedule(ListPairs(edges)).size(), most);
  }
}

TEST(ListPairs, BothRailsOfACableAreOnePair) {
  Fabric fabric;
  for (int rail = 0; rail < 2; ++rail) {
    fabric.segments.push_back({.rail = rail,
                               .ports = {{.node = "spark-1", .rail = rail},
                                         {.node = "spark-2", .rail = rail},
                                         {.node = "spark-3", .rail = rail}}});
  }
  const auto pairs = reconciler::ListPairs({}, fabric);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].a, "spark-1");
  EXPECT_EQ(pairs[1].b, "spark-3");
  ASSERT_EQ(pairs[1].rails.size(), 2u);
  EXPECT_EQ(pairs[1].rails[1].first.node, "spark-1");
  EXPECT_EQ(pairs[1].rails[1].second.rail, 1);
}

struct Cabling {
  ClusterSpec cluster = {};
  Fabric fabric = {};
};

Cabling Example(const std::string& name) {
  std::ifstream file(test::SourceDir() + "/manifests/" + name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto cluster = LoadClusterSpec(text, name);
  if (!cluster) throw std::runtime_error(name);
  return {*cluster, *ExpandFabric(*cluster)};
}

TEST(ListPairs, EightNodesOnASwitchAreMeasuredInSevenRounds) {
  for (const char* name : {"switch-8.yaml", "leaf-spine-8.yaml"}) {
    const Cabling example = Example(name);
    const auto pairs = reconciler::ListPairs(example.cluster, example.fabric);
    EXPECT_EQ(pairs.size(), 28u) << name;
    EXPECT_EQ(Schedule(pairs).size(), 7u) << name;
    ExpectRight(pairs);
  }
}

TEST(ListPairs, ATooNarrowCableBetweenSwitchesIsUsedByOnePairAtATime) {
  Cabling example = Example("leaf-spine-8.yaml");
  std::erase_if(example.fabric.wires, [](const Wire& wire) {
    return wire.a.on_switch && wire.b.on_switch &&
           (wire.a.port == "qsfp56-dd-4-1" || wire.b.port == "qsfp56-dd-4-1");
  });
  for (Wire& wire : example.fabric.wires) {
    if (wire.a.on_switch && wire.b.on_switch) wire.gbps = 100;
  }
  const auto pairs = reconciler::ListPairs(example.cluster, example.fabric);
  ExpectRight(pairs);
  for (const auto& round : Schedule(pairs)) {
    EXPECT_LE(std::count_if(round.begin(), round.end(),
                            [](const NodePair& pair) { return pair.shares_uplink; }),
              1);
  }
  EXPECT_EQ(pairs.front().b, "spark-2");  // on the same leaf
  EXPECT_EQ(pairs.front().uplink_gbps, 0);
  EXPECT_FALSE(pairs.front().shares_uplink);
  const auto across = std::find_if(pairs.begin(), pairs.end(), [](const NodePair& pair) {
    return pair.a == "spark-1" && pair.b == "spark-8";
  });
  ASSERT_NE(across, pairs.end());
  EXPECT_NEAR(across->uplink_gbps, 98.0, 0.1);
}

}  // namespace
}  // namespace reconciler
