#include "reconciler/spark_verify/protocol/options.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

std::string OptionRefusal(const std::vector<std::string>& words) {
  const auto options = ParseWriteOptions(words);
  return options ? "" : options.error().message;
}

TEST(WriteOptions, EveryFlagArrives) {
  const auto options = ParseWriteOptions({"--rail", "rocep1s0f1=192.168.177.1",
                                          "--rail", "roceP2p1s0f1=192.168.178.1",
                                          "--send", "--size",
                                          "4096",   "--depth",
                                          "8",      "--qps",
                                          "2",      "--ms",
                                          "500",    "--warm-up",
                                          "0",      "--latency",
                                          "10",     "--deadline",
                                          "9000",   "--ack-timeout",
                                          "18"});
  ASSERT_TRUE(options);
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
  EXPECT_EQ(options->deadline_ms, 9000);
  EXPECT_EQ(options->ack_timeout, 18);
}

TEST(WriteOptions, WhatIsWrongIsSaid) {
  EXPECT_EQ(OptionRefusal({}), "wanted at least one --rail HCA=IPV4, found none");
  EXPECT_EQ(OptionRefusal({"--rail"}), "wanted a value after --rail");
  EXPECT_EQ(OptionRefusal({"--rail", "rocep1s0f1"}), "wanted --rail HCA=IPV4, found 'rocep1s0f1'");
  EXPECT_EQ(OptionRefusal({"--rail", "a=spark-1"}), "wanted --rail HCA=IPV4, found 'a=spark-1'");
  EXPECT_EQ(OptionRefusal({"--sned"}), "wanted a flag, found '--sned'");
  EXPECT_EQ(OptionRefusal({"--depth", "0"}), "wanted --depth from 1 to 1024, found '0'");
  EXPECT_EQ(OptionRefusal({"--size", "1MiB"}), "wanted --size from 1 to 67108864, found '1MiB'");
}

TEST(WriteOptions, MemoryThatAllRailsWouldPinIsBounded) {
  EXPECT_EQ(OptionRefusal({"--rail", "a=10.0.0.1", "--qps", "64", "--size", "67108864"}),
            "wanted rails × --qps × --size at most 536870912 bytes, found 4294967296");
}

}  // namespace
}  // namespace reconciler::spark_verify
