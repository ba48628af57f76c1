#include "plugins/qos/boot.h"

#include <fmt/format.h>

#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/systemctl/escape.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/common/systemctl/set_enabled.h"
#include "plugins/qos/reads.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::qos {
namespace {

constexpr int kReloadLimitS = 60;

std::vector<std::string> ListWords(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : Split(text, ' ');
}

std::string MakePath(const RailPort& port) { return "/sys/class/net/" + port.netdev; }

// A failure of one port is no reason to leave the others as they are.
void AddLines(const std::vector<RunCommand>& commands, std::string& text) {
  for (const RunCommand& command : commands) {
    text += fmt::format("ExecStart=-/usr/bin/env {}\n", Join(command.argv, " "));
  }
}

std::string FormatUnit(const Section& section, const QosFacts& facts,
                       const std::vector<RailPort>& ports) {
  std::string text = "[Unit]\nDescription=Traffic classes of the fabric's ports\n";
  for (const RailPort& port : ports) {
    const std::string device =
        fmt::format("sys-subsystem-net-devices-{}.device", EscapeForUnit(port.netdev));
    text += fmt::format("Wants={}\nAfter={}\n", device, device);
  }
  text += "[Service]\nType=oneshot\nRemainAfterExit=yes\nTimeoutStartSec=60\n";
  for (const RailPort& port : ports) {
    if (section.pfc && MayHave(facts.dcb))
      AddLines(ListPfcCommands(port.netdev, FormatPriorities(*section.pfc)), text);
    if (section.dscp && MayHave(facts.dcb))
      AddLines(ListDscpCommands(port.netdev, FormatMapping(*section.dscp)), text);
    if (section.tos && MayHave(facts.cma_roce_tos)) {
      AddLines({MakeTosCommand(port, facts, fmt::format("{}", *section.tos))}, text);
    }
  }
  return text + "[Install]\nWantedBy=multi-user.target\n";
}

}  // namespace

std::vector<RunCommand> ListPfcCommands(const std::string& netdev, const std::string& priorities) {
  RunCommand set{.argv = {"dcb", "pfc", "set", "dev", netdev, "prio-pfc", "all:off"}};
  for (const std::string& priority : ListWords(priorities)) set.argv.push_back(priority + ":on");
  return {set};
}

// `replace` keeps entries of other DSCPs, so that all go first. mlx5 trusts the DSCP of a packet as
// soon as one has a priority (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c of Linux).
std::vector<RunCommand> ListDscpCommands(const std::string& netdev, const std::string& mapping) {
  std::vector<RunCommand> commands = {
      {.argv = {"dcb", "app", "flush", "dev", netdev, "dscp-prio"}}};
  const std::vector<std::string> words = ListWords(mapping);
  if (words.empty()) return commands;
  RunCommand add{.argv = {"dcb", "app", "add", "dev", netdev, "dscp-prio"}};
  add.argv.insert(add.argv.end(), words.begin(), words.end());
  commands.push_back(std::move(add));
  return commands;
}

RunCommand MakeTosCommand(const RailPort& port, const QosFacts& facts, const std::string& tos) {
  return {.argv = {"cma_roce_tos", "-d", FindHcaName(port, facts), "-t", tos},
          .sets = MakePath(port)};
}

std::vector<Resource> MakeBootUnit(const Section& section, const PluginInput& input,
                                   const std::vector<RailPort>& ports) {
  const std::string path = fmt::format("/etc/systemd/system/{}", kUnitName);
  const RunCommand reload{.argv = {"systemctl", "daemon-reload"},
                          .time_limit_s = kReloadLimitS,
                          .id = "reload systemd"};
  Resource file{.kind = "file",
                .name = path,
                .node = input.node.name,
                .desired = ResourceState(FileState{
                    .content = FormatOwnedFile(input.cluster.name,
                                               FormatUnit(section, input.facts.qos, ports))}),
                .observed = AsState(FindFile(input.facts, path)),
                .triggers = {reload},
                .interrupts = ListCutOffByReload(input.facts),
                .where = input.cluster.Mark(section.position)};
  BlockUnlessOurs(file, input.cluster.name, input.cluster.former_name);
  const Observed<std::string> state = Answer(input.facts.qos.unit);
  const bool is_enabled = Known(state) != nullptr && *Known(state) == "enabled";
  Resource link{
      .kind = "unit",
      .name = kUnitName,
      .node = input.node.name,
      .desired = ResourceState("enabled"),
      .observed = AsState(state),
      .apply = {SetEnabled(kUnitName, true)},
      .revert = {SetEnabled(kUnitName, false)},
      .triggers = {reload},
      .prune_commands = PruneCommands{.before = {SetEnabled(kUnitName, false)}, .after = {reload}},
      .interrupts = is_enabled ? "" : ListCutOffByReload(input.facts),
      .blocked = FindFileObstacle(input.facts, path, input.cluster.name, input.cluster.former_name),
      .where = input.cluster.Mark(section.position)};
  return {std::move(file), std::move(link)};
}

}  // namespace reconciler::plugins::qos
