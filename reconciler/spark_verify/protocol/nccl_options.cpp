#include "reconciler/spark_verify/protocol/nccl_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/option.h"
#include "reconciler/spark_verify/protocol/usage_error.h"

namespace reconciler::spark_verify {
namespace {

constexpr int kHour = 3'600'000;  // ms
constexpr std::size_t kMostMemory = std::size_t{1} << 40;
// Sums of up to 64 ranks stay exact in bfloat16 (see test_data.h).
constexpr int kMostRanks = 64;
constexpr DataType kDataTypes[] = {DataType::kFloat, DataType::kBfloat16};

template <class Enum, std::size_t N>
Option MakeListOption(std::string name, std::vector<Enum>& field, const Enum (&all)[N]) {
  const auto find = [&all](const nlohmann::json& json) {
    return std::find_if(std::begin(all), std::end(all),
                        [&](Enum one) { return json == ToString(one); });
  };
  std::string names;
  for (const Enum one : all) names += fmt::format("{}{}", names.empty() ? "" : ", ", ToString(one));
  return {
      .name = std::move(name),
      .wanted = "as a list of " + names,
      .read =
          [&field, &all, find](const nlohmann::json& json) {
            field.clear();
            for (const nlohmann::json& entry : json.is_array() ? json : nlohmann::json::array()) {
              if (find(entry) == std::end(all)) return false;
              field.push_back(*find(entry));
            }
            return !field.empty();
          },
      .write =
          [&field](nlohmann::json& json) {
            json = nlohmann::json::array();
            for (const Enum one : field) json.push_back(ToString(one));
          }};
}

// A size alone is its bytes.
bool ReadSizes(const nlohmann::json& json, std::vector<NcclSize>& sizes) {
  sizes.clear();
  if (!json.is_array()) return false;
  for (const nlohmann::json& entry : json) {
    NcclSize size;
    const std::string text =
        entry.is_object() ? entry.dump() : nlohmann::json{{"bytes", entry}}.dump();
    const auto read = ParseOptions(text, {MakeOption("bytes", size.bytes, 1, kMostMemory),
                                          MakeOption("limit_ms", size.limit_ms, 0, kHour)});
    if (!read || size.bytes == 0) return false;
    sizes.push_back(size);
  }
  return !sizes.empty();
}

void WriteSizes(const std::vector<NcclSize>& sizes, nlohmann::json& json) {
  json = nlohmann::json::array();
  for (const NcclSize& size : sizes) {
    if (size.limit_ms == 0) {
      json.push_back(size.bytes);
    } else {
      json.push_back({{"bytes", size.bytes}, {"limit_ms", size.limit_ms}});
    }
  }
}

bool ReadEnv(const nlohmann::json& json, std::map<std::string, std::string>& env) {
  env.clear();
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    if (name.empty() || name.find('=') != std::string::npos || !value.is_string()) return false;
    env[name] = value.get<std::string>();
  }
  return true;
}

std::vector<Option> ListOptions(NcclOptions& options) {
  const auto read_sizes = [&](const nlohmann::json& json) {
    return ReadSizes(json, options.sizes);
  };
  const auto write_sizes = [&](nlohmann::json& json) { WriteSizes(options.sizes, json); };
  const auto read_env = [&](const nlohmann::json& json) { return ReadEnv(json, options.env); };
  const auto write_env = [&](nlohmann::json& json) { json = options.env; };
  return {MakeOption("run", options.run),
          MakeOption("rank", options.rank, 0, kMostRanks - 1),
          MakeOption("ranks", options.ranks, 2, kMostRanks),
          MakeOption("gpu", options.gpu, 0, 63),
          MakeOption("library", options.library),
          MakeListOption("collectives", options.collectives, kCollectives),
          {.name = "sizes",
           .wanted = R"(as [BYTES, {"bytes": BYTES, "limit_ms": MS}, ...])",
           .read = read_sizes,
           .write = write_sizes},
          MakeListOption("types", options.types, kDataTypes),
          MakeOption("out_of_place", options.out_of_place),
          MakeOption("in_place", options.in_place),
          MakeOption("warm_up", options.warm_up, 1, 10'000),
          MakeOption("iterations", options.iterations, 2, 100'000),
          MakeOption("budget_ms", options.budget_ms, 0, kHour),
          MakeOption("memory_limit", options.memory_limit, 4096, kMostMemory),
          MakeOption("reserve", options.reserve, 0, kMostMemory),
          MakeOption("allow_busy", options.allow_busy),
          MakeOption("init_ms", options.init_ms, 1, kHour),
          MakeOption("connect_ms", options.connect_ms, 1, kHour),
          MakeOption("size_ms", options.size_ms, 1, kHour),
          MakeOption("limit_ms", options.limit_ms, 1, kHour),
          {.name = "env",
           .wanted = R"(as {"NAME": "VALUE", ...})",
           .read = read_env,
           .write = write_env}};
}

Result<NcclOptions> CheckNcclOptions(NcclOptions options) {
  if (options.run.empty()) return MakeUsageError("wanted run, found none");
  if (options.ranks == 0) return MakeUsageError("wanted ranks, found none");
  if (options.sizes.empty()) return MakeUsageError("wanted sizes, found none");
  if (options.rank >= options.ranks) {
    return MakeUsageError(
        fmt::format("wanted rank below ranks {}, found {}", options.ranks, options.rank));
  }
  if (!options.out_of_place && !options.in_place) {
    return MakeUsageError("wanted out_of_place or in_place, found neither");
  }
  for (const NcclSize& size : options.sizes) {
    if (size.bytes > options.memory_limit) {
      return MakeUsageError(fmt::format("wanted sizes at most memory_limit {}, found {}",
                                        options.memory_limit, size.bytes));
    }
  }
  return options;
}

}  // namespace

Result<NcclOptions> ParseNcclOptions(std::string_view text) {
  NcclOptions options;
  if (auto read = ParseOptions(text, ListOptions(options)); !read) return Fail(read.error());
  return CheckNcclOptions(std::move(options));
}

std::string FormatNcclOptions(NcclOptions options) { return FormatOptions(ListOptions(options)); }

bool IsOfRun(std::string_view word, const std::string& run) {
  if (!word.starts_with('{')) return false;
  const nlohmann::json object = nlohmann::json::parse(word, nullptr, false);
  return object.is_object() && object.contains("run") && object["run"] == run;
}

const std::map<std::string, std::string>& RunEnvironment() {
  // 17: 0.54 s per try, 4 s in all; NCCL's own 20 is half a minute. The socket's and the queue
  // pairs' retries are a minute each otherwise. Abort needs calls
  // that do not block.
  static const std::map<std::string, std::string> kEnvironment = {
      {"NCCL_COMM_BLOCKING", "0"},    {"NCCL_IB_TIMEOUT", "17"},
      {"NCCL_IB_RETRY_CNT", "7"},     {"NCCL_SOCKET_RETRY_CNT", "10"},
      {"NCCL_IB_MQP_RETRY_CNT", "3"}, {"NCCL_DEBUG", "INFO"},
      {"NCCL_DEBUG_FILE", ""},        {"NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET,GRAPH,TUNING"}};
  return kEnvironment;
}

std::string FormatNcclUsage() {
  return R"(spark-verify nccl '{"run": NAME, "rank": N, "ranks": N, "sizes": [BYTES, ...], ...}'
  sizes         also as {"bytes": BYTES, "limit_ms": MS}
  gpu           which of CUDA's GPUs (0)
  library       path of libnccl.so.2 (the loader's)
  collectives   of all_reduce, all_gather, reduce_scatter, alltoall, sendrecv (["all_reduce"])
  types         of float, bfloat16 (["float"])
  out_of_place, in_place
                which forms (true, true)
  warm_up       iterations that do not count (5)
  iterations    that do (20); fewer where they would take longer than budget_ms (0: never)
  memory_limit  bytes of the largest size (1073741824)
  reserve       bytes of unified memory that stay free (8589934592)
  allow_busy    although another program uses the GPU (false)
  init_ms, connect_ms, size_ms, limit_ms
                for each phase, and for everything (20000, 15000, 30000, 300000)
  env           variables for NCCL, {"NAME": "VALUE", ...}
One rank. It prints JSON lines and reads orders as JSON lines from stdin; end of input ends it.
)";
}

}  // namespace reconciler::spark_verify
