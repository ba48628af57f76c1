#include "plugins/qos/qos.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/ownership/state.h"
#include "plugins/common/packages/coming.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/common/systemctl/set_back_unit.h"
#include "plugins/qos/boot.h"
#include "plugins/qos/reads.h"
#include "plugins/qos/section.h"

namespace reconciler::plugins::qos {
namespace {

std::vector<RailPort> ListPorts(const Fabric& fabric, const NodeName& node) {
  const auto found = fabric.ports.find(node);
  return found == fabric.ports.end() ? std::vector<RailPort>() : found->second;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  const std::vector<RailPort> ports = ListPorts(fabric, node.name);
  if (!ReadSection(cluster) || ports.empty()) return {};
  return {MakeQosProbe(ports), ReadFile{fmt::format("/etc/systemd/system/{}", kUnitName)},
          MakeGpuContainerProbe()};
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  StoreQos(reply, facts);
  StoreGpuContainers(reply, facts);
}

std::vector<Action> AsActions(std::vector<RunCommand> commands, const RailPort& port,
                              bool is_revert) {
  std::vector<Action> actions;
  for (RunCommand& command : commands) {
    command.sets = "/sys/class/net/" + port.netdev;
    command.must_succeed = is_revert;
    actions.emplace_back(std::move(command));
  }
  return actions;
}

// A setting whose program was not read is kept and blocked: it may be there. Absent: it is not.
Observed<std::string> ReadWith(const Fact<bool>& tool, const Fact<std::string>& setting) {
  if (!MayHave(tool)) return Absent{};
  const Unknown* unknown = FindUnknown(tool);
  return unknown == nullptr ? Answer(setting) : Observed<std::string>(*unknown);
}

// Packages of the same apply that bring the program which sets the ToS; empty: it is there, or none
// brings it.
std::vector<std::string> ListPackagesForTos(const Section& section, const NodeFacts& facts) {
  if (!section.tos || MayHave(facts.qos.cma_roce_tos)) return {};
  return ListPackagesThatBring(facts, [](const std::string& name) { return name == "mlnx-tools"; });
}

class Maker {
 public:
  Maker(const Section& section, const PluginInput& input)
      : section_(section), input_(input), for_tos_(ListPackagesForTos(section, input.facts)) {}

  std::vector<Resource> Run() {
    const std::vector<RailPort> ports = ListPorts(input_.fabric, input_.node.name);
    for (const RailPort& port : ports) AddPort(port);
    if (resources_.empty()) return {};
    std::vector<Resource> all = MakeBootUnit(section_, input_, ports);
    SetNeeds(all);
    // What the unit sets, and whether it is there, is decided with the program.
    if (!for_tos_.empty()) {
      for (Resource& one : all) DeferUntilInstalled("the unit", for_tos_, one);
    }
    for (Resource& one : resources_) all.push_back(std::move(one));
    return all;
  }

 private:
  // The unit is of no use where nothing can be set.
  void SetNeeds(std::vector<Resource>& unit) const {
    if (std::any_of(resources_.begin(), resources_.end(), CanBeSet)) return;
    const auto first = std::find_if(resources_.begin(), resources_.end(), HasProgram);
    for (Resource& one : unit) {
      if (first == resources_.end()) one.left_as_is = true;
      if (first != resources_.end()) one.needs = {first->Id()};
    }
  }

  // Now: packages of the same apply may bring one.
  static bool HasProgram(const Resource& resource) {
    return !resource.left_as_is && !std::holds_alternative<KnownAfterApply>(resource.desired);
  }

  static bool CanBeSet(const Resource& resource) {
    return HasProgram(resource) && !std::holds_alternative<Unknown>(resource.observed) &&
           !std::holds_alternative<Unsupported>(resource.observed);
  }

