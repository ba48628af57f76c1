#include "reconciler/spark_verify/protocol/nccl_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "reconciler/base/number.h"
#include "reconciler/spark_verify/protocol/usage_error.h"

namespace reconciler::spark_verify {
namespace {

struct NumberOption {
  std::string_view flag;
  std::uint64_t low;
  std::uint64_t high;
  void (*set)(NcclOptions&, std::uint64_t);
};

int Int(std::uint64_t value) { return static_cast<int>(value); }

constexpr std::uint64_t kHour = 3'600'000;  // ms
// Sums of up to 64 ranks stay exact in bfloat16 (see test_data.h).
constexpr int kMostRanks = 64;
constexpr NumberOption kNcclNumbers[] = {
    {"--rank", 0, kMostRanks - 1, [](NcclOptions& o, std::uint64_t v) { o.rank = Int(v); }},
    {"--ranks", 2, kMostRanks, [](NcclOptions& o, std::uint64_t v) { o.ranks = Int(v); }},
    {"--gpu", 0, 63, [](NcclOptions& o, std::uint64_t v) { o.gpu = Int(v); }},
    {"--warm-up", 1, 10'000, [](NcclOptions& o, std::uint64_t v) { o.warm_up = Int(v); }},
    {"--iterations", 2, 100'000, [](NcclOptions& o, std::uint64_t v) { o.iterations = Int(v); }},
    {"--budget", 0, kHour, [](NcclOptions& o, std::uint64_t v) { o.budget_ms = Int(v); }},
    {"--memory-limit", 4096, std::uint64_t{1} << 40,
     [](NcclOptions& o, std::uint64_t v) { o.memory_limit = v; }},
    {"--reserve", 0, std::uint64_t{1} << 40,
     [](NcclOptions& o, std::uint64_t v) { o.reserve = v; }},
    {"--init", 1, kHour, [](NcclOptions& o, std::uint64_t v) { o.init_ms = Int(v); }},
    {"--connect", 1, kHour, [](NcclOptions& o, std::uint64_t v) { o.connect_ms = Int(v); }},
    {"--size-deadline", 1, kHour, [](NcclOptions& o, std::uint64_t v) { o.size_ms = Int(v); }},
    {"--deadline", 1, kHour, [](NcclOptions& o, std::uint64_t v) { o.deadline_ms = Int(v); }}};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t end = 0; end != std::string::npos; at = end + 1) {
    end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
  }
  return parts;
}

Result<void> SetCollectives(NcclOptions& options, const std::string& text) {
  options.collectives.clear();
  for (const std::string& word : Split(text, ',')) {
    const auto* found = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                     [&](Collective one) { return ToString(one) == word; });
    if (found == std::end(kCollectives)) {
      return MakeUsageError(
          fmt::format("wanted --collectives of all_reduce, all_gather, reduce_scatter, "
                      "alltoall and sendrecv, found '{}'",
                      word));
    }
    options.collectives.push_back(*found);
  }
  return {};
}

Result<void> SetTypes(NcclOptions& options, const std::string& text) {
  options.types.clear();
  for (const std::string& word : Split(text, ',')) {
    if (word != "float" && word != "bfloat16") {
      return MakeUsageError(fmt::format("wanted --types of float and bfloat16, found '{}'", word));
    }
    options.types.push_back(word == "float" ? DataType::kFloat : DataType::kBfloat16);
  }
  return {};
}

Result<void> SetSizes(NcclOptions& options, const std::string& text) {
  options.sizes.clear();
  for (const std::string& word : Split(text, ',')) {
    const auto parts = Split(word, ':');
    const auto bytes = ParseNumber<std::uint64_t>(parts.front());
    const auto deadline = parts.size() == 2 ? ParseNumber<std::uint64_t>(parts.back()) : 0;
    if (parts.size() > 2 || !bytes || *bytes < 1 || !deadline || *deadline > kHour) {
      return MakeUsageError(
          fmt::format("wanted --sizes BYTES or BYTES:MS with commas, found '{}'", word));
    }
    options.sizes.push_back({.bytes = *bytes, .deadline_ms = Int(*deadline)});
  }
  return {};
}

Result<void> SetPlacements(NcclOptions& options, const std::string& text) {
  if (text != "in" && text != "out" && text != "both") {
    return MakeUsageError(fmt::format("wanted --placement in, out or both, found '{}'", text));
  }
  options.in_place = text != "out";
  options.out_of_place = text != "in";
  return {};
}

Result<void> SetEnv(NcclOptions& options, const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    return MakeUsageError(fmt::format("wanted --env NAME=VALUE, found '{}'", text));
  }
  options.env[text.substr(0, at)] = text.substr(at + 1);
  return {};
}

Result<void> SetNumber(NcclOptions& options, const NumberOption& number, const std::string& text) {
  const auto value = ParseNumber<std::uint64_t>(text);
  if (!value || *value < number.low || *value > number.high) {
    return MakeUsageError(fmt::format("wanted {} from {} to {}, found '{}'", number.flag,
                                      number.low, number.high, text));
  }
  number.set(options, *value);
  return {};
}

