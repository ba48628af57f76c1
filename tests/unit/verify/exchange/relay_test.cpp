#include "reconciler/verify/exchange/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using namespace spark_verify;
using testing::ElementsAre;

// An end that says prepared lines, in pieces of any size, and keeps what it receives.
class ScriptedChannel : public Channel {
 public:
  ScriptedChannel(std::string says, std::vector<std::string>& heard, int exit_code,
                  std::string errors)
      : says_(std::move(says)), heard_(heard), exit_code_(exit_code), errors_(std::move(errors)) {}

  Result<void> Write(std::string_view bytes, Deadline) override {
    heard_.emplace_back(bytes);
    return {};
  }
  Result<void> CloseInput() override { return {}; }
  Result<Output> Read(Deadline) override {
    // Bytes: splits every line, and is not for ever about a long one.
    const std::size_t piece = said_ < 10'000 ? 50 : 1u << 16;
    Output output{.out = says_.substr(said_, piece)};
    said_ = std::min(said_ + piece, says_.size());
    if (said_ == says_.size()) {
      output.exit_code = exit_code_;
      output.err = errors_;
    }
    return output;
  }

 private:
  std::string says_;
  std::size_t said_ = 0;
  std::vector<std::string>& heard_;
  int exit_code_;
  std::string errors_;
};

// A program that never stops writing; its output is always there before a limit passes.
class FloodingChannel : public Channel {
 public:
  explicit FloodingChannel(Output says) : says_(std::move(says)) {}
  Result<void> Write(std::string_view, Deadline) override { return {}; }
  Result<void> CloseInput() override { return {}; }
  Result<Output> Read(Deadline) override { return says_; }

 private:
  Output says_;
};

LineChannel StartFlood(Channel::Output says) {
  return *LineChannel::Start(std::make_unique<FloodingChannel>(std::move(says)), {"x"},
                             Deadline::max());
}

TEST(LineChannel, AFloodOnStderrDoesNotKeepADeadlineFromPassing) {
  LineChannel channel = StartFlood({.err = "noise\n"});
  const auto line = channel.ReadLine(std::chrono::steady_clock::now() + Milliseconds(20));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message,
            "wanted a line of spark-verify, found none within the time limit");
  const auto none = channel.NextLine(std::chrono::steady_clock::now() + Milliseconds(20));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(LineChannel, AFloodOfLinesIsNotReadBeyondTheTimeGivenForAnEnd) {
  LineChannel channel = StartFlood({.out = "noise\nnoise\n"});
  const auto began = std::chrono::steady_clock::now();
  channel.ReadToEnd(began + Milliseconds(20));
  EXPECT_GE(std::chrono::steady_clock::now(), began + Milliseconds(20));
}

constexpr Deadline kNever = Deadline::max();

struct End {
  std::vector<std::string> heard = {};
  LineChannel channel;
  explicit End(std::string says, int exit_code = 0, std::string errors = {})
      : channel(*LineChannel::Start(
            std::make_unique<ScriptedChannel>(std::move(says), heard, exit_code, std::move(errors)),
            {"/bin/spark verify", "write"}, kNever)) {}
};

std::string FormatReadyLine(const std::string& hca) {
  return FormatReady({.rails = {{.hca = hca, .active_mtu = 4096}}, .size = 65536});
}

std::string Rest(std::uint64_t bytes) {
  return FormatConnected() + FormatSent({{.hca = "a", .bytes = bytes, .seconds = 1}}) +
         FormatChecked(65536) + FormatEnd({});
}

