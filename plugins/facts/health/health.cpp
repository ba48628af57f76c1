#include "plugins/facts/health/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/common/gpu/level.h"
#include "plugins/facts/health/health.sh.h"
#include "plugins/facts/health/kernel_log.h"
#include "plugins/facts/health/wireless.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::health {
namespace {

constexpr const char* kProbe = "health.state";
constexpr const char* kWirelessProbe = "health.wireless";
constexpr const char* kGpuProbe = "health.gpu";
// As nvidia-smi calls them, and what they mean. Its limit of power is no fault, and not read.
constexpr std::pair<std::string_view, std::string_view> kSlowdowns[] = {
    {"hw_slowdown", "slowdown"},
    {"hw_thermal_slowdown", "heat"},
    {"hw_power_brake_slowdown", "power"},
    {"sw_thermal_slowdown", "driver's heat"}};
constexpr std::size_t kIdLength = 12;  // what docker shows of an id
constexpr double kLongestUptime = 1e9;

// What follows the first blank.
std::string_view ReadAfterWord(std::string_view line) {
  const std::size_t blank = line.find(' ');
  return blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words = Split(text, ' ');
  std::erase(words, "");
  return words;
}

std::optional<DeviceFile> ParseDevice(std::string_view text) {
  const std::vector<std::string> words = SplitWords(text);
  if (words.size() != 4) return std::nullopt;
  const auto bits = ParseNumber<unsigned>(words[0], 8);
  constexpr unsigned kMost = 07777;
  if (!bits || *bits > kMost) return std::nullopt;
  return DeviceFile{.path = MakePrintable(words[3]),
                    .mode = {*bits},
                    .owner = MakePrintable(words[1]),
                    .group = MakePrintable(words[2])};
}

std::optional<Sensor> ParseSensor(std::string_view text) {
  const auto value = ConsumeNumber<std::int64_t>(text);
  if (!value || !text.starts_with(' ')) return std::nullopt;
  text.remove_prefix(1);
  const auto limit = ConsumeNumber<std::int64_t>(text);
  constexpr std::int64_t kHottest = 300'000;  // a sensor that shows more is broken
  if (!limit || *limit <= 0 || *limit > kHottest || *value > kHottest) return std::nullopt;
  return Sensor{.name = MakePrintable(Trim(text)), .millidegrees = *value, .limit = *limit};
}

std::optional<MemoryLimit> ParseLimit(std::string_view text) {
  if (text == "unlimited") return MemoryLimit{MemoryLimit::kUnlimited};
  const auto bytes = ParseNumber<std::int64_t>(text);
  return bytes && *bytes >= 0 ? std::optional(MemoryLimit{*bytes}) : std::nullopt;
}

std::optional<ContainerFact> ParseContainer(std::string_view text) {
  const std::vector<std::string> words = SplitWords(text);
  if (words.size() != 3) return std::nullopt;
  const auto limit = ParseLimit(words[2]);
  if (!limit) return std::nullopt;
  return ContainerFact{.id = MakePrintable(std::string_view(words[0]).substr(0, kIdLength)),
                       .rdma = words[1] == "yes",
                       .memlock = *limit};
}

// A line of what grep found in a libnccl: "FILE:NCCL version 2.28.9", or "FILE:" and a name.
struct FoundInLibrary {
  std::string version = {};
  bool has_name = false;
};

// "/usr/lib/libnccl.so.2.28.9": "2.28.9"; empty: the name does not say.
std::string FindVersionInName(std::string_view path) {
  constexpr std::string_view kName = "libnccl.so.";
  const std::size_t at = path.rfind(kName);
  if (at == std::string_view::npos) return {};
  const std::string_view version = path.substr(at + kName.size());
  return std::count(version.begin(), version.end(), '.') == 2 ? std::string(version) : "";
}

// "ID FILE PATH", the path with what the kernel adds to one that was removed.
struct LoadedLine {
  std::string id = {};
  std::string file = {};
  std::string path = {};
};

std::optional<LoadedLine> ParseLoaded(std::string_view text) {
  const std::size_t id = text.find(' ');
  if (id == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(id + 1);
  const std::size_t file = rest.find(' ');
  if (file == std::string_view::npos) return std::nullopt;
  std::string_view path = rest.substr(file + 1);
  constexpr std::string_view kRemoved = " (deleted)";
  if (path.ends_with(kRemoved)) path.remove_suffix(kRemoved.size());
  return LoadedLine{.id = std::string(text.substr(0, std::min(id, kIdLength))),
                    .file = std::string(rest.substr(0, file)),
                    .path = std::string(path)};
}

// "940604 kB"; of /proc/meminfo, whose kB are 1024 bytes.
std::optional<std::int64_t> ParseKib(std::string_view text) {
  text = Trim(text);
  const auto number = ConsumeNumber<std::int64_t>(text);
  return number && *number >= 0 && text == " kB" ? number : std::nullopt;
}

// What the script printed, line by line. Every list is known once the script was there, also when
// it is empty.
class Reader {
 public:
  explicit Reader(HealthFacts& facts) : facts_(facts) {}

  void Read(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (line.starts_with("= ")) {
        section_ = line.substr(2);
      } else if (section_.empty()) {
        ReadOwnLine(line);
      } else if (section_ == "versions") {
        ReadVersionLine(line);
      } else if (section_ == "files") {
        ReadFileLine(line);
      } else if (section_ == "rules") {
        ReadRules(ReadAfterWord(line));
      } else if (section_ == "log") {
        ReadLogLine(line);
      }
    }
    Store();
  }

 private:
  void ReadOwnLine(std::string_view line) {
    const std::string_view kind = line.substr(0, line.find(' '));
    const std::string_view text = ReadAfterWord(line);
    if (kind == "clock") {
      clock_ = ParseNumber<std::int64_t>(text);
    } else if (kind == "sensor") {
      if (auto sensor = ParseSensor(text)) sensors_.push_back(std::move(*sensor));
    } else if (kind == "throttled") {
      throttled_.push_back(MakePrintable(text));
    } else if (kind == "device") {
      if (auto file = ParseDevice(text)) devices_.push_back(std::move(*file));
    } else if (kind == "groups") {
      groups_ = std::set<std::string>();
      for (const std::string& group : SplitWords(text)) groups_->insert(MakePrintable(group));
    } else if (kind == "container") {
      if (auto container = ParseContainer(text)) containers_.push_back(std::move(*container));
    } else if (kind == "loaded") {
      if (auto loaded = ParseLoaded(text)) loaded_.push_back(std::move(*loaded));
    }
  }

  // "FILE:TEXT"
  void ReadVersionLine(std::string_view line) {
    constexpr std::string_view kVersion = "NCCL version ";
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    FoundInLibrary& found = found_[std::string(line.substr(0, colon))];
    std::string_view text = line.substr(colon + 1);
    if (text == kSubnetAware) found.has_name = true;
    if (!text.starts_with(kVersion)) return;
    text.remove_prefix(kVersion.size());
    if (found.version.empty()) found.version = MakePrintable(text);
  }

  // "PATH:TEXT"
  void ReadFileLine(const std::string& line) {
    constexpr std::string_view kMemory = "/proc/meminfo:";
    constexpr std::string_view kProfiles = "/run/NetworkManager/system-connections/";
    constexpr std::string_view kName = ":interface-name=";
    if (line.starts_with(kMemory)) {
      const std::string text = line.substr(kMemory.size());
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos) return;
      if (const auto kib = ParseKib(std::string_view(text).substr(colon + 1))) {
        memory_[text.substr(0, colon)] = *kib;
      }
    } else if (line.starts_with(kProfiles)) {
      const std::size_t at = line.find(kName);
      if (at == std::string::npos) return;
      // What netplan makes is made again at every boot.
      const std::string_view file = std::string_view(line).substr(kProfiles.size());
      if (file.starts_with("netplan-")) return;
      profiles_.push_back({.path = MakePrintable(line.substr(0, at)),
                           .netdev = MakePrintable(Trim(line.substr(at + kName.size())))});
    } else if (line.starts_with("/etc/network/")) {
      ifupdown_ |= line.find(" lo") == std::string::npos;
    }
  }

