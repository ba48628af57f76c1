#include "reconciler/spark_verify/protocol/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/option.h"
#include "reconciler/spark_verify/protocol/usage_error.h"

namespace reconciler::spark_verify {
namespace {

bool ReadRails(const nlohmann::json& json, std::vector<RailOption>& rails) {
  rails.clear();
  if (!json.is_array()) return false;
  for (const nlohmann::json& entry : json) {
    RailOption rail;
    const auto read =
        ParseOptions(entry.dump(), {MakeOption("hca", rail.hca), MakeOption("ipv4", rail.ipv4)});
    in_addr address = {};
    if (!read || rail.hca.empty()) return false;
    if (inet_pton(AF_INET, rail.ipv4.c_str(), &address) != 1) return false;
    rails.push_back(std::move(rail));
  }
  return true;
}

void WriteRails(const std::vector<RailOption>& rails, nlohmann::json& json) {
  json = nlohmann::json::array();
  for (const RailOption& rail : rails) json.push_back({{"hca", rail.hca}, {"ipv4", rail.ipv4}});
}

// The upper bounds keep a slip from pinning all of a unified memory.
std::vector<Option> ListOptions(WriteOptions& options) {
  const auto read = [&](const nlohmann::json& json) { return ReadRails(json, options.rails); };
  const auto write = [&](nlohmann::json& json) { WriteRails(options.rails, json); };
  return {{.name = "rails",
           .wanted = R"(as [{"hca": HCA, "ipv4": ADDRESS}, ...])",
           .read = read,
           .write = write},
          MakeOption("send", options.send),
          MakeOption("size", options.size, 1, 64u << 20),
          MakeOption("depth", options.depth, 1, 1024),
          MakeOption("queue_pairs", options.queue_pairs, 1, 64),
          MakeOption("milliseconds", options.milliseconds, 1, 600'000),
          MakeOption("warm_up_ms", options.warm_up_ms, 0, 600'000),
          MakeOption("latency", options.latency, 0, 1'000'000),
          MakeOption("ack_timeout", options.ack_timeout, 8, 22),
          MakeOption("limit_ms", options.limit_ms, 1, 3'600'000)};
}

}  // namespace

Result<WriteOptions> ParseWriteOptions(std::string_view text) {
  WriteOptions options;
  if (auto read = ParseOptions(text, ListOptions(options)); !read) return Fail(read.error());
  if (options.rails.empty()) return MakeUsageError("wanted rails, found none");
  // 1 GiB for both buffers of all rails together.
  constexpr std::size_t kMost = std::size_t{1} << 29;
  const std::size_t bytes = options.rails.size() * options.queue_pairs * options.size;
  if (bytes > kMost) {
    return MakeUsageError(
        fmt::format("wanted rails × queue_pairs × size at most {} bytes, found {}", kMost, bytes));
  }
  return options;
}

std::string FormatWriteOptions(WriteOptions options) { return FormatOptions(ListOptions(options)); }

std::string FormatWriteUsage() {
  return R"(spark-verify write '{"rails": [{"hca": HCA, "ipv4": ADDRESS}, ...], ...}'
  rails         this end's devices and addresses, driven at the same time
  send          whether it sends, and does not only receive (false)
  size          bytes of one message (1048576)
  depth         messages in flight per queue pair (32)
  queue_pairs   per rail (4)
  milliseconds  measured (2000), after warm_up_ms (200)
  latency       rounds of an 8 byte ping-pong first, begun by this end (0)
  ack_timeout   N: 4.096 us x 2^N until a packet is sent again, six times (14)
  limit_ms   for everything (30000)
What one end prints goes to the other end's stdin, line by line. End of input ends it.
)";
}

}  // namespace reconciler::spark_verify