TEST(Relay, CarriesEachLineToTheOtherEndAndKeepsWhatBothReport) {
  End first(FormatReadyLine("rocep1s0f1") + Rest(125'000'000));
  End second(FormatReadyLine("roceP2p1s0f1") + Rest(0));
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  EXPECT_FALSE(result.run_error);
  EXPECT_EQ(result.ends[0].ready.rails.at(0).hca, "rocep1s0f1");
  EXPECT_DOUBLE_EQ(result.ends[0].sent.at(0).Gbps(), 1);
  EXPECT_EQ(result.ends[1].checked_bytes, 65536u);
  EXPECT_THAT(first.heard,
              ElementsAre("'/bin/spark verify' 'write'; exit $?\n", FormatReadyLine("roceP2p1s0f1"),
                          FormatConnected(), FormatSent({{.hca = "a", .seconds = 1}}),
                          FormatChecked(65536)));
}

TEST(Relay, TheFirstErrorEndsBothAndIsKeptWithItsEnd) {
  const std::string error =
      FormatErrorLine({.code = "open", .hca = "rocep1s0f1", .text = "wanted a GID", .hint = "h"});
  End first(FormatReadyLine("rocep1s0f1"));
  End second(error, 1);
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.failed_end, 1);
  EXPECT_EQ(result.run_error->text, "wanted a GID");
  EXPECT_EQ(first.heard.back(), error);
}

TEST(Relay, AnEndThatDiesIsAnErrorWithItsLastLines) {
  End first("", 126, "cannot execute\n");
  End second(FormatReadyLine("rocep1s0f1"));
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.failed_end, 0);
  EXPECT_EQ(result.run_error->code, "protocol");
  EXPECT_EQ(result.run_error->text,
            "wanted a line of spark-verify, found it ended with status 126");
  EXPECT_EQ(result.run_error->hint, "cannot execute");
}

TEST(Relay, AnEndThatDiedIsBlamedForWhatTheOtherFelt) {
  const std::string felt = FormatErrorLine({.code = "transfer",
                                            .hca = "rocep1s0f1",
                                            .text = "found 'transport retry counter exceeded'"});
  End first(FormatReadyLine("rocep1s0f1") + FormatConnected() + felt, 1);
  End second(FormatReadyLine("roceP2p1s0f1") + FormatConnected(), 137, "Killed\n");
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.failed_end, 1);
  EXPECT_EQ(result.run_error->text,
            "wanted a line of spark-verify, found it ended with status 137");
}

TEST(Relay, TwoEndsThatOnlyFeltItLeaveTheFirstOnesWords) {
  const std::string felt =
      FormatErrorLine({.code = "transfer", .hca = "a", .text = "found 'retry counter exceeded'"});
  End first(FormatReadyLine("a") + FormatConnected() + felt, 1);
  End second(FormatReadyLine("b") + FormatConnected() +
                 FormatErrorLine({.code = "deadline", .text = "late"}),
             1);
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.failed_end, 0);
}

TEST(Relay, AWordOutOfTurnIsRefused) {
  End first(FormatConnected());
  End second(FormatReadyLine("rocep1s0f1"));
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.run_error->text, "wanted the line 'ready' of spark-verify, found 'connected'");
}

TEST(Relay, DataThatWasNotComparedIsNoPass) {
  const auto ready = [](bool send) {
    return FormatReady({.rails = {{.hca = "a", .queue_pairs = {{.number = 1}, {.number = 2}}}},
                        .size = 65536,
                        .send = send});
  };
  End first(ready(true) + Rest(125'000'000));
  End second(ready(false) + Rest(0));
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.failed_end, 1);
  EXPECT_EQ(result.run_error->code, "protocol");
  EXPECT_EQ(result.run_error->text, "wanted 131072 bytes compared by spark-verify, found 65536");
}

TEST(Relay, ALineWithoutAnEndIsNotKeptForEver) {
  End first(std::string(5u << 20, 'x'));
  End second(FormatReadyLine("rocep1s0f1"));
  const RelayResult result = Relay(first.channel, second.channel, kNever);
  ASSERT_TRUE(result.run_error);
  EXPECT_EQ(result.run_error->text,
            "wanted a line of spark-verify, found more than 4194304 bytes without an end");
}

}  // namespace
}  // namespace reconciler