  void ReadRules(std::string_view text) {
    const auto since = ParseNumber<std::int64_t>(text);
    if (since && clock_ && *since >= 0 && *clock_ >= *since) rules_age_s_ = *clock_ - *since;
  }

  void ReadLogLine(const std::string& line) {
    constexpr std::string_view kUptime = "uptime ";
    if (!uptime_s_ && line.starts_with(kUptime)) {
      const auto uptime = ParseNumber<double>(std::string_view(line).substr(kUptime.size()));
      if (uptime && *uptime >= 0 && *uptime < kLongestUptime) uptime_s_ = uptime;
    } else {
      log_.push_back(line);
    }
  }

  void Store() {
    std::sort(throttled_.begin(), throttled_.end());
    facts_.throttled = std::move(throttled_);
    facts_.sensors = std::move(sensors_);
    facts_.device_files = std::move(devices_);
    facts_.containers = std::move(containers_);
    StoreLoaded();
    facts_.runtime_profiles = std::move(profiles_);
    facts_.ifupdown = ifupdown_;
    facts_.groups = groups_ ? Observed<std::set<std::string>>(std::move(*groups_)) : Absent{};
    if (clock_ && *clock_ >= 0) facts_.clock = *clock_;
    facts_.firewall_rules_age_s = rules_age_s_ ? Observed<std::int64_t>(*rules_age_s_) : Absent{};
    StoreMemory();
    if (uptime_s_) {
      facts_.kernel_log = ParseKernelLog(log_, *uptime_s_);
    } else {
      facts_.kernel_log = Unknown{"dmesg printed nothing"};
    }
  }

