#include "reconciler/verify/pairs/at_fault.h"

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

TEST(FindNodesAtFault, IsTheOneThatMakesEveryPairBad) {
  EXPECT_THAT(FindNodesAtFault(Pairs("abc", {"ac", "bc"})), ElementsAre("c"));
  EXPECT_THAT(FindNodesAtFault(Pairs("abcd", {"ab", "bc", "bd"})), ElementsAre("b"));
  EXPECT_THAT(FindNodesAtFault(Pairs("abcdefgh", {"ab", "ac", "ad", "ae", "af", "ag", "ah"})),
              ElementsAre("a"));
}

TEST(FindNodesAtFault, APairThatCouldNotBeMeasuredSpeaksForNoOne) {
  std::vector<PairVerdict> pairs = Pairs("abcd", {"ac", "bc"});
  pairs.back() = {.a = "c", .b = "d", .measured = false};
  EXPECT_THAT(FindNodesAtFault(pairs), ElementsAre("c"));
  pairs = Pairs("abc", {"ab"});
  pairs.back().measured = pairs[1].measured = false;
  EXPECT_THAT(FindNodesAtFault(pairs), IsEmpty());
}

TEST(FindNodesAtFault, AMajorityIsEnough) {
  EXPECT_THAT(FindNodesAtFault(Pairs("abcde", {"ab", "ac", "ad"})), ElementsAre("a"));
  EXPECT_THAT(FindNodesAtFault(Pairs("abcde", {"ab", "ac"})), IsEmpty());
}

TEST(FindNodesAtFault, TwoBadNodesAreBothNamed) {
  EXPECT_THAT(FindNodesAtFault(Pairs("abcde", {"ab", "ac", "ad", "ae", "bc", "bd", "be"})),
              ElementsAre("a", "b"));
}

TEST(FindNodesAtFault, OneBadPairAccusesItsCableAndNoNode) {
  EXPECT_THAT(FindNodesAtFault(Pairs("abc", {"ab"})), IsEmpty());
  EXPECT_THAT(FindNodesAtFault(Pairs("abcd", {"ab"})), IsEmpty());
}

TEST(FindNodesAtFault, WhatAllShareAccusesNoOne) {
  EXPECT_THAT(FindNodesAtFault(Pairs("abc", {"ab", "ac", "bc"})), IsEmpty());
  EXPECT_THAT(FindNodesAtFault(Pairs("ab", {"ab"})), IsEmpty());
  EXPECT_THAT(FindNodesAtFault(Pairs("abc", {})), IsEmpty());
  EXPECT_THAT(FindNodesAtFault({}), IsEmpty());
}

}  // namespace
}  // namespace reconciler
