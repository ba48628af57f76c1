#include "reconciler/verify/links/run/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeProbes MakeProbes() {
  return {.from = "spark-1",
          .pings = {{.to = "spark-2",
                     .rail = 1,
                     .netdev = "enp1s0f1np1",
                     .address = "192.168.178.2",
                     .mac = "4c:bb:47:00:00:02",
                     .mtu = 9000}},
          .ports_by_mac = {{"4c:bb:47:00:00:03", {"spark-2", "enP2p1s0f1np1"}},
                           {"4c:bb:47:00:00:04", {"spark-3", "enp1s0f1np1"}}}};
}

std::vector<std::string> Judge(std::string_view text, const NodeProbes& probes = MakeProbes()) {
  std::vector<std::string> found;
  for (const Check& check : JudgeNeighbours(probes, text)) {
    EXPECT_EQ(check.level, VerifyLevel::kPing);
    EXPECT_EQ(check.rail, 1);
    found.push_back(fmt::format("{} {}: {}: {}", ToString(check.symptom), ToString(check.outcome),
                                check.expected, check.measured));
  }
  return found;
}

TEST(JudgeNeighbours, ThePeersOwnPortIsWell) {
  EXPECT_THAT(Judge("192.168.178.2 dev enp1s0f1np1 lladdr 4C:BB:47:00:00:02 REACHABLE\n"
                    "192.168.1.1 dev enP7s7 lladdr 4c:bb:47:00:00:09 REACHABLE\n"),
              IsEmpty());
}

constexpr const char* kWanted =
    "the port of spark-2 answers for 192.168.178.2 (4c:bb:47:00:00:02): ";

TEST(JudgeNeighbours, AnotherPortOfThePeerIsAWarning) {
  EXPECT_THAT(Judge("192.168.178.2 dev enp1s0f1np1 lladdr 4c:bb:47:00:00:03 DELAY"),
              ElementsAre(std::string("neighbour-other-port warn: ") + kWanted +
                          "4c:bb:47:00:00:03 answers, which is enP2p1s0f1np1 of spark-2"));
}

TEST(JudgeNeighbours, APortOfAnotherNodeOrOfNoNodeIsNamed) {
  EXPECT_THAT(Judge("192.168.178.2 dev enp1s0f1np1 lladdr 4c:bb:47:00:00:04 REACHABLE"),
              ElementsAre(std::string("neighbour-wrong fail: ") + kWanted +
                          "4c:bb:47:00:00:04 answers, which is enp1s0f1np1 of spark-3"));
  EXPECT_THAT(Judge("192.168.178.2 dev enp1s0f1np1 lladdr 02:00:00:00:00:09 REACHABLE"),
              ElementsAre(std::string("neighbour-wrong fail: ") + kWanted +
                          "02:00:00:00:00:09 answers, which is no port of these nodes"));
}

TEST(JudgeNeighbours, WhatIsNotConfirmedOrNotKnownProvesNothing) {
  for (const char* line : {"192.168.178.2 dev enp1s0f1np1 lladdr 02:00:00:00:00:09 STALE",
                           "192.168.178.2 dev enp1s0f1np1 FAILED",
                           "192.168.178.2 dev enp1s0f0np0 lladdr 02:00:00:00:00:09 REACHABLE",
                           "dev", "lladdr x", ""}) {
    EXPECT_THAT(Judge(line), IsEmpty()) << line;
  }
  NodeProbes probes = MakeProbes();
  probes.pings[0].mac.clear();
  EXPECT_THAT(Judge("192.168.178.2 dev enp1s0f1np1 lladdr 02:00:00:00:00:09 REACHABLE", probes),
              IsEmpty());
}

}  // namespace
}  // namespace reconciler
