#include "plugins/nccl/wanted.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/nccl/gpu.h"
#include "plugins/nccl/leftovers/settings.h"
#include "plugins/nccl/library.h"
#include "plugins/nccl/needs.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kHcaFolder = "/sys/class/infiniband/";

tl::unexpected<Error> FailUnknown(std::string why) {
  return Fail({.kind = ErrorKind::kProbe, .message = std::move(why)});
}

std::string ExplainHcas(const Fabric& fabric, const NodeName& node) {
  // A cable beside a switch has HCAs too, which are no use for a collective of all nodes.
  const bool all = ListCollectivePorts(fabric, node).size() == fabric.ports.at(node).size();
  return fmt::format("the HCAs {}; '=' because names match by prefix",
                     all ? "that have a cable" : "whose network reaches every node");
}

// What the fabric needs, less what the node's library would ignore. Where the manifest brings the
// library, the one of before the apply decides nothing: an older one ignores the variable.
Result<void> AddNeeds(const Section& section, const PluginInput& input, Environment& environment) {
  const bool brings_library = section.build || !section.package_version.empty();
  const Observed<NcclLibrary> library = Answer(input.facts.nccl.library);
  if (const auto* unknown = std::get_if<Unknown>(&library);
      unknown != nullptr && !brings_library && CagesDiffer(input.fabric)) {
    return FailUnknown("cannot determine what libnccl knows: " + unknown->why);
  }
  const auto* known = brings_library ? nullptr : Known(library);
  for (EnvVariable& need : ListNeeds(input.cluster, input.fabric)) {
    // Ignored there; a finding says that the ring needs another library.
    if (need.name == kSubnetAware && known != nullptr && !known->Knows(need.name)) continue;
    environment.push_back(std::move(need));
  }
  return {};
}

// UCX gets the HCAs where one network reaches every node, and the interface for what is no RDMA.
// Among cables it would pair HCAs that share none.
std::string ListUcxDevices(const PluginInput& input, const std::string& netdev) {
  std::vector<std::string> devices;
  if (FindCommonRail(input.cluster, input.fabric) != nullptr) {
    for (const RailPort& port : ListCollectivePorts(input.fabric, input.node.name)) {
      devices.push_back(FindHcaName(port, input.facts) + ":1");  // a ConnectX has one port each
    }
  }
  devices.push_back(netdev);
  return Join(devices, ",");
}

bool HasInOwnFile(const NodeFacts& facts, const std::string& line) {
  const auto file = FindFile(facts, std::string(kServiceFile));
  const FileState* state = Known(file);
  if (state == nullptr) return false;
  const std::vector<std::string> lines = SplitLines(state->content);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// By which programs choose the interface `netdev`; each has its own variable.
Environment ListBootstrapVariables(const PluginInput& input, const std::string& netdev) {
  return {{"NCCL_SOCKET_IFNAME", "=" + netdev,
           "bootstrap only, over the network that reaches every node"},
          {"GLOO_SOCKET_IFNAME", netdev, "PyTorch's control traffic, likewise"},
          {"TP_SOCKET_IFNAME", netdev, "PyTorch's RPC, likewise"},
          {"OMPI_MCA_oob_tcp_if_include", netdev, "Open MPI's daemons, likewise"},
          {"OMPI_MCA_btl_tcp_if_include", netdev, "Open MPI's ranks over TCP, likewise"},
          {"UCX_NET_DEVICES", ListUcxDevices(input, netdev), "what UCX may use, also below MPI"}};
}

// Over which interface the nodes meet, for those programs that the manifest does not configure.
Result<void> AddBootstrap(const Section& section, const PluginInput& input,
                          Environment& environment) {
  const BootstrapChoice choice =
      ChooseBootstrap(input.cluster, input.fabric, input.facts, input.all);
  const std::string netdev = StaysOnFabric(input, choice) ? choice.if_on_wifi : choice.netdev;
  const bool is_named = section.FindVariable("NCCL_SOCKET_IFNAME") != nullptr;
  const Unknown* unknown = FindUnknown(input.facts.health.wireless);
  if (unknown != nullptr && !is_named && ReadBootstrap(input.cluster) == Bootstrap::kManagement) {
    return FailUnknown("cannot determine which interfaces are wireless: " + unknown->why);
  }
  if (netdev.empty() || !IsPlainValue(netdev)) {
    // The other programs then choose on their own, as they do without these variables.
    if (is_named) return {};
    return FailUnknown(
        fmt::format("cannot determine which interface the other nodes reach: none holds '{}': "
                    "write the node's IPv4 address there, or NCCL_SOCKET_IFNAME into nccl.env",
                    input.node.address));
  }
  for (EnvVariable& variable : ListBootstrapVariables(input, netdev)) {
    if (section.FindVariable(variable.name) == nullptr) environment.push_back(std::move(variable));
  }
  return {};
}

void AddManifest(const Section& section, Environment& environment) {
  for (const ManifestVariable& variable : section.env) {
    std::erase_if(environment, [&](const auto& one) { return one.name == variable.name; });
    environment.push_back({variable.name, variable.value, "required by the manifest"});
  }
}

}  // namespace

