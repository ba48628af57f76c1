#include "reconciler/spark_verify/protocol/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <optional>

#include "reconciler/base/number.h"
#include "reconciler/spark_verify/protocol/usage_error.h"

namespace reconciler::spark_verify {
namespace {

Result<RailOption> ParseRail(const std::string& text) {
  const std::size_t at = text.find('=');
  RailOption rail{.hca = text.substr(0, at),
                  .ipv4 = at == std::string::npos ? "" : text.substr(at + 1)};
  in_addr address = {};
  if (rail.hca.empty() || inet_pton(AF_INET, rail.ipv4.c_str(), &address) != 1) {
    return MakeUsageError(fmt::format("wanted --rail HCA=IPV4, found '{}'", text));
  }
  return rail;
}

struct Number {
  std::string_view flag;
  std::uint64_t low;
  std::uint64_t high;
};

// The upper bounds keep a slip from pinning all of a unified memory.
constexpr Number kNumbers[] = {
    {"--size", 1, 64u << 20},     {"--depth", 1, 1024},      {"--qps", 1, 64},
    {"--ms", 1, 600'000},         {"--warm-up", 0, 600'000}, {"--latency", 0, 1'000'000},
    {"--deadline", 1, 3'600'000}, {"--ack-timeout", 8, 22}};

Result<std::uint64_t> ParseInRange(const Number& number, const std::string& text) {
  const auto value = ParseNumber<std::uint64_t>(text);
  if (!value || *value < number.low || *value > number.high) {
    return MakeUsageError(fmt::format("wanted {} from {} to {}, found '{}'", number.flag,
                                      number.low, number.high, text));
  }
  return *value;
}

void Set(WriteOptions& options, std::string_view flag, std::uint64_t value) {
  if (flag == "--size") options.size = value;
  if (flag == "--depth") options.depth = value;
  if (flag == "--qps") options.queue_pairs = value;
  if (flag == "--ms") options.milliseconds = static_cast<int>(value);
  if (flag == "--warm-up") options.warm_up_ms = static_cast<int>(value);
  if (flag == "--latency") options.latency = value;
  if (flag == "--ack-timeout") options.ack_timeout = static_cast<int>(value);
  if (flag == "--deadline") options.deadline_ms = static_cast<int>(value);
}

const Number* FindNumber(std::string_view flag) {
  for (const Number& number : kNumbers) {
    if (number.flag == flag) return &number;
  }
  return nullptr;
}

}  // namespace

Result<WriteOptions> ParseWriteOptions(const std::vector<std::string>& arguments) {
  WriteOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--send") {
      options.send = true;
      continue;
    }
    const Number* number = FindNumber(flag);
    if (number == nullptr && flag != "--rail") {
      return MakeUsageError(fmt::format("wanted a flag, found '{}'", flag));
    }
    if (i + 1 == arguments.size())
      return MakeUsageError(fmt::format("wanted a value after {}", flag));
    const std::string& text = arguments[++i];
    if (number == nullptr) {
      auto rail = ParseRail(text);
      if (!rail) return Fail(rail.error());
      options.rails.push_back(std::move(*rail));
      continue;
    }
    const auto value = ParseInRange(*number, text);
    if (!value) return Fail(value.error());
    Set(options, flag, *value);
  }
  if (options.rails.empty())
    return MakeUsageError("wanted at least one --rail HCA=IPV4, found none");
  // 1 GiB for both buffers of all rails together.
  constexpr std::size_t kMost = std::size_t{1} << 29;
  if (options.rails.size() * options.queue_pairs * options.size > kMost) {
    return MakeUsageError(fmt::format("wanted rails × --qps × --size at most {} bytes, found {}",
                                      kMost,
                                      options.rails.size() * options.queue_pairs * options.size));
  }
  return options;
}

std::string FormatWriteUsage() {
  return R"(spark-verify write --rail HCA=IPV4 [--rail ...] [flags]
  --send           send, and not only receive
  --size BYTES     of one message (1048576)
  --depth N        messages in flight per queue pair (32)
  --qps N          queue pairs per rail (4)
  --ms N           time measured (2000), after --warm-up N (200)
  --latency N      rounds of an 8 byte ping-pong first, begun by this end (0)
  --ack-timeout N  4.096 us x 2^N until a packet is sent again, six times (14)
  --deadline MS    for everything (30000)
What one end prints goes to the other end's stdin, line by line. End of input ends it.
)";
}

}  // namespace reconciler::spark_verify
