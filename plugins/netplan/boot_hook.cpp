#include "plugins/netplan/boot_hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

struct Ours {
  std::vector<std::string> netdevs = {};
  int line = 0;  // the first that names one of them
};

Ours FindOurs(const BootHook& hook, const Intent& intent) {
  Ours ours;
  const auto add = [&](const std::string& netdev) {
    const auto found = hook.lines.find(netdev);
    if (found == hook.lines.end()) return;
    ours.line = ours.netdevs.empty() ? found->second : std::min(ours.line, found->second);
    ours.netdevs.push_back(netdev);
  };
  for (const RailPort& port : intent.ports) add(port.netdev);
  for (const std::string& netdev : intent.down) add(netdev);
  return ours;
}

std::string FormatEffect(std::string_view path, const std::string& ports) {
  constexpr std::string_view kLater = "at the next boot or re-plug";
  if (path.find("/udev/") != path.npos) {
    return fmt::format("is a rule of udev that renames or sets {} {}", ports, kLater);
  }
  if (path.find("/network/") != path.npos) {
    return fmt::format("has ifupdown configure {} at the next boot", ports);
  }
  const std::string_view runs = path.find("/networkd-dispatcher/") != path.npos
                                    ? "networkd-dispatcher"
                                    : "NetworkManager's dispatcher";
  return fmt::format("configures {} again when {} runs it, as {}", ports, runs, kLater);
}

// Whoever follows bad advice on what leads to the node locks himself out.
std::string Advise(const BootHook& hook, const std::string& ports, const Protection& protection) {
  if (!protection.unclear.empty()) return "leave it as it is: " + protection.unclear;
  for (const auto& [netdev, line] : hook.lines) {
    const auto carries = protection.carries.find(netdev);
    if (carries == protection.carries.end()) continue;
    return fmt::format("remove what it says of {} but leave {}, which {}, then plan again", ports,
                       netdev, carries->second);
  }
  return fmt::format("remove what it says of {}, or move the file away, then plan again", ports);
}

}  // namespace

std::vector<Diagnostic> DiagnoseBootHooks(const PluginInput& input, const Intent& intent) {
  std::vector<Diagnostic> diagnostics;
  for (const BootHook& hook : input.facts.network.boot_hooks) {
    const Ours ours = FindOurs(hook, intent);
    if (ours.netdevs.empty()) continue;
    const std::string ports = Join(ours.netdevs, ", ");
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "netplan-boot-hook",
         .message = fmt::format("{}:{} {}", hook.path, ours.line, FormatEffect(hook.path, ports)),
         .next_step = Advise(hook, ports, intent.protection),
         .subject = hook.path});
  }
  return diagnostics;
}

}  // namespace reconciler::plugins::netplan
