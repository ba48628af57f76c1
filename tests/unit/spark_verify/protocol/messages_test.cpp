#include "reconciler/spark_verify/protocol/messages.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

TEST(Messages, ReadyComesBackAsItWas) {
  const Ready ready{.rails = {{.hca = "rocep1s0f1",
                               .ipv4 = "192.168.177.1",
                               .gid = *ParseGid("::ffff:192.168.177.1"),
                               .gid_index = 3,
                               .active_mtu = 4096,
                               .address = 0xffff'ffff'ffff'f000u,
                               .mailbox = 0x7f00'0000'0008u,
                               .key = 0xffffffffu,
                               .limits = {true, 200000, 4, 16, 32.0},
                               .queue_pairs = {{17, 0xffffff}, {18, 0}}}},
                    .size = 1048576,
                    .latency = 100,
                    .send = true};
  const std::string line = FormatReady(ready);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto message = ParseMessage(line);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->event, Event::kReady);
  EXPECT_EQ(FormatReady(message->ready), line);
}

TEST(Messages, SentReportsGbpsOfTheBytesAndTheTime) {
  const RailSent rail{.hca = "rocep1s0f1",
                      .bytes = 2'500'000'000,
                      .total_bytes = 3'000'000'000,
                      .seconds = 2,
                      .path_mtu = 4096};
  EXPECT_DOUBLE_EQ(rail.Gbps(), 10);
  EXPECT_EQ(RailSent{}.Gbps(), 0);
  const auto message = ParseMessage(FormatSent({rail}));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sent.at(0).bytes, rail.bytes);
  EXPECT_EQ(message->sent.at(0).total_bytes, rail.total_bytes);
  EXPECT_EQ(message->sent.at(0).path_mtu, 4096);
}

TEST(Messages, CountersAndErrorComeBack) {
  const auto end = ParseMessage(FormatEnd({{"rocep1s0f1", {{"sent_pkts", 1574}}}}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->counters.at("rocep1s0f1").at("sent_pkts"), 1574u);
  const auto error = ParseMessage(
      FormatErrorLine({.code = "open", .hca = "mlx5_0", .text = "wanted \"x\"", .hint = "y"}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->event, Event::kError);
  EXPECT_EQ(error->run_error.text, "wanted \"x\"");
  EXPECT_EQ(ParseMessage(FormatChecked(7))->checked_bytes, 7u);
  EXPECT_EQ(ParseMessage(FormatConnected())->event, Event::kConnected);
}

TEST(Messages, AnythingElseIsRefusedWithItsWords) {
  for (const std::string line : {"", "[]", "{}", R"({"event":"boom"})", R"({"event":"ready"})",
                                 R"({"event":"sent","rails":[{"hca":1}]})", "Last login: today"}) {
    const auto message = ParseMessage(line);
    ASSERT_FALSE(message) << line;
    EXPECT_EQ(message.error().message, "wanted one of spark-verify's lines, found '" + line + "'");
  }
}

}  // namespace
}  // namespace reconciler::spark_verify
