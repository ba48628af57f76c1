#include "reconciler/manifest/starter.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_scalar.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

constexpr std::size_t kFirstHost = 21;  // the last byte of the examples' addresses
constexpr std::string_view kExampleUser = "{user: nvidia,";
constexpr std::string_view kNode = "  - {name: spark-";

std::string_view FindExample(Topology topology) {
  switch (topology) {
    case Topology::kDirect:
      return FindEmbeddedManifest("pair");
    case Topology::kRing:
      return FindEmbeddedManifest("ring-3");
    case Topology::kSwitch:
    case Topology::kLeafSpine:
    case Topology::kLinks:
      break;
  }
  return FindEmbeddedManifest("switch-4");
}

constexpr std::string_view kPathOfSchema = "# yaml-language-server:";  // within this source tree

// The first comment of an example for a person.
std::string FindHead(std::string_view example) {
  for (const std::string& line : SplitLines(example)) {
    if (!line.starts_with(kPathOfSchema)) return line;
  }
  return {};
}

std::string FormatNodes(const Starter& starter) {
  std::string text;
  for (std::size_t i = 0; i < starter.nodes; ++i) {
    const std::string address = i < starter.addresses.size()
                                    ? starter.addresses[i]
                                    : fmt::format("192.168.1.{}", kFirstHost + i);
    const std::string user = i < starter.users.size() ? starter.users[i] : "";
    text +=
        fmt::format("{}{}, address: {}{}}}\n", kNode, i + 1, FormatScalar(address),
                    user.empty() ? "" : fmt::format(", access: {{user: {}}}", FormatScalar(user)));
  }
  return text;
}

// One line of an example as it stands in the manifest; the first node stands for all of them.
std::string AdaptLine(const Starter& starter, const std::string& line) {
  if (line.starts_with(kPathOfSchema)) return {};
  if (line == FindHead(FindExample(starter.topology))) {
    return FormatStarterHead(starter.topology, starter.nodes) + '\n';
  }
  if (line.starts_with(kNode)) {
    return line.starts_with(fmt::format("{}1,", kNode)) ? FormatNodes(starter) : "";
  }
  const std::size_t user = line.find(kExampleUser);
  if (user == std::string::npos) return line + '\n';
  return line.substr(0, user) + "{user: " + FormatScalar(starter.user) +
         line.substr(user + kExampleUser.size() - 1) + '\n';
}

}  // namespace

std::string ExplainBadStarter(const Starter& starter) {
  const auto wanted = [&](std::string_view what) {
    return fmt::format("wanted {}, found {}", what, starter.nodes);
  };
  if (starter.addresses.size() > starter.nodes) {
    return fmt::format("wanted at most {} addresses, one per node, found {}", starter.nodes,
                       starter.addresses.size());
  }
  switch (starter.topology) {
    case Topology::kDirect:
      return starter.nodes == 2 ? "" : wanted("2 nodes for one cable between them");
    case Topology::kRing:
      return starter.nodes == 3 ? "" : wanted("3 nodes for a ring without a switch");
    case Topology::kSwitch:
      return starter.nodes >= 2 && starter.nodes <= kMostStarterNodes
                 ? ""
                 : wanted(fmt::format("2 to {} nodes on a switch", kMostStarterNodes));
    case Topology::kLeafSpine:
    case Topology::kLinks:
      break;
  }
  return "wanted the topology direct, ring or switch: the others begin as one of manifests/";
}

std::string FormatStarterHead(Topology topology, std::size_t nodes) {
  return topology == Topology::kSwitch ? fmt::format("# {} DGX Sparks on a switch.", nodes)
                                       : FindHead(FindExample(topology));
}

bool IsStarterHead(std::string_view line, Topology topology, std::size_t nodes) {
  switch (topology) {
    case Topology::kDirect:
    case Topology::kRing:
      return line == FormatStarterHead(topology, nodes);
    case Topology::kSwitch:
      return line == FormatStarterHead(topology, nodes) ||
             line == FindHead(FindEmbeddedManifest(fmt::format("switch-{}", nodes)));
    case Topology::kLeafSpine:
    case Topology::kLinks:
      break;
  }
  return false;
}

std::string FormatStarter(const Starter& starter) {
  std::string text;
  for (const std::string& line : SplitLines(FindExample(starter.topology))) {
    text += AdaptLine(starter, line);
  }
  return text;
}

}  // namespace reconciler