  // Without its version a library says nothing.
  void StoreLoaded() {
    std::vector<LoadedNccl> libraries;
    for (const LoadedLine& line : loaded_) {
      const FoundInLibrary& found = found_[line.file];
      LoadedNccl library{.container = MakePrintable(line.id),
                         .path = MakePrintable(line.path),
                         .version = found.version.empty()
                                        ? MakePrintable(FindVersionInName(line.path))
                                        : found.version,
                         .pairs_by_subnet = found.has_name};
      if (!library.version.empty()) libraries.push_back(std::move(library));
    }
    std::sort(libraries.begin(), libraries.end(), [](const LoadedNccl& a, const LoadedNccl& b) {
      return std::tie(a.container, a.path, a.version) < std::tie(b.container, b.path, b.version);
    });
    facts_.loaded_nccl = std::move(libraries);
  }

  void StoreMemory() {
    if (const auto found = memory_.find("MemAvailable"); found != memory_.end()) {
      facts_.available_kib = found->second;
    }
    const auto total = memory_.find("SwapTotal");
    const auto free = memory_.find("SwapFree");
    if (total != memory_.end() && free != memory_.end() && free->second <= total->second) {
      facts_.swap_used_kib = total->second - free->second;
    }
  }

  HealthFacts& facts_;
  std::string section_ = {};
  std::optional<std::int64_t> clock_ = {};
  std::vector<Sensor> sensors_ = {};
  std::vector<std::string> throttled_ = {};
  std::vector<DeviceFile> devices_ = {};
  std::optional<std::set<std::string>> groups_ = {};
  std::vector<ContainerFact> containers_ = {};
  std::vector<LoadedLine> loaded_ = {};
  std::map<std::string, FoundInLibrary> found_ = {};  // by file
  std::map<std::string, std::int64_t> memory_ = {};
  std::vector<RuntimeProfile> profiles_ = {};
  bool ifupdown_ = false;
  std::optional<std::int64_t> rules_age_s_ = {};
  std::optional<double> uptime_s_ = {};
  std::vector<std::string> log_ = {};
};

RunProbe MakeGpuProbe() {
  std::string query = "--query-gpu=";
  for (const auto& [name, meaning] : kSlowdowns) {
    query += fmt::format("{}clocks_event_reasons.{}", query.ends_with('=') ? "" : ",", name);
  }
  return {.id = kGpuProbe,
          .argv = {"nvidia-smi", query, "--format=csv,noheader"},
          .only_for_verification = true};
}

// "Not Active, Active, Not Active, Not Active", a line per GPU. Not run on hardware.
Observed<std::vector<std::string>> ParseSlowdowns(const CommandReply& reply) {
  if (reply.exit_code == 127) return Absent{};
  if (reply.exit_code != 0) return ExplainFailure(reply, "nvidia-smi");
  std::vector<std::string> found;
  for (const std::string& line : SplitLines(reply.out)) {
    const std::vector<std::string> words = Split(line, ',');
    if (words.size() != std::size(kSlowdowns)) return Unknown{"nvidia-smi printed something else"};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string meaning(kSlowdowns[i].second);
      const bool is_new = std::find(found.begin(), found.end(), meaning) == found.end();
      if (Trim(words[i]) == "Active" && is_new) found.push_back(meaning);
    }
  }
  return found;
}

// A line "wireless NETDEV" for each.
Observed<std::vector<std::string>> ParseWireless(const CommandReply& reply) {
  if (reply.exit_code != 0) return ExplainFailure(reply, "sh");
  std::set<std::string> names;
  for (const std::string& line : SplitLines(reply.out)) {
    if (line.starts_with("wireless ")) names.insert(MakePrintable(ReadAfterWord(line)));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

// nvidia-smi takes a good part of a second, so that it is run where the manifest names a level that
// measures.
std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  std::vector<Read> reads = {MakeWirelessProbe(), MakeHealthProbe(fabric, node)};
  if (MeasuresRdma(cluster)) reads.push_back(MakeGpuProbe());
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  if (const auto gpu = reply.commands.find(kGpuProbe); gpu != reply.commands.end()) {
    facts.health.gpu_slowdowns = ParseSlowdowns(gpu->second);
  }
  const auto wireless = reply.commands.find(kWirelessProbe);
  if (wireless != reply.commands.end()) facts.health.wireless = ParseWireless(wireless->second);
  const auto found = reply.commands.find(kProbe);
  if (found == reply.commands.end()) return;
  if (found->second.exit_code != 0) {
    facts.health.kernel_log = ExplainFailure(found->second, "sh");
    return;
  }
  Reader(facts.health).Read(SplitLines(found->second.out));
}

}  // namespace

// By it a plan chooses the network over which ranks connect first.
RunProbe MakeWirelessProbe() { return MakeInPlaceProbe(kWirelessProbe, kWirelessSh); }

RunProbe MakeHealthProbe(const Fabric& fabric, const NodeSpec& node) {
  // A whole library is read for the name, and only its beginning for the version.
  RunProbe probe = MakeInPlaceProbe(
      kProbe, kHealthSh,
      {node.access.user, CagesDiffer(fabric) ? std::string(kSubnetAware) : std::string()});
  probe.only_for_verification = true;
  return probe;
}

Plugin Get() { return {.name = "health", .after = {}, .probe = Probe, .parse = Parse}; }

}  // namespace reconciler::plugins::health
