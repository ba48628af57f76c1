#include "reconciler/cabling/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CablingViewTest, LinesBecomePortsWithWhomTheyHeard) {
  CablingView view;
  ReadLines(
      "host spark-1\nbridge 06:25:A9:8D:86:66\nbridge \n"
      "port enp1s0f0np0 down 02:53:50:00:01:02\nport enp9 missing \n"
      "port enp1s0f1np1 link 02:53:50:00:01:04\nown enp1s0f1np1 fe80::1\n",
      view);
  ReadLines(
      "heard enp1s0f1np1 fe80::2\nheard enp1s0f1np1 fe80::3\n"
      "neighbour enp1s0f1np1 fe80::2 02:53:50:00:02:04\n",
      view);
  EXPECT_EQ(view.hostname, "spark-1");
  EXPECT_THAT(view.bridges, ElementsAre("06:25:a9:8d:86:66"));
  EXPECT_EQ(view.ports["enp1s0f0np0"].state, PortState::kDown);
  EXPECT_EQ(view.ports["enp9"].state, PortState::kMissing);
  const PortView& port = view.ports["enp1s0f1np1"];
  EXPECT_EQ(port.state, PortState::kLink);
  EXPECT_EQ(port.mac, "02:53:50:00:01:04");
  EXPECT_THAT(port.addresses, ElementsAre("fe80::1"));
  EXPECT_THAT(port.heard, ElementsAre(Pair("fe80::2", "02:53:50:00:02:04"), Pair("fe80::3", "")));
}

TEST(CablingViewTest, AnOldNeighbourThatDidNotAnswerIsNoOne) {
  CablingView view;
  ReadLines("neighbour enp1s0f1np1 fe80::2 02:53:50:00:02:04\n", view);
  EXPECT_THAT(view.ports, IsEmpty());
}

TEST(CablingViewTest, OtherLinesAreLeftOut) {
  CablingView view;
  ReadLines("\nheard\nwelcome to spark-1, the box\nport enp1s0f1np1\n", view);
  EXPECT_THAT(view.ports, IsEmpty());
  EXPECT_EQ(view.hostname, "");
}

}  // namespace
}  // namespace reconciler
