#include "plugins/etc_hosts/etc_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/links.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/aliases.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::hosts {
namespace {

constexpr std::string_view kFile = "/etc/hosts";
constexpr std::string_view kTopic = "hosts";

bool IsManaged(const ClusterSpec& cluster) {
  const Value* manage = cluster.settings.At({"hosts", "manage"});
  const bool* flag = manage != nullptr ? manage->AsBool() : nullptr;
  return flag == nullptr || *flag;
}

// The ports that `node` reaches without a router, its own included, by rail and then by host
// number. Pointers: on a switch every node reaches every port, so that all plans together look at
// each port once per node.
std::vector<const RailPort*> ListReachable(const Fabric& fabric, const NodeName& node) {
  std::vector<const RailPort*> ports;
  const auto own = fabric.ports.find(node);
  if (own == fabric.ports.end()) return ports;
  for (const RailPort& mine : own->second) {
    for (const Segment& segment : fabric.segments) {
      // No file can name an address that a node has yet to choose.
      if (segment.rail != mine.rail || IsLinkLocal(segment)) continue;
      for (const RailPort& port : segment.ports) ports.push_back(&port);
    }
  }
  const auto before = [](const RailPort* a, const RailPort* b) {
    return std::tie(a->rail, a->address, a->node) < std::tie(b->rail, b->address, b->node);
  };
  if (!std::is_sorted(ports.begin(), ports.end(), before)) {
    std::sort(ports.begin(), ports.end(), before);
  }
  return ports;
}

using Aliases = std::map<NodeName, std::vector<std::string>>;

// Aliases of nodes that share no rail with the reader stand for their management addresses.
std::string FormatManagementAliases(const ClusterSpec& cluster, const Aliases& aliases) {
  std::string lines;
  for (const auto& [name, own] : aliases) {
    const NodeSpec* node = cluster.FindNode(name);
    if (node == nullptr || !ParseIpv4(node->address)) continue;
    lines += fmt::format("{} {}\n", node->address, Join(own, " "));
  }
  return lines;
}

// As ToString does, with a blank behind it, and without a string for each: in a large cluster the
// lines are most of a plan.
void AppendAddress(Ipv4Address address, std::string& text) {
  std::array<char, 16> buffer;
  char* at = buffer.data();
  for (int shift = 24; shift >= 0; shift -= 8) {
    at = std::to_chars(at, buffer.data() + buffer.size(), (address.bits >> shift) & 255u).ptr;
    *at++ = shift > 0 ? '.' : ' ';
  }
  text.append(buffer.data(), at);
}

std::string FormatLines(const ClusterSpec& cluster, const Fabric& fabric, const NodeName& node) {
  Aliases aliases = ReadAliases(cluster);  // those that have no line yet
  std::string lines;
  int rail = -1;
  std::string suffix;  // of every name on that rail
  for (const RailPort* port : ListReachable(fabric, node)) {
    if (port->rail != rail) suffix = FormatRailHostName("", rail = port->rail);
    AppendAddress(port->address.address, lines);
    lines += port->node;
    lines += suffix;
    if (const auto own = aliases.empty() ? aliases.end() : aliases.find(port->node);
        own != aliases.end()) {
      lines += ' ' + Join(own->second, " ");
      aliases.erase(own);
    }
    lines += '\n';
  }
  return lines + FormatManagementAliases(cluster, aliases);
}

struct HostsLine {
  int number = 0;  // from 1
  std::string address = {};
  std::vector<std::string> names = {};
};

std::optional<HostsLine> ParseLine(std::string line, int number) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::vector<std::string> words = Split(line.substr(0, line.find('#')), ' ');
  std::erase(words, "");
  if (words.size() < 2) return std::nullopt;
  return HostsLine{
      .number = number, .address = words.front(), .names = {words.begin() + 1, words.end()}};
}

std::vector<HostsLine> ParseLines(std::string_view content) {
  std::vector<HostsLine> lines;
  int number = 0;
  for (const std::string& line : SplitLines(content)) {
    ++number;
    if (auto parsed = ParseLine(line, number)) lines.push_back(std::move(*parsed));
  }
  return lines;
}

// Programs use the first line with a name, or all of them in turn; names have no case.
const HostsLine* FindOtherAddress(const std::vector<HostsLine>& lines, const std::string& name,
                                  const std::string& address) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const HostsLine& line) {
    return line.address != address &&
           std::any_of(line.names.begin(), line.names.end(),
                       [&](const std::string& one) { return ToLower(one) == ToLower(name); });
  });
  return found != lines.end() ? &*found : nullptr;
}