ReadValues MakeHcaProbe() { return {fmt::format("{}*/ports/1/gid_attrs/ndevs/0", kHcaFolder)}; }

void StoreHcas(const ProbeReply& reply, NodeFacts& facts) {
  for (const auto& [path, netdev] : reply.values) {
    if (!path.starts_with(kHcaFolder) || !path.ends_with("/gid_attrs/ndevs/0")) continue;
    const std::string hca =
        path.substr(kHcaFolder.size(), path.find('/', kHcaFolder.size()) - kHcaFolder.size());
    if (const auto* name = Known(netdev); name != nullptr && IsPlainValue(hca)) {
      facts.nccl.hcas[MakePrintable(*name)] = hca;
    }
  }
}

std::string FindHcaName(const RailPort& port, const NodeFacts& facts) {
  const auto named = facts.nccl.hcas.find(port.netdev);
  return named != facts.nccl.hcas.end() ? named->second : port.hca;
}

std::vector<std::string> ListHcas(const NodeFacts& facts) {
  std::vector<std::string> hcas;
  for (const auto& [netdev, hca] : facts.nccl.hcas) hcas.push_back(hca);
  return hcas;
}

bool StaysOnFabric(const PluginInput& input, const BootstrapChoice& choice) {
  return !choice.if_on_wifi.empty() &&
         HasInOwnFile(input.facts, "NCCL_SOCKET_IFNAME==" + choice.if_on_wifi);
}

Result<Environment> BuildWantedEnvironment(const Section& section, const PluginInput& input) {
  Environment environment;
  std::vector<std::string> hcas;
  for (const RailPort& port : ListCollectivePorts(input.fabric, input.node.name)) {
    hcas.push_back(FindHcaName(port, input.facts));
  }
  environment.push_back(
      {"NCCL_IB_HCA", "=" + Join(hcas, ","), ExplainHcas(input.fabric, input.node.name)});
  if (auto added = AddBootstrap(section, input, environment); !added) {
    return tl::unexpected(added.error());
  }
  const ModeDecision mode = DecideMode(section, input.cluster, input.facts, input.all);
  if (!mode.blocked.empty()) return FailUnknown(mode.blocked);
  environment.push_back({"NCCL_NET_GDR_LEVEL", mode.direct ? "SYS" : "LOC", mode.why});
  if (auto added = AddNeeds(section, input, environment); !added) {
    return tl::unexpected(added.error());
  }
  if (section.gid_index) {
    environment.push_back({"NCCL_IB_GID_INDEX", fmt::format("{}", *section.gid_index),
                           "required by the manifest; NCCL would find it for each HCA"});
  }
  AddManifest(section, environment);
  return environment;
}

}  // namespace reconciler::plugins::nccl