  void AddPort(const RailPort& port) {
    const QosFacts& qos = input_.facts.qos;
    const auto found = qos.ports.find(port.netdev);
    const QosPort now = found == qos.ports.end() ? QosPort() : found->second;
    if (section_.pfc) {
      Add(port, "flow control of " + port.netdev, FormatPriorities(*section_.pfc),
          ReadWith(qos.dcb, now.pfc),
          [&](const std::string& state) { return ListPfcCommands(port.netdev, state); });
    }
    if (section_.dscp) {
      Add(port, "DSCP of " + port.netdev, FormatMapping(*section_.dscp),
          ReadWith(qos.dcb, now.dscp),
          [&](const std::string& state) { return ListDscpCommands(port.netdev, state); });
    }
    if (section_.tos) {
      Add(port, "ToS of " + FindHcaName(port, qos), fmt::format("{}", *section_.tos),
          ReadWith(qos.cma_roce_tos, now.tos), [&](const std::string& state) {
            return std::vector<RunCommand>{MakeTosCommand(port, qos, state)};
          });
      if (!for_tos_.empty()) DeferUntilInstalled("the ToS", for_tos_, resources_.back());
    }
  }

  template <class ListCommands>
  void Add(const RailPort& port, std::string name, const std::string& wanted,
           const Observed<std::string>& now, ListCommands list_commands) {
    Resource resource{.kind = "qos",
                      .name = std::move(name),
                      .node = input_.node.name,
                      .desired = ResourceState(wanted),
                      .observed = AsState(now),
                      .apply = AsActions(list_commands(wanted), port, false),
                      .left_as_is = std::holds_alternative<Absent>(now),
                      .where = input_.cluster.Mark(section_.position)};
    if (const std::string* before = Known(now)) {
      resource.revert = AsActions(list_commands(*before), port, true);
    }
    resources_.push_back(std::move(resource));
  }

  const Section& section_;
  const PluginInput& input_;
  std::vector<std::string> for_tos_;  // ids of packages
  std::vector<Resource> resources_ = {};
};

std::vector<Resource> Resources(const PluginInput& input) {
  const auto section = ReadSection(input.cluster);
  if (!section) return {};
  return Maker(*section, input).Run();
}

// What the manifest wants and no program on the node can set.
std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto section = ReadSection(input.cluster);
  if (!section || ListPorts(input.fabric, input.node.name).empty()) return {};
  const SourceMark where = input.cluster.Mark(section->position);
  const QosFacts& facts = input.facts.qos;
  std::vector<Diagnostic> found;
  if ((section->pfc || section->dscp) && !MayHave(facts.dcb)) {
    found.push_back({.severity = Severity::kWarns,
                     .code = "qos-no-dcb",
                     .message = "qos: `pfc` and `dscp` are not set: dcb is not installed",
                     .next_step = "install iproute2 5.11 or later, which has it",
                     .where = where,
                     .subject = "dcb"});
  }
  if (section->tos && !MayHave(facts.cma_roce_tos) &&
      ListPackagesForTos(*section, input.facts).empty()) {
    found.push_back({.severity = Severity::kWarns,
                     .code = "qos-no-cma-roce-tos",
                     .message = "qos: `tos` is not set: cma_roce_tos is not installed",
                     .next_step =
                         "install mlnx-tools, which has it; NCCL itself takes the byte from "
                         "NCCL_IB_TC",
                     .where = where,
                     .subject = "cma_roce_tos"});
  }
  return found;
}

// The program that sets it back, where that is known to be absent.
std::string FindAbsentProgram(const QosFacts& facts, const Change& change) {
  if (change.kind != "qos" || change.triggers.empty()) return "";
  const std::string& program = change.triggers.front().argv.front();
  return MayHave(program == "dcb" ? facts.dcb : facts.cma_roce_tos) ? "" : program;
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  const std::string absent = FindAbsentProgram(input.facts.qos, change);
  if (!absent.empty()) {
    change.detail = fmt::format(
        "qos: what {} set stays until the node restarts: it is not installed any more", absent);
    return Ownership::kNoOnes;
  }
  SkipUnitsThatAreGone(change);
  NameCutOffByReload(input.facts, change);
  return Ownership::kOurs;
}

}  // namespace

Plugin Get() {
  return {.name = "qos",
          // A port that netplan sets up may lose what was set before; packages may bring programs.
          .after = {"netplan", "packages"},
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = CheckQos,
          .diagnose = Diagnose};
}

}  // namespace reconciler::plugins::qos
