#include "plugins/facts/rdma/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/lines.h"
#include "plugins/common/gpu/nvidia_driver.h"
#include "reconciler/base/json/text_member.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::rdma {
namespace {

using Json = nlohmann::json;

constexpr const char* kFirewall = "rdma.firewall";
constexpr const char* kOfedFile = "/sys/module/mlx5_core/version";
constexpr std::string_view kUfw = "ENABLED=";
constexpr std::string_view kMemoryFile = "/proc/meminfo:";
constexpr std::string_view kModulesFile = "/proc/modules:";
constexpr std::string_view kUfwFile = "/etc/ufw/ufw.conf:";
constexpr std::string_view kUfwProgram = "/usr/sbin/ufw:";

bool ConsumePrefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

// "CmaTotal:        0 kB" → "0 kB"
std::string_view ReadValueAfter(std::string_view line, std::string_view key) {
  return Trim(line.substr(key.size()));
}

// "940604 kB"
std::optional<std::int64_t> ParseKib(std::string_view text) {
  const auto number = ConsumeNumber<std::int64_t>(text);
  return number && *number >= 0 && text == " kB" ? number : std::nullopt;
}

Observed<CmaMemory> ParseCma(const std::string& total, const std::string& free) {
  if (total.empty() || free.empty()) return Absent{};
  const auto total_kib = ParseKib(total);
  const auto free_kib = ParseKib(free);
  if (!total_kib || !free_kib) {
    return Unknown{
        fmt::format("/proc/meminfo: wanted numbers in kB, found CmaTotal '{}', CmaFree '{}'",
                    MakePrintable(total), MakePrintable(free))};
  }
  return CmaMemory{*total_kib, *free_kib};
}

// grep ends with 1 where nothing fits, and with 2 where something is not there. What else ended it
// may have left lines out.
void StoreLines(const CommandReply& grep, NodeFacts& facts) {
  if (grep.exit_code > 2) {
    const Unknown unknown = ExplainFailure(grep, "grep", kLinesLimitS);
    facts.rdma.cma = unknown;
    facts.rdma.modules = unknown;
    facts.rdma.ufw = unknown;
    return;
  }
  constexpr std::string_view kTotal = "CmaTotal:";
  constexpr std::string_view kFree = "CmaFree:";
  std::string total;
  std::string free;
  std::vector<std::string> modules;
  Observed<bool> ufw = Absent{};
  bool has_ufw = false;  // its files outlive it
  for (const std::string& one : SplitLines(grep.out)) {
    std::string_view line = one;
    if (ConsumePrefix(line, kMemoryFile)) {
      if (line.starts_with(kTotal)) total = ReadValueAfter(line, kTotal);
      if (line.starts_with(kFree)) free = ReadValueAfter(line, kFree);
    } else if (ConsumePrefix(line, kUfwFile)) {
      if (line.starts_with(kUfw)) ufw = ReadValueAfter(line, kUfw) == "yes";
    } else if (ConsumePrefix(line, kUfwProgram)) {
      has_ufw = true;
    } else if (ConsumePrefix(line, kModulesFile)) {
      modules.push_back(MakePrintable(line.substr(0, line.find(' '))));
    }
  }
  std::sort(modules.begin(), modules.end());
  facts.rdma.cma = ParseCma(total, free);
  facts.rdma.modules = std::move(modules);
  facts.rdma.ufw = has_ufw ? ufw : Absent{};
}

std::string ReadPrintable(const Json& object, const char* key) {
  return MakePrintable(ReadTextMember(object, key));
}

Observed<std::vector<FirewallChain>> ParseFirewall(const CommandReply& reply) {
  if (reply.exit_code != 0) return ExplainFailure(reply, "nft");
  const Json document = Json::parse(reply.out, nullptr, /*allow_exceptions=*/false);
  const auto list = document.is_object() ? document.find("nftables") : document.end();
  if (list == document.end() || !list->is_array()) {
    return Unknown{"nft printed something other than JSON"};
  }
  std::vector<FirewallChain> chains;
  for (const Json& entry : *list) {
    const auto chain = entry.is_object() ? entry.find("chain") : entry.end();
    if (chain == entry.end() || !chain->is_object() || ReadPrintable(*chain, "hook") != "input")
      continue;
    chains.push_back({.family = ReadPrintable(*chain, "family"),
                      .table = ReadPrintable(*chain, "table"),
                      .name = ReadPrintable(*chain, "name"),
                      .policy = ReadPrintable(*chain, "policy")});
  }
  if (chains.empty()) return Absent{};
  std::sort(chains.begin(), chains.end());
  return chains;
}

}  // namespace

std::vector<Read> ListSystemReads(bool deep) {
  std::vector<Read> reads = {ReadValue{kOfedFile}, ReadValue{kDriverFile}, MakeLinesProbe()};
  if (deep) reads.push_back(RunProbe{.id = kFirewall, .argv = {"nft", "-j", "list", "chains"}});
  return reads;
}

void StoreSystem(const ProbeReply& reply, NodeFacts& facts) {
  if (const auto lines = reply.commands.find(kLines); lines != reply.commands.end()) {
    StoreLines(lines->second, facts);
  }
  if (const auto ofed = reply.values.find(kOfedFile); ofed != reply.values.end()) {
    const std::string* version = Known(ofed->second);
    facts.rdma.ofed =
        version != nullptr ? Observed<std::string>(MakePrintable(Trim(*version))) : ofed->second;
  }
  if (const auto driver = reply.values.find(kDriverFile); driver != reply.values.end()) {
    facts.gpudirect.driver = ParseNvidiaDriver(driver->second);
  }
  if (const auto firewall = reply.commands.find(kFirewall); firewall != reply.commands.end()) {
    facts.rdma.firewall = ParseFirewall(firewall->second);
  }
}

}  // namespace reconciler::plugins::rdma
