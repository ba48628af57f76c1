#include "reconciler/verify/diagnosis/pattern.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// All directions between `nodes` nodes on `rails` rails; bad: "1>2@0" each.
std::vector<Arrow> MakeArrows(int nodes, int rails, const std::set<std::string>& bad) {
  std::vector<Arrow> arrows;
  for (int from = 1; from <= nodes; ++from) {
    for (int to = 1; to <= nodes; ++to) {
      for (int rail = 0; from != to && rail < rails; ++rail) {
        arrows.push_back({.from = std::to_string(from),
                          .to = std::to_string(to),
                          .rail = rail,
                          .bad = bad.contains(fmt::format("{}>{}@{}", from, to, rail)),
                          .check = arrows.size()});
      }
    }
  }
  return arrows;
}

std::vector<std::string> Names(const std::vector<Pattern>& patterns) {
  constexpr std::string_view kNames[] = {"everywhere", "node", "pair", "into", "out-of", "one-way"};
  std::vector<std::string> texts;
  for (const Pattern& pattern : patterns) {
    std::string rails;
    for (const int rail : pattern.rails) rails += std::to_string(rail);
    texts.push_back(fmt::format("{} {} @{}", kNames[static_cast<int>(pattern.scope)],
                                Join(pattern.nodes, ","), rails));
  }
  return texts;
}

using testing::ElementsAre;

TEST(PathPatterns, NothingBadIsNoPattern) {
  EXPECT_THAT(FindPathPatterns(MakeArrows(3, 2, {})), testing::IsEmpty());
  EXPECT_THAT(FindPathPatterns({}), testing::IsEmpty());
}

TEST(PathPatterns, BothDirectionsAreAPairOverAllItsRails) {
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(3, 2, {"1>2@0", "2>1@0", "1>2@1", "2>1@1"}))),
              ElementsAre("pair 1,2 @01"));
}

TEST(PathPatterns, OneDirectionIsOneWay) {
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(3, 1, {"1>2@0"}))), ElementsAre("one-way 1,2 @0"));
}

TEST(PathPatterns, AllPairsOfANodeAreTheNode) {
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(3, 2, {"1>2@1", "2>1@1", "1>3@1", "3>1@1"}))),
              ElementsAre("node 1 @1"));
}

TEST(PathPatterns, TwoBrokenNodesAmongFourAreNotTheirPeersFault) {
  std::set<std::string> bad;
  for (const char* broken : {"1", "2"}) {
    for (const char* peer : {"1", "2", "3", "4"}) {
      bad.insert(fmt::format("{}>{}@0", broken, peer));
      bad.insert(fmt::format("{}>{}@0", peer, broken));
    }
  }
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(4, 1, bad))),
              ElementsAre("node 1 @0", "node 2 @0"));
}

TEST(PathPatterns, ARailOfTwoNodesHasNoSideToBlame) {
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(2, 2, {"1>2@0", "2>1@0"}))),
              ElementsAre("pair 1,2 @0"));
}

TEST(PathPatterns, AWholeRailIsTheRail) {
  EXPECT_THAT(Names(FindPathPatterns(
                  MakeArrows(3, 2, {"1>2@1", "2>1@1", "1>3@1", "3>1@1", "2>3@1", "3>2@1"}))),
              ElementsAre("everywhere 1,2,3 @1"));
}

TEST(PathPatterns, ADeafNodeIsInto) {
  EXPECT_THAT(Names(FindPathPatterns(MakeArrows(3, 1, {"1>3@0", "2>3@0"}))),
              ElementsAre("into 3 @0"));
}

TEST(LoginPatterns, RefusalsAreDirected) {
  EXPECT_THAT(Names(FindLoginPatterns(MakeArrows(3, 1, {"1>3@0", "2>3@0"}))),
              ElementsAre("into 3 @0"));
  EXPECT_THAT(Names(FindLoginPatterns(MakeArrows(3, 1, {"3>1@0", "3>2@0"}))),
              ElementsAre("out-of 3 @0"));
  EXPECT_THAT(Names(FindLoginPatterns(MakeArrows(3, 2, {"3>1@0", "3>1@1"}))),
              ElementsAre("one-way 3,1 @01"));
  EXPECT_THAT(Names(FindLoginPatterns(MakeArrows(2, 1, {"1>2@0", "2>1@0"}))),
              ElementsAre("everywhere 1,2 @0"));
}

TEST(Patterns, EveryBadArrowIsInExactlyOnePattern) {
  std::mt19937 random(20240611);  // any seed: the law holds for all
  for (int round = 0; round < 300; ++round) {
    std::vector<Arrow> arrows = MakeArrows(2 + round % 4, 1 + round % 3, {});
    std::multiset<std::size_t> bad;
    for (Arrow& arrow : arrows) {
      arrow.bad = random() % 100 < static_cast<unsigned>(20 + round % 80);
      if (arrow.bad) bad.insert(arrow.check);
    }
    for (const auto& patterns : {FindPathPatterns(arrows), FindLoginPatterns(arrows)}) {
      std::multiset<std::size_t> found;
      for (const Pattern& pattern : patterns) {
        found.insert(pattern.checks.begin(), pattern.checks.end());
      }
      ASSERT_EQ(found, bad) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace reconciler