// Whether one of the names may be of our lines, which are of every node and long to make.
bool MayHoldOurs(const ClusterSpec& cluster, const std::vector<HostsLine>& above) {
  std::set<std::string> aliases;
  for (const auto& [node, names] : ReadAliases(cluster)) {
    for (const std::string& name : names) aliases.insert(ToLower(name));
  }
  // Without its number it is the end of every name of a rail.
  const std::string rail = FormatRailHostName("", 0);
  const std::string_view suffix = std::string_view(rail).substr(0, rail.size() - 1);
  return std::any_of(above.begin(), above.end(), [&](const HostsLine& line) {
    return std::any_of(line.names.begin(), line.names.end(), [&](const std::string& name) {
      const std::string lower = ToLower(name);
      return lower.find(suffix) != std::string::npos || aliases.contains(lower);
    });
  });
}

// The first line of cloud-init's template for `manage_etc_hosts: true`. Another value adds lines
// and leaves ours.
bool IsWrittenAtBoot(const std::string& content) {
  const std::vector<std::string> lines = SplitLines(content);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("#") && line.find("'manage_etc_hosts' as True") != std::string::npos;
  });
}

// Said also while our block holds: whoever uses these names goes elsewhere.
std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  if (!IsManaged(input.cluster)) return {};
  const Observed<FileState> observed = FindFile(input.facts, std::string(kFile));
  const auto* file = Known(observed);
  if (file == nullptr) return {};
  const std::vector<HostsLine> above =
      ParseLines(ReadAboveBlock(file->content, input.cluster.name, kTopic));
  std::vector<Diagnostic> diagnostics;
  if (IsWrittenAtBoot(file->content)) {
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "etc_hosts-written-at-boot",
         .message = fmt::format("cloud-init writes {} at each boot, and removes our lines", kFile),
         .next_step =
             "write `manage_etc_hosts: false` into a file of /etc/cloud/cloud.cfg.d on the "
             "node, or `hosts: {manage: false}` into the manifest",
         .where = input.cluster.Mark(input.cluster.fabric.position),
         .subject = std::string(kFile)});
  }
  if (!MayHoldOurs(input.cluster, above)) return diagnostics;
  const std::string lines = FormatLines(input.cluster, input.fabric, input.node.name);
  for (const HostsLine& ours : ParseLines(lines)) {
    for (const std::string& name : ours.names) {
      const HostsLine* line = FindOtherAddress(above, name, ours.address);
      if (line == nullptr) continue;
      diagnostics.push_back(
          {.severity = Severity::kWarns,
           .code = "etc_hosts-foreign-line",
           .message = fmt::format("{}:{} is above our lines, and gives {} the address {} before {}",
                                  kFile, line->number, name, line->address, ours.address),
           .next_step = fmt::format("remove {} from that line", name),
           .where = input.cluster.Mark(input.cluster.fabric.position),
           .subject = name});
    }
  }
  return diagnostics;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec&) {
  if (!IsManaged(cluster)) return {};
  return {ReadFile{std::string(kFile)}};
}

std::vector<Resource> Resources(const PluginInput& input) {
  if (!IsManaged(input.cluster)) return {};
  const std::string lines = FormatLines(input.cluster, input.fabric, input.node.name);
  const Observed<FileState> observed = FindFile(input.facts, std::string(kFile));
  const auto* before = Known(observed);
  if (lines.empty() && before == nullptr) return {};
  FileState after = before != nullptr ? *before : FileState{};
  if (const std::string& former = input.cluster.former_name; !former.empty()) {
    after.content = SetBlock(after.content, former, kTopic, "");
  }
  after.content = SetBlock(after.content, input.cluster.name, kTopic, lines);
  std::vector<std::string> needs;  // our lines are one block: all of them, or none
  if (!lines.empty()) needs = ListLinkIds(input.fabric, input.node.name);
  return {{.kind = "file",
           .name = std::string(kFile),
           .node = input.node.name,
           .desired = ResourceState(std::move(after)),
           .observed = AsState(observed),
           .needs = std::move(needs),
           .where = input.cluster.Mark(input.cluster.fabric.position)}};
}

FoundSetting FindSetting(const PluginInput& input) {
  FoundSetting found{
      .setting = "hosts.manage",
      .difference = "/etc/hosts does not have all names of the rails; the manifest writes them"};
  const Observed<FileState> observed = FindFile(input.facts, std::string(kFile));
  const auto* file = Known(observed);
  const std::string content = file == nullptr ? "" : file->content;
  found.ours = found.is_complete = HasBlock(content);
  const std::vector<std::string> lines = SplitLines(content);
  for (const std::string& line :
       SplitLines(FormatLines(input.cluster, input.fabric, input.node.name))) {
    found.others |=
        !found.ours && content.find(line.substr(line.find(' ') + 1)) != std::string::npos;
    found.is_complete &= std::find(lines.begin(), lines.end(), line) != lines.end();
  }
  return found;
}

}  // namespace

Plugin Get() {
  return {.name = "hosts",
          .probe = Probe,
          .resources = Resources,
          .diagnose = Diagnose,
          .find_setting = FindSetting};
}

}  // namespace reconciler::plugins::hosts
