#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

Result<ScriptReply> RunOn(FakeNode node, Milliseconds limit = Milliseconds(5000),
                          std::size_t max_output = 16u << 20) {
  FakeNetwork network({{"spark-1", std::move(node)}});
  const auto transport = network.Dialer()(NodeSpec{.name = "spark-1"});
  return RunScript(**transport, "script", limit, max_output);
}

FakeNode Answering(const ScriptReply& reply) {
  return {.shell = [reply](const std::string&) { return reply; }};
}

TEST(RunScript, NonZeroExitCodeIsAReply) {
  const auto reply = RunOn(Answering({.exit_code = 3, .out = "o", .err = "e"}));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->exit_code, 3);
  EXPECT_EQ(reply->out, "o");
  EXPECT_EQ(reply->err, "e");
}

TEST(RunScript, OutputInManyPiecesIsWhole) {
  FakeNode node =
      Answering({.out = std::string(10000, 'a') + std::string(5, '\0') + "z", .err = "err"});
  node.chunk = 7;
  const auto reply = RunOn(node);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out, std::string(10000, 'a') + std::string(5, '\0') + "z");
  EXPECT_EQ(reply->err, "err");
}

TEST(RunScript, OutputOfExactlyTheLimitIsAReply) {
  const auto reply = RunOn(Answering({.out = "12345", .err = "678"}), Milliseconds(5000), 8);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out, "12345");
}

TEST(RunScript, OneByteMoreThanTheLimitIsAnError) {
  const auto reply = RunOn(Answering({.out = "12345", .err = "678"}), Milliseconds(5000), 7);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kTransport);
  EXPECT_EQ(FormatError(reply.error()),
            "more than 7 bytes of output arrived; the rest was not read\n");
}

TEST(RunScript, FloodStopsAtTheLimitInMebibytes) {
  FakeNode node = Answering({});
  node.flood = (2u << 20) + 1;
  const auto reply = RunOn(node, Milliseconds(5000), 2u << 20);
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            "more than 2 MiB of output arrived; the rest was not read\n");
}

TEST(RunScript, PassedLimitSaysHowLongItWas) {
  FakeNode node = Answering({.out = "late"});
  node.latency = Milliseconds(60000);
  // The fake reports a passed limit at once; the hint is for limits that really passed.
  const auto reply = RunOn(node, Milliseconds(0));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kTransport);
  EXPECT_EQ(FormatError(reply.error()),
            "spark-1: the time limit passed\n  hint: the limit was 0 s\n");
}

TEST(RunScript, LostConnectionIsAnErrorAndNoShortReply) {
  FakeNode node = Answering({.out = "0123456789"});
  for (const std::size_t bytes : {0u, 1u, 9u, 10u}) {
    node.drop_after = bytes;
    const auto reply = RunOn(node);
    ASSERT_FALSE(reply) << bytes;
    EXPECT_EQ(FormatError(reply.error()), "spark-1: the connection was lost\n");
  }
}

}  // namespace
}  // namespace reconciler
