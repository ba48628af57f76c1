#include "reconciler/spark_verify/protocol/nccl_messages.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

NcclHello SparkHello() {
  return {.rank = 3,
          .pid = 4711,
          .host = "spark-4",
          .library = "/usr/lib/aarch64-linux-gnu/libnccl.so.2.28.9",
          .nccl_version = 22809,
          .cuda_driver = 13000,
          .gpu = "NVIDIA GB10",
          .pci = "000f:01:00.0",
          .compute = 121,
          .integrated = true,
          .gpu_direct_rdma = 0,
          .dma_buf = 0,
          .gpu_free = 100'000'000'000,
          .gpu_total = 128'000'000'000,
          .mem_available = 0xffff'ffff'ffff'ffffu,
          .swap_used = 4096,
          .max_bytes = 1u << 30,
          .busy_source = "nvml",
          .busy = {{.pid = 12, .name = "python3", .bytes = 5'000'000'000}},
          .env = {{"NCCL_IB_HCA", "=rocep1s0f1,roceP2p1s0f1"}}};
}

TEST(NcclMessages, HelloComesBackAsItWas) {
  const std::string line = FormatHello(SparkHello());
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto message = ParseNcclMessage(line);
  ASSERT_TRUE(message) << message.error().hint;
  EXPECT_EQ(message->event, NcclEvent::kHello);
  EXPECT_EQ(FormatHello(message->hello), line);
  EXPECT_EQ(message->hello.mem_available, 0xffff'ffff'ffff'ffffu);
}

TEST(NcclMessages, ResultComesBackAsItWas) {
  for (const Collective collective : kCollectives) {
    const NcclResult result{.collective = collective,
                            .bytes = 1u << 30,
                            .type = DataType::kBfloat16,
                            .in_place = true,
                            .iterations = 20,
                            .time_us = 43'816.25,
                            .p50_us = 43'800.5,
                            .p95_us = 44'000,
                            .wall_us = 43'900,
                            .algbw = 24.5,
                            .busbw = 24.5,
                            .wrong = 7,
                            .counters = {{"rocep1s0f1", {{"port_xmit_data", 5}}}}};
    const std::string line = FormatResult(result);
    const auto message = ParseNcclMessage(line);
    ASSERT_TRUE(message) << message.error().hint;
    EXPECT_EQ(message->event, NcclEvent::kResult);
    EXPECT_EQ(FormatResult(message->result), line);
  }
}

TEST(NcclMessages, FailureComesBackWithNcclsWords) {
  const NcclFailure failure{.code = "async",
                            .phase = "connect",
                            .call = "ncclAllReduce",
                            .result = 7,
                            .async = 6,
                            .last_error = "Connection closed by remote peer \"10.0.0.2\"\xff",
                            .text = "wanted x, found y",
                            .hint = "z"};
  const std::string line = FormatFailed(failure);
  const auto message = ParseNcclMessage(line);
  ASSERT_TRUE(message) << message.error().hint;
  EXPECT_EQ(FormatFailed(message->failure), line);
  EXPECT_EQ(message->failure.async, 6);
  EXPECT_EQ(message->failure.text, "wanted x, found y");
}

TEST(NcclMessages, TheOthersComeBack) {
  EXPECT_EQ(ParseNcclMessage(FormatUniqueId("3a30"))->unique_id, "3a30");
  EXPECT_EQ(ParseNcclMessage(FormatInitDone(0.5))->seconds, 0.5);
  EXPECT_EQ(ParseNcclMessage(FormatNcclConnected(0.25))->event, NcclEvent::kConnected);
  EXPECT_EQ(ParseNcclMessage(FormatAborted(1))->event, NcclEvent::kAborted);
  EXPECT_EQ(ParseNcclMessage(FormatLog("NCCL INFO Using network IB"))->log,
            "NCCL INFO Using network IB");
  EXPECT_EQ(ParseNcclMessage(FormatNcclEnd({{"mlx5_0", {{"out_of_sequence", 9}}}}))
                ->counters.at("mlx5_0")
                .at("out_of_sequence"),
            9u);
}

TEST(NcclMessages, OrdersComeBack) {
  const auto id = ParseNcclOrder(FormatIdOrder("3a30"));
  ASSERT_TRUE(id);
  EXPECT_EQ(id->command, NcclCommand::kId);
  EXPECT_EQ(id->unique_id, "3a30");
  EXPECT_EQ(ParseNcclOrder(FormatGoOrder())->command, NcclCommand::kGo);
  EXPECT_EQ(ParseNcclOrder(FormatAbortOrder())->command, NcclCommand::kAbort);
}

TEST(NcclMessages, AnythingElseIsRefusedWithItsWords) {
  for (const std::string line : {"", "[]", "{}", R"({"event":"ready"})", R"({"event":"hello"})",
                                 R"({"event":"result","collective":"broadcast"})"}) {
    const auto message = ParseNcclMessage(line);
    ASSERT_FALSE(message) << line;
    EXPECT_EQ(message.error().message, "wanted one of spark-verify's lines, found '" + line + "'");
  }
  for (const std::string line : {"", "{}", R"({"command":"stop"})", R"({"command":"id"})"}) {
    const auto order = ParseNcclOrder(line);
    ASSERT_FALSE(order) << line;
    EXPECT_EQ(order.error().message, "wanted an order, found '" + line + "'");
  }
}

TEST(NcclMessages, ANumberThatNoIntegerCanHoldIsRefused) {
  const std::string before = R"({"event":"end","counters":{"hca":{"port_rcv_data":)";
  EXPECT_TRUE(ParseNcclMessage(before + "5}}}"));
  for (const char* number : {"55555555555555555555555555551342177280", "5.6e37", "-5.6e37"}) {
    const auto message = ParseNcclMessage(before + number + "}}}");
    ASSERT_FALSE(message) << number;
    EXPECT_EQ(message.error().hint, "a number is out of range");
  }
}

}  // namespace
}  // namespace reconciler::spark_verify
