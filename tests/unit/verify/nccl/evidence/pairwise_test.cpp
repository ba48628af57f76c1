#include "reconciler/verify/nccl/evidence/pairwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Every two of the nodes; those with a letter in `bad` are bad, such as "ac".
std::vector<PairVerdict> Pairs(std::string_view nodes, const std::vector<std::string>& bad) {
  std::vector<PairVerdict> pairs;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t k = i + 1; k < nodes.size(); ++k) {
      const std::string name = {nodes[i], nodes[k]};
      pairs.push_back(
          {{nodes[i]}, {nodes[k]}, std::find(bad.begin(), bad.end(), name) == bad.end()});
    }
  }
  return pairs;
}

TEST(NodesAtFault, IsTheOneThatMakesEveryPairBad) {
  EXPECT_THAT(NodesAtFault(Pairs("abc", {"ac", "bc"})), ElementsAre("c"));
  EXPECT_THAT(NodesAtFault(Pairs("abcd", {"ab", "bc", "bd"})), ElementsAre("b"));
  EXPECT_THAT(NodesAtFault(Pairs("abcdefgh", {"ab", "ac", "ad", "ae", "af", "ag", "ah"})),
              ElementsAre("a"));
}

TEST(NodesAtFault, APairThatCouldNotBeMeasuredSpeaksForNobody) {
  std::vector<PairVerdict> pairs = Pairs("abcd", {"ac", "bc"});
  pairs.back() = {.a = "c", .b = "d", .told = false};
  EXPECT_THAT(NodesAtFault(pairs), ElementsAre("c"));
  pairs = Pairs("abc", {"ab"});
  pairs.back().told = pairs[1].told = false;
  EXPECT_THAT(NodesAtFault(pairs), IsEmpty());
}

TEST(NodesAtFault, AMajorityIsEnough) {
  EXPECT_THAT(NodesAtFault(Pairs("abcde", {"ab", "ac", "ad"})), ElementsAre("a"));
  EXPECT_THAT(NodesAtFault(Pairs("abcde", {"ab", "ac"})), IsEmpty());
}

TEST(NodesAtFault, TwoBadNodesAreBothNamed) {
  EXPECT_THAT(NodesAtFault(Pairs("abcde", {"ab", "ac", "ad", "ae", "bc", "bd", "be"})),
              ElementsAre("a", "b"));
}

TEST(NodesAtFault, OneBadPairAccusesItsCableAndNoNode) {
  EXPECT_THAT(NodesAtFault(Pairs("abc", {"ab"})), IsEmpty());
  EXPECT_THAT(NodesAtFault(Pairs("abcd", {"ab"})), IsEmpty());
}

TEST(NodesAtFault, WhatAllShareAccusesNobody) {
  EXPECT_THAT(NodesAtFault(Pairs("abc", {"ab", "ac", "bc"})), IsEmpty());
  EXPECT_THAT(NodesAtFault(Pairs("ab", {"ab"})), IsEmpty());
  EXPECT_THAT(NodesAtFault(Pairs("abc", {})), IsEmpty());
  EXPECT_THAT(NodesAtFault({}), IsEmpty());
}

}  // namespace
}  // namespace reconciler
