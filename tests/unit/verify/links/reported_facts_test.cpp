#include "reconciler/verify/links/reported_facts.h"

#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

TEST(ListReportedFacts, HoldsVersionsAndTheSettingsOfTheFabricsPorts) {
  Sample sample = OnSwitch(2);
  NodeFacts& node = sample.facts.nodes.at("spark-1");
  node.host = HostFact{.kernel = "6.11.0-1016-nvidia\n", .os = "Ubuntu 24.04", .product = "GB10"};
  node.hcas["rocep1s0f1"].firmware = "28.45.4028";
  node.gpudirect.driver = NvidiaDriver{.version = "580.95.05"};
  node.nccl.library = NcclLibrary{.version = "2.28.9"};
  node.links["enP7s7"] = {.mtu = 1500};
  sample.Link(1, 1).speed_mbps = -1;
  const auto facts = ListReportedFacts(sample.fabric, sample.facts);
  EXPECT_EQ(facts.at("spark-1"), (ReportedFacts{{"NVIDIA driver", "580.95.05"},
                                                {"firmware of rocep1s0f1", "28.45.4028"},
                                                {"kernel", "6.11.0-1016-nvidia\\x0a"},
                                                {"libnccl", "2.28.9"},
                                                {"mtu of enP2p1s0f1np1", "9000"},
                                                {"mtu of enp1s0f1np1", "9000"},
                                                {"operating system", "Ubuntu 24.04"},
                                                {"product", "GB10"},
                                                {"rate of enp1s0f1np1", "200 Gb/s"}}));
}

TEST(ListReportedFacts, WhatCouldNotBeReadIsLeftOut) {
  Sample sample = OnSwitch(2);
  sample.Lose(2);
  sample.facts.nodes.at("spark-1") = {.node = "spark-1"};
  EXPECT_TRUE(ListReportedFacts(sample.fabric, sample.facts).empty());
}

}  // namespace
}  // namespace reconciler
