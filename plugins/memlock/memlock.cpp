#include "plugins/memlock/memlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "plugins/common/gpu/level.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/memlock/session_limits.sh.h"
#include "plugins/memlock/user_service_limits.sh.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::memlock {
namespace {

constexpr std::string_view kPamFile = "/etc/security/limits.d/60-spark-reconcile.conf";
constexpr std::string_view kSystemFile = "/etc/systemd/system.conf.d/60-spark-reconcile.conf";
constexpr std::string_view kUserFile = "/etc/systemd/user.conf.d/60-spark-reconcile.conf";
constexpr std::string_view kServiceKey = "memlock.service";
constexpr std::string_view kSessionKey = "memlock.session";
constexpr std::string_view kUserServiceKey = "memlock.user_service";
constexpr int kShowLimitS = 5;
constexpr int kReloadLimitS = 60;

constexpr int kNoManager = 3;

// nullopt: the manifest says nothing, so the limit is not ours.
struct Wanted {
  std::optional<std::int64_t> kib = std::nullopt;  // nullopt: unlimited
  Position position = {};
};

std::optional<Wanted> ReadWanted(const ClusterSpec& cluster) {
  const Value* value = cluster.settings.Find("memlock");
  if (value == nullptr || value->IsNull()) return std::nullopt;
  Wanted wanted{.position = value->position};
  if (const auto* kib = value->AsInteger()) wanted.kib = *kib;
  return wanted;
}

// limits.conf counts memlock in KiB. `*` does not match root, who needs lines of its own.
std::string FormatPam(const Wanted& wanted) {
  const std::string limit = wanted.kib ? fmt::format("{}", *wanted.kib) : "unlimited";
  std::string body;
  for (const std::string_view domain : {"*", "root"}) {
    for (const std::string_view type : {"soft", "hard"}) {
      body += fmt::format("{} {} memlock {}\n", domain, type, limit);
    }
  }
  return body;
}

// systemd reads K as 1024 bytes; one value sets the soft and the hard limit.
std::string FormatSystemd(const Wanted& wanted) {
  return fmt::format("[Manager]\nDefaultLimitMEMLOCK={}\n",
                     wanted.kib ? fmt::format("{}K", *wanted.kib) : "infinity");
}

// The form that facts have: bytes or "unlimited".
std::string FormatWanted(const Wanted& wanted) {
  return wanted.kib ? fmt::format("{}", *wanted.kib * 1024) : "unlimited";
}

std::optional<std::string> NormalizeBytes(std::string_view text) {
  if (text == "infinity" || text == "unlimited") return "unlimited";
  const auto bytes = ParseNumber<std::uint64_t>(text);
  if (!bytes) return std::nullopt;
  if (*bytes == std::numeric_limits<std::uint64_t>::max()) return "unlimited";
  return fmt::format("{}", *bytes);
}

// A canonical limit, or "soft A, hard B" of them, with units.
std::string AddUnits(std::string_view canonical) {
  std::vector<std::string> words = Split(canonical, ' ');
  for (std::string& word : words) {
    const std::size_t digits = std::min(word.find(','), word.size());
    const auto bytes = ParseNumber<std::uint64_t>(std::string_view(word).substr(0, digits));
    if (!bytes) continue;
    word = (*bytes % 1024 == 0 ? fmt::format("{} KiB", *bytes / 1024)
                               : fmt::format("{} bytes", *bytes)) +
           word.substr(digits);
  }
  return Join(words, " ");
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const bool managed = ReadWanted(cluster).has_value();
  std::vector<Read> reads;
  if (managed) {
    for (const std::string_view path : {kPamFile, kSystemFile, kUserFile}) {
      reads.push_back(ReadFile{std::string(path)});
    }
  }
  if (!managed && !MeasuresRdma(cluster)) return reads;
  reads.push_back(RunProbe{.id = std::string(kServiceKey),
                           .argv = {"systemctl", "show", "--no-pager",
                                    "--property=DefaultLimitMEMLOCK,DefaultLimitMEMLOCKSoft"},
                           .time_limit_s = kShowLimitS});
  reads.push_back(RunProbe{.id = std::string(kSessionKey),
                           .argv = {"sh", "-c", std::string(kSessionLimitsSh)}});
  if (MeasuresRdma(cluster)) {
    reads.push_back(
        RunProbe{.id = std::string(kUserServiceKey),
                 .argv = {"sh", "-c", std::string(kUserServiceLimitsSh), "sh", node.access.user},
                 .time_limit_s = kShowLimitS});
  }
  return reads;
}

Unknown ExplainFailed(const CommandReply& reply) {
  if (reply.exit_code == 124) {
    return {fmt::format("systemctl gave no answer in {} s", kShowLimitS)};
  }
  if (reply.exit_code == 127) return {"systemctl is not installed"};
  const std::vector<std::string> lines = SplitLines(reply.err);
  return {fmt::format("systemctl show failed: {}",
                      lines.empty() ? fmt::format("exit {}", reply.exit_code) : lines.front())};
}

Observed<std::string> ParseService(const CommandReply& reply) {
  if (reply.exit_code != 0) return ExplainFailed(reply);
  std::optional<std::string> soft;
  std::optional<std::string> hard;
  for (const std::string& line : SplitLines(reply.out)) {
    const std::string_view text = line;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = text.substr(0, equals);
    if (key == "DefaultLimitMEMLOCK") hard = NormalizeBytes(text.substr(equals + 1));
    if (key == "DefaultLimitMEMLOCKSoft") soft = NormalizeBytes(text.substr(equals + 1));
  }
  if (!soft || !hard) return Unknown{"systemctl shows no DefaultLimitMEMLOCK"};
  return *soft == *hard ? *hard : fmt::format("soft {}, hard {}", *soft, *hard);
}

// A line of /proc/PID/limits: "Max locked memory  8388608  8388608  bytes"; soft comes first.
Observed<std::string> ParseSession(const CommandReply& reply) {
  constexpr std::string_view kName = "Max locked memory";
  for (const std::string& line : SplitLines(reply.out)) {
    if (!line.starts_with(kName)) continue;
    const std::string_view rest = Trim(std::string_view(line).substr(kName.size()));
    if (const auto soft = NormalizeBytes(rest.substr(0, rest.find(' ')))) return *soft;
  }
  return Unknown{"/proc/self/limits has no line for locked memory"};
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  if (const auto found = reply.commands.find(std::string(kServiceKey));
      found != reply.commands.end()) {
    facts.values[found->first] = ParseService(found->second);
  }
  if (const auto found = reply.commands.find(std::string(kSessionKey));
      found != reply.commands.end()) {
    facts.values[found->first] = ParseSession(found->second);
  }
  if (const auto found = reply.commands.find(std::string(kUserServiceKey));
      found != reply.commands.end()) {
    facts.values[found->first] = found->second.exit_code == kNoManager
                                     ? Observed<std::string>(Absent{})
                                     : ParseService(found->second);
  }
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto wanted = ReadWanted(input.cluster);
  if (!wanted) return {};
  const SourceMark where = input.cluster.Mark(wanted->position);
  std::vector<Resource> resources;
  const auto add_file = [&](std::string_view path, const std::string& body) {
    const std::string name(path);
    resources.push_back(
        {.kind = "file",
         .name = name,
         .node = input.node.name,
         .desired = ResourceState(FileState{.content = FormatOwnedFile(input.cluster.name, body)}),
         .observed = AsState(FindFile(input.facts, name)),
         .where = where});
    BlockUnlessOurs(resources.back(), input.cluster.name, input.cluster.former_name);
  };
  add_file(kPamFile, FormatPam(*wanted));
  add_file(kSystemFile, FormatSystemd(*wanted));
  add_file(kUserFile, FormatSystemd(*wanted));

  // Comes after the file that it reloads. The reload belongs here and not to that file's triggers:
  // it is needed exactly when the live value differs, whoever wrote the file.
  const RunCommand reload{.argv = {"systemctl", "daemon-reload"}, .time_limit_s = kReloadLimitS};
  const Observed<std::string> live = FindValue(input.facts, std::string(kServiceKey));
  const auto* before = Known(live);
  resources.push_back({.kind = "memlock",
                       .name = "service limit",
                       .node = input.node.name,
                       .desired = ResourceState(FormatWanted(*wanted)),
                       .observed = AsState(live),
                       .apply = {reload},
                       .revert = {reload},
                       .label = before == nullptr ? ""
                                                  : fmt::format("{} → {}", AddUnits(*before),
                                                                AddUnits(FormatWanted(*wanted))),
                       .blocked = ExplainFileStuck(input.facts, std::string(kSystemFile),
                                                   input.cluster.name, input.cluster.former_name),
                       .where = where});
  return resources;
}

}  // namespace

Plugin Get() {
  return {.name = "memlock", .after = {}, .probe = Probe, .parse = Parse, .resources = Resources};
}

}  // namespace reconciler::plugins::memlock