Result<void> Set(NcclOptions& options, const std::string& flag, const std::string& text) {
  for (const NumberOption& number : kNcclNumbers) {
    if (number.flag == flag) return SetNumber(options, number, text);
  }
  if (flag == "--collectives") return SetCollectives(options, text);
  if (flag == "--types") return SetTypes(options, text);
  if (flag == "--sizes") return SetSizes(options, text);
  if (flag == "--placement") return SetPlacements(options, text);
  if (flag == "--env") return SetEnv(options, text);
  if (flag == "--run") {
    options.run = text;
  } else {
    options.library = text;
  }
  return {};
}

bool IsFlag(const std::string& word) {
  static const std::set<std::string, std::less<>> kTextFlags = {
      "--collectives", "--types", "--sizes", "--placement", "--env", "--run", "--library"};
  return kTextFlags.contains(word) ||
         std::any_of(std::begin(kNcclNumbers), std::end(kNcclNumbers),
                     [&](const NumberOption& one) { return one.flag == word; });
}

Result<NcclOptions> Checked(NcclOptions options) {
  if (options.run.empty()) return MakeUsageError("wanted --run TEXT, found none");
  if (options.ranks == 0) return MakeUsageError("wanted --ranks N, found none");
  if (options.sizes.empty()) return MakeUsageError("wanted --sizes BYTES, found none");
  if (options.rank >= options.ranks) {
    return MakeUsageError(
        fmt::format("wanted --rank below --ranks {}, found {}", options.ranks, options.rank));
  }
  for (const NcclSize& size : options.sizes) {
    if (size.bytes > options.memory_limit) {
      return MakeUsageError(fmt::format("wanted --sizes at most --memory-limit {}, found {}",
                                        options.memory_limit, size.bytes));
    }
  }
  return options;
}

template <class List>
std::string Names(const List& list) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ",") + std::string(ToString(one));
  return text;
}

std::string FormatPlacement(const NcclOptions& options) {
  if (options.in_place && options.out_of_place) return "both";
  return options.in_place ? "in" : "out";
}

}  // namespace

Result<NcclOptions> ParseNcclOptions(const std::vector<std::string>& arguments) {
  NcclOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--allow-busy") {
      options.allow_busy = true;
      continue;
    }
    if (!IsFlag(arguments[i]))
      return MakeUsageError(fmt::format("wanted a flag, found '{}'", arguments[i]));
    if (i + 1 == arguments.size())
      return MakeUsageError(fmt::format("wanted a value after {}", arguments[i]));
    if (auto set = Set(options, arguments[i], arguments[i + 1]); !set) return Fail(set.error());
    ++i;
  }
  return Checked(std::move(options));
}

std::vector<std::string> FormatNcclArguments(const NcclOptions& options) {
  std::string sizes;
  for (const NcclSize& size : options.sizes) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size.bytes);
    if (size.deadline_ms > 0) sizes += ":" + std::to_string(size.deadline_ms);
  }
  std::vector<std::string> arguments = {"--run", options.run, "--sizes", sizes};
  const auto add = [&](std::string flag, std::string value) {
    arguments.push_back(std::move(flag));
    arguments.push_back(std::move(value));
  };
  add("--rank", std::to_string(options.rank));
  add("--ranks", std::to_string(options.ranks));
  add("--gpu", std::to_string(options.gpu));
  if (!options.library.empty()) add("--library", options.library);
  add("--collectives", Names(options.collectives));
  add("--types", Names(options.types));
  add("--placement", FormatPlacement(options));
  add("--warm-up", std::to_string(options.warm_up));
  add("--iterations", std::to_string(options.iterations));
  add("--budget", std::to_string(options.budget_ms));
  add("--memory-limit", std::to_string(options.memory_limit));
  add("--reserve", std::to_string(options.reserve));
  add("--init", std::to_string(options.init_ms));
  add("--connect", std::to_string(options.connect_ms));
  add("--size-deadline", std::to_string(options.size_ms));
  add("--deadline", std::to_string(options.deadline_ms));
  for (const auto& [name, value] : options.env) add("--env", name + "=" + value);
  if (options.allow_busy) arguments.push_back("--allow-busy");
  return arguments;
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
  return R"(spark-verify nccl --run TEXT --rank N --ranks N --sizes BYTES[:MS],... [flags]
  --gpu N              which of CUDA's GPUs (0)
  --library PATH       of libnccl.so.2 (the loader's)
  --collectives LIST   all_reduce, all_gather, reduce_scatter, alltoall, sendrecv (all_reduce)
  --types LIST         float, bfloat16 (float)
  --placement WHICH    in, out or both (both)
  --warm-up N          iterations that do not count (5)
  --iterations N       that do (20); fewer where they would take longer than --budget MS (0: never)
  --memory-limit BYTES of the largest size (1073741824)
  --reserve BYTES      of unified memory that stays free (8589934592)
  --allow-busy         although another program uses the GPU
  --init MS, --connect MS, --size-deadline MS, --deadline MS
                       for each phase, and for everything (20000, 15000, 30000, 300000)
  --env NAME=VALUE     for NCCL, any number of times
One rank. It prints JSON lines and reads orders as JSON lines from stdin; end of input ends it.
)";
}

}  // namespace reconciler::spark_verify
