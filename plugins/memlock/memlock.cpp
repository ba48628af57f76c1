#include "plugins/memlock/memlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plugins/common/access/login_users.h"
#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/common/gpu/level.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/common/systemctl/show_units.h"
#include "plugins/memlock/limit_lines.h"
#include "plugins/memlock/manager_limits.h"
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
constexpr std::string_view kSystemFolder = "system.conf.d";
constexpr std::string_view kUserFolder = "user.conf.d";
constexpr std::string_view kAdvice = "remove that line, or give it the value of the manifest";
constexpr const char* kSession = "memlock.session";
constexpr const char* kUserService = "memlock.user_service";
constexpr int kShowLimitS = 5;
constexpr int kReloadLimitS = 60;

constexpr int kNoManager = 3;

// nullopt: the manifest says nothing, so the limit is not ours.
struct Wanted {
  std::optional<std::int64_t> kib = std::nullopt;  // nullopt: unlimited
  Position position = {};
};

std::optional<Wanted> ReadWanted(const ClusterSpec& cluster, const NodeSpec& node) {
  const Member* section = cluster.FindSection(node.name, "memlock");
  if (section == nullptr || section->value.IsNull()) return std::nullopt;
  Wanted wanted{.position = section->value.position};
  if (const auto* kib = section->value.AsInteger()) wanted.kib = *kib;
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

// What soft and hard limit are to be.
MemoryLimit GetWantedLimit(const Wanted& wanted) {
  constexpr std::int64_t kMost = MemoryLimit::kUnlimited / 1024;
  return {wanted.kib && *wanted.kib <= kMost ? *wanted.kib * 1024 : MemoryLimit::kUnlimited};
}

std::optional<MemoryLimit> ParseLimit(std::string_view text) {
  constexpr std::uint64_t kMost = MemoryLimit::kUnlimited;
  if (text == "infinity" || text == "unlimited") return MemoryLimit{MemoryLimit::kUnlimited};
  const auto bytes = ParseNumber<std::uint64_t>(text);
  if (!bytes) return std::nullopt;
  return MemoryLimit{static_cast<std::int64_t>(std::min(*bytes, kMost))};
}

// What Diff compares.
std::string FormatBytes(const MemoryLimit& limit) {
  return limit.IsUnlimited() ? "unlimited" : fmt::format("{}", limit.bytes);
}

std::string FormatLimits(const MemlockLimits& limits, std::string (*format)(const MemoryLimit&)) {
  if (limits.soft == limits.hard) return format(limits.hard);
  return fmt::format("soft {}, hard {}", format(limits.soft), format(limits.hard));
}

Observed<std::string> DescribeLive(const Observed<MemlockLimits>& live) {
  return AndThen(live, [](const MemlockLimits& limits) {
    return Observed<std::string>(FormatLimits(limits, FormatBytes));
  });
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const bool managed = ReadWanted(cluster, node).has_value();
  std::vector<Read> reads;
  if (managed) {
    for (const std::string_view path : {kPamFile, kSystemFile, kUserFile}) {
      reads.push_back(ReadFile{std::string(path)});
    }
    for (Read& read : ListLimitReads()) reads.push_back(std::move(read));
    for (Read& read : ListManagerReads()) reads.push_back(std::move(read));
  }
  // verify judges it whether or not the manifest has `memlock`.
  if (managed || MayMeasureRdma(cluster)) {
    reads.push_back(MakeInPlaceProbe(kSession, kSessionLimitsSh));
  }
  if (!managed && !MeasuresRdma(cluster)) return reads;
  reads.push_back(MakeUnitsProbe({kDefaultsUnit}));
  if (MeasuresRdma(cluster)) {
    reads.push_back(
        RunProbe{.id = kUserService,
                 .argv = {"sh", "-c", std::string(kUserServiceLimitsSh), "sh", node.access.user},
                 .time_limit_s = kShowLimitS});
  }
  return reads;
}

Observed<MemlockLimits> ReadLimits(const UnitProperties& properties, const std::string& key) {
  const auto read = [&](const std::string& name) -> std::optional<MemoryLimit> {
    const auto found = properties.find(name);
    return found == properties.end() ? std::nullopt : ParseLimit(found->second);
  };
  const auto hard = read(key);
  const auto soft = read(key + "Soft");
  if (!soft || !hard) return Unknown{fmt::format("systemctl shows no {}", key)};
  return MemlockLimits{.soft = *soft, .hard = *hard};
}

// Not known: the answer is to another plugin's request, and has other units alone.
Fact<MemlockLimits> ParseService(const CommandReply& reply) {
  const ShownUnits shown = ParseUnits(reply);
  if (!shown.defaults.empty()) return ReadLimits(shown.defaults, "LimitMEMLOCK");
  const auto* failed = std::get_if<Unknown>(&shown.count);
  return failed == nullptr ? Fact<MemlockLimits>() : Fact<MemlockLimits>(*failed);
}

Observed<MemlockLimits> ParseUserService(const CommandReply& reply) {
  if (reply.exit_code == kNoManager) return Absent{};
  if (reply.exit_code != 0) return ExplainFailure(reply, "systemctl show", kShowLimitS);
  UnitProperties properties;
  for (const std::string& line : SplitLines(reply.out)) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) properties[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return ReadLimits(properties, "DefaultLimitMEMLOCK");
}

// A line of /proc/PID/limits: "Max locked memory  8388608  8388608  bytes"; soft comes first.
Observed<MemoryLimit> ParseSession(const CommandReply& reply) {
  constexpr std::string_view kName = "Max locked memory";
  for (const std::string& line : SplitLines(reply.out)) {
    if (!line.starts_with(kName)) continue;
    const std::string_view rest = Trim(std::string_view(line).substr(kName.size()));
    const std::string_view soft = rest.substr(0, rest.find(' '));
    if (const auto limit = ParseLimit(soft)) return *limit;
    return Unknown{fmt::format("wanted a limit in bytes, found '{}'", MakePrintable(soft))};
  }
  return Unknown{"/proc/self/limits has no line for locked memory"};
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  if (const auto found = reply.commands.find(kUnits); found != reply.commands.end()) {
    facts.memlock.service = ParseService(found->second);
  }
  if (const auto found = reply.commands.find(kSession); found != reply.commands.end()) {
    facts.memlock.session = ParseSession(found->second);
  }
  if (const auto found = reply.commands.find(kUserService); found != reply.commands.end()) {
    facts.memlock.user_service = ParseUserService(found->second);
  }
}

// "/etc/…/99-limits.conf:2 sets DefaultLimitMEMLOCK=8M and is read after …"; empty: no file wins.
std::string ExplainLaterLimit(const NodeFacts& facts, const Wanted& wanted, std::string_view folder,
                              std::string_view own_file) {
  const std::string own(own_file);
  const auto later = FindLaterLimit(facts, folder, own, GetWantedLimit(wanted));
  if (!later) return {};
  return fmt::format("{} sets DefaultLimitMEMLOCK={} and is read after {}", later->place,
                     later->value, own);
}

// A reload would not change it.
Obstacle FindServiceObstacle(const PluginInput& input, const Wanted& wanted) {
  Obstacle obstacle = FindFileObstacle(input.facts, std::string(kSystemFile), input.cluster.name,
                                       input.cluster.former_name);
  if (!obstacle.empty()) return obstacle;
  const std::string why = ExplainLaterLimit(input.facts, wanted, kSystemFolder, kSystemFile);
  if (why.empty()) return {};
  return {.code = "memlock-later-dropin", .why = fmt::format("{}: {}", why, kAdvice)};
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto wanted = ReadWanted(input.cluster, input.node);
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
  const Observed<MemlockLimits> live = Answer(input.facts.memlock.service);
  const auto* before = Known(live);
  resources.push_back({.kind = "memlock",
                       .name = "service limit",
                       .node = input.node.name,
                       .desired = ResourceState(FormatBytes(GetWantedLimit(*wanted))),
                       .observed = AsState(DescribeLive(live)),
                       .apply = {reload},
                       .revert = {reload},
                       .interrupts = ListCutOffByReload(input.facts),
                       .label = before == nullptr
                                    ? ""
                                    : fmt::format("{} → {}", FormatLimits(*before, FormatLimit),
                                                  FormatLimit(GetWantedLimit(*wanted))),
                       .activates = std::string(kSystemFile),
                       .blocked = FindServiceObstacle(input, *wanted),
                       .where = where});
  return resources;
}

Diagnostic MakeLaterLimit(std::string_view whose, const std::string& why) {
  return {.severity = Severity::kWarns,
          .code = "memlock-later-dropin",
          .message = fmt::format("memlock of {}: {}", whose, why),
          .next_step = std::string(kAdvice),
          .subject = std::string(whose)};
}

// Then the change of the live limit is blocked, and names the drop-in.
bool DiffersLive(const PluginInput& input, const Wanted& wanted) {
  const Observed<std::string> described = DescribeLive(Answer(input.facts.memlock.service));
  const auto* live = Known(described);
  return live != nullptr && *live != FormatBytes(GetWantedLimit(wanted));
}

// Lines of others for logins and for services. Always said: while our file holds, they win over it.
std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto wanted = ReadWanted(input.cluster, input.node);
  if (!wanted) return {};
  std::vector<Diagnostic> diagnostics =
      DiagnoseLimitLines(input.facts, std::string(kPamFile), FormatPam(*wanted),
                         wanted->kib ? fmt::format("{}", *wanted->kib) : "unlimited",
                         ListLoginUsers(input.cluster, input.node));
  const std::string system = ExplainLaterLimit(input.facts, *wanted, kSystemFolder, kSystemFile);
  if (!system.empty() && !DiffersLive(input, *wanted)) {
    diagnostics.push_back(MakeLaterLimit("services", system));
  }
  const std::string user = ExplainLaterLimit(input.facts, *wanted, kUserFolder, kUserFile);
  if (!user.empty()) diagnostics.push_back(MakeLaterLimit("user services", user));
  for (Diagnostic& one : diagnostics) one.where = input.cluster.Mark(wanted->position);
  return diagnostics;
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  NameCutOffByReload(input.facts, change);
  return Ownership::kOurs;
}

}  // namespace

Plugin Get() {
  return {.name = "memlock",
          .after = {},
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .diagnose = Diagnose};
}

}  // namespace reconciler::plugins::memlock
