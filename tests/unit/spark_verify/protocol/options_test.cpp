#include "reconciler/spark_verify/protocol/options.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

std::string OptionRefusal(std::string_view text) {
  const auto options = ParseWriteOptions(text);
  return options ? "" : options.error().message;
}

TEST(WriteOptions, EveryFieldSurvivesTheJsonLine) {
  const WriteOptions wanted{
      .rails = {{"rocep1s0f1", "192.168.177.1"}, {"roceP2p1s0f1", "192.168.178.1"}},
      .send = true,
      .size = 4096,
      .depth = 8,
      .queue_pairs = 2,
      .milliseconds = 500,
      .warm_up_ms = 0,
      .latency = 10,
      .ack_timeout = 18,
      .limit_ms = 9000};
  const std::string text = FormatWriteOptions(wanted);
  const auto options = ParseWriteOptions(text);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(FormatWriteOptions(*options), text);
  ASSERT_EQ(options->rails.size(), 2u);
  EXPECT_EQ(options->rails[1].hca, "roceP2p1s0f1");
  EXPECT_EQ(options->rails[1].ipv4, "192.168.178.1");
  EXPECT_TRUE(options->send);
  EXPECT_EQ(options->size, 4096u);
  EXPECT_EQ(options->depth, 8u);
  EXPECT_EQ(options->queue_pairs, 2u);
  EXPECT_EQ(options->milliseconds, 500);
  EXPECT_EQ(options->warm_up_ms, 0);
  EXPECT_EQ(options->latency, 10u);
  EXPECT_EQ(options->limit_ms, 9000);
  EXPECT_EQ(options->ack_timeout, 18);
}

TEST(WriteOptions, WhatIsWrongIsSaid) {
  EXPECT_EQ(OptionRefusal("{}"), "wanted rails, found none");
  EXPECT_EQ(OptionRefusal("--send"), "wanted one JSON object of options, found '--send'");
  EXPECT_EQ(OptionRefusal("[1]"), "wanted one JSON object of options, found '[1]'");
  EXPECT_EQ(OptionRefusal(R"({"sned": true})"), "unknown option 'sned'");
  EXPECT_EQ(OptionRefusal(R"({"send": 1})"), "wanted send true or false, found 1");
  EXPECT_EQ(OptionRefusal(R"({"depth": 0})"), "wanted depth from 1 to 1024, found 0");
  EXPECT_EQ(OptionRefusal(R"({"depth": -1})"), "wanted depth from 1 to 1024, found -1");
  EXPECT_EQ(OptionRefusal(R"({"size": "1MiB"})"), "wanted size from 1 to 67108864, found \"1MiB\"");
}

TEST(WriteOptions, ARailHasADeviceAndAnAddress) {
  const std::string wanted = R"(wanted rails as [{"hca": HCA, "ipv4": ADDRESS}, ...], found )";
  EXPECT_EQ(OptionRefusal(R"({"rails": "a"})"), wanted + R"("a")");
  EXPECT_EQ(OptionRefusal(R"({"rails": [{"hca": "a"}]})"), wanted + R"([{"hca":"a"}])");
  EXPECT_EQ(OptionRefusal(R"({"rails": [{"hca": "a", "ipv4": "spark-1"}]})"),
            wanted + R"([{"hca":"a","ipv4":"spark-1"}])");
}

TEST(WriteOptions, MemoryThatAllRailsWouldPinIsBounded) {
  EXPECT_EQ(OptionRefusal(R"({"rails": [{"hca": "a", "ipv4": "10.0.0.1"}], "queue_pairs": 64,
                              "size": 67108864})"),
            "wanted rails × queue_pairs × size at most 536870912 bytes, found 4294967296");
}

}  // namespace
}  // namespace reconciler::spark_verify
