#include "plugins/netplan/activation.h"

#include <fmt/format.h>

#include <set>

#include "plugins/netplan/adopt/ipv6_off.h"
#include "plugins/netplan/adopt/paths.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kScratch = "/run/spark-reconcile/netplan";
constexpr std::string_view kNetworkd = "/run/systemd/network";
constexpr std::string_view kNetworkManager = "/run/NetworkManager/system-connections";
// Which ports NetworkManager leaves alone, for all ports in one file.
constexpr std::string_view kUdevRules = "/run/udev/rules.d/90-netplan.rules";
constexpr int kNetplanLimitS = 60;  // Python on a busy machine
// A port that starts again may take ten seconds to get its link, and a busy machine stands still
// for as long.
constexpr const char* kNmcliWaitS = "45";
constexpr int kActivateLimitS = 60;

std::string NameLinkFile(const std::string& netdev) {
  return fmt::format("10-netplan-{}.link", netdev);
}

std::string NameGeneratedFile(Renderer renderer, const std::string& netdev) {
  switch (renderer) {
    case Renderer::kNetworkd:
      return fmt::format("{}/10-netplan-{}.network", kNetworkd, netdev);
    case Renderer::kNetworkManager:
      return fmt::format("{}/netplan-{}.nmconnection", kNetworkManager, netdev);
  }
  return {};
}

std::vector<std::string> ListGeneratedFiles(Renderer renderer,
                                            const std::vector<std::string>& ours) {
  std::vector<std::string> files;
  for (const std::string& netdev : ours) {
    files.push_back(NameGeneratedFile(renderer, netdev));
    if (renderer == Renderer::kNetworkd) {
      files.push_back(fmt::format("{}/{}", kNetworkd, NameLinkFile(netdev)));
    }
  }
  return files;
}

std::vector<std::string> ListMasterFiles(Renderer renderer,
                                         const std::vector<std::string>& masters) {
  std::vector<std::string> files;
  for (const std::string& master : masters) {
    files.push_back(NameGeneratedFile(renderer, master));
    if (renderer == Renderer::kNetworkd) {
      files.push_back(fmt::format("{}/10-netplan-{}.netdev", kNetworkd, master));
    }
  }
  return files;
}

std::vector<std::string> ListAllGenerated(Renderer renderer, const std::vector<std::string>& ours,
                                          const std::vector<std::string>& masters) {
  std::vector<std::string> files = ListGeneratedFiles(renderer, ours);
  for (std::string& file : ListMasterFiles(renderer, masters)) files.push_back(std::move(file));
  return files;
}

// Its file must be there; one for udev (NameLinkFile) is made where a port needs it.
RunCommand CheckGenerated(Renderer renderer, const std::vector<std::string>& ours,
                          const std::vector<std::string>& masters) {
  RunCommand command{.argv = {"stat", "--format=%A %U:%G %n", "--"}};
  for (const std::string& netdev : ours) {
    command.argv.push_back(std::string(kScratch) + NameGeneratedFile(renderer, netdev));
  }
  for (const std::string& file : ListMasterFiles(renderer, masters)) {
    command.argv.push_back(std::string(kScratch) + file);
  }
  return command;
}

// What is installed of the files that `found` fits. Since netplan 1.1 those of a port are 0640, and
// systemd-network's where they are networkd's.
struct Permissions {
  std::vector<std::string> found = {};  // as find wants them; empty: whatever they are
  std::string mode = {};
  std::string group = {};
};

// A file gets the first of these that fits it; the last one fits all.
std::vector<Permissions> ListPermissions(Renderer renderer) {
  switch (renderer) {
    case Renderer::kNetworkd:
      return {{{"-perm", "0640", "-group", "systemd-network"}, "0640", "systemd-network"},
              {{"-perm", "0640"}, "0640", "root"},
              {{}, "0644", "root"}};
    case Renderer::kNetworkManager:
      return {{{}, "0600", "root"}};
  }
  return {};
}

// To `folder`, with the permissions: another mode than that of the next boot would be a change
// then. `find`: which files. --compare leaves a file alone that is as it should be: networkd takes
// a new inode for a change.
RunCommand CarryOver(std::vector<std::string> find, const std::vector<Permissions>& permissions,
                     const std::string& folder) {
  RunCommand command{.argv = std::move(find)};
  command.argv.emplace_back("(");
  for (const Permissions& one : permissions) {
    if (&one != &permissions.front()) command.argv.emplace_back("-o");
    command.argv.insert(command.argv.end(), one.found.begin(), one.found.end());
    command.argv.insert(command.argv.end(), {"-exec", "install", "--compare", "-D", "-m", one.mode,
                                             "-g", one.group, "-t", folder, "--", "{}", "+"});
  }
  command.argv.emplace_back(")");
  return command;
}

// All that netplan made for these ports.
RunCommand CarryPortsOver(Renderer renderer, const std::vector<std::string>& files) {
  const std::string folder(renderer == Renderer::kNetworkd ? kNetworkd : kNetworkManager);
  std::vector<std::string> find = {"find", std::string(kScratch) + folder, "(", "-false"};
  for (const std::string& file : files) {
    find.insert(find.end(), {"-o", "-name", file.substr(file.rfind('/') + 1)});
  }
  find.emplace_back(")");
  return CarryOver(std::move(find), ListPermissions(renderer), folder);
}

// Where netplan made them: 0.106 makes none for a port of networkd.
RunCommand CarryRulesOver() {
  return CarryOver(
      {"find", fmt::format("{}/run", kScratch), "-path", fmt::format("{}{}", kScratch, kUdevRules)},
      {{{"-perm", "0640"}, "0640", "root"}, {{}, "0644", "root"}},
      std::string(kUdevRules.substr(0, kUdevRules.rfind('/'))));
}

// nmcli fails where the profile is not active, or cannot be, as without a cable; find does not.
std::vector<std::string> OnlyWhereGenerated(const std::string& netdev,
                                            const std::vector<std::string>& argv) {
  std::vector<std::string> found = {
      "find", "/run",  "-maxdepth",
      "3",    "-path", NameGeneratedFile(Renderer::kNetworkManager, netdev),
      "-exec"};
  found.insert(found.end(), argv.begin(), argv.end());
  found.emplace_back(";");
  return found;
}

std::string NameInSys(const std::string& netdev) { return "/sys/class/net/" + netdev; }

// `files`: those that were generated.
RunCommand Reload(Renderer renderer, const std::vector<std::string>& files) {
  if (renderer == Renderer::kNetworkd) {
    return {
        .argv = {"networkctl", "reload"}, .time_limit_s = kActivateLimitS, .without_reload = true};
  }
  RunCommand command{.argv = {"nmcli", "connection", "load"}, .time_limit_s = kActivateLimitS};
  command.argv.insert(command.argv.end(), files.begin(), files.end());
  return command;
}

}  // namespace

std::vector<RunCommand> Regenerate(Renderer renderer, const std::vector<std::string>& foreign_files,
                                   const std::vector<std::string>& ours,
                                   const std::vector<std::string>& masters) {
  const std::string scratch(kScratch);
  // Whole folders: a file of ours may be on trial in /run or wait in /etc, or be gone.
  RunCommand copy{.argv = {"cp", "-rp", "--parents", "-t", scratch, "--"}};
  for (const std::string& file : foreign_files) {
    if (!file.starts_with("/etc/") && !file.starts_with("/run/")) copy.argv.push_back(file);
  }
  copy.argv.insert(copy.argv.end(), {"/etc/netplan", "/run/netplan"});
  const std::vector<std::string> files = ListAllGenerated(renderer, ours, masters);
  std::vector<RunCommand> commands = {
      {.argv = {"rm", "-rf", scratch}},
      {.argv = {"mkdir", "-p", "-m", "0700", scratch}},
      {.argv = {"mkdir", "-p", "-m", "0755", "/etc/netplan", "/run/netplan"}},
      copy,
      // Otherwise netplan makes systemd reload its units since 1.0, even for another root, and a
      // container may lose its GPU by that.
      {.argv = {"env", "SYSTEMD_OFFLINE=1", "netplan", "generate", "--root-dir", scratch},
       .time_limit_s = kNetplanLimitS},
      {.argv = {"rmdir", "--ignore-fail-on-non-empty", "/run/netplan"}},  // where nothing is tried
      CheckGenerated(renderer, ours, masters),
      CarryPortsOver(renderer, files),
      CarryRulesOver(),
      {.argv = {"rm", "-r", scratch}},  // the copy may hold Wi-Fi passwords
  };
  std::vector<std::string> makes = files;
  makes.emplace_back(kUdevRules);
  for (RunCommand& command : commands) {
    command.makes = makes;
    command.without_reload = true;
  }
  commands.push_back(Reload(renderer, files));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    commands[i].id = fmt::format("regenerate the network, step {}", i + 1);
  }
  return commands;
}

RunCommand RemoveGenerated(Renderer renderer, const std::vector<std::string>& ours) {
  RunCommand remove{.argv = {"rm", "-f", "--"},
                    .makes = ListGeneratedFiles(renderer, ours),
                    .without_reload = true};
  remove.argv.insert(remove.argv.end(), remove.makes.begin(), remove.makes.end());
  return remove;
}

RunCommand RemoveGeneratedMasters(Renderer renderer, const std::vector<std::string>& masters) {
  RunCommand remove{.argv = {"rm", "-f", "--"},
                    .makes = ListMasterFiles(renderer, masters),
                    .without_reload = true};
  remove.argv.insert(remove.argv.end(), remove.makes.begin(), remove.makes.end());
  return remove;
}

RunCommand Dissolve(const std::string& master) {
  return {.argv = {"ip", "link", "delete", "dev", master}, .sets = NameInSys(master)};
}

RunCommand DropMaster(const std::string& master) {
  return {.argv = {"nmcli", "connection", "reload"},
          .time_limit_s = kActivateLimitS,
          .sets = NameInSys(master)};
}

RunCommand TakeDown(const std::string& netdev) {
  return {.argv = OnlyWhereGenerated(netdev, {"nmcli", "--wait", kNmcliWaitS, "connection", "down",
                                              "id", "netplan-" + netdev}),
          .time_limit_s = kActivateLimitS};
}

RunCommand BringUp(Renderer renderer, const std::string& netdev) {
  RunCommand command = Reconfigure(renderer, netdev);
  if (renderer == Renderer::kNetworkManager) {
    command.argv = OnlyWhereGenerated(netdev, command.argv);
  }
  command.sets = NameInSys(netdev);
  return command;
}

std::vector<RunCommand> ActivateAgain(Renderer renderer,
                                      const std::vector<std::string>& foreign_files,
                                      const std::vector<std::string>& netdevs,
                                      const std::vector<std::string>& masters) {
  std::vector<RunCommand> commands = Regenerate(renderer, foreign_files, netdevs, masters);
  for (const std::string& netdev : netdevs) {
    commands.push_back(BringUp(renderer, netdev));
  }
  // Each prune has its own ports, so that none stands for another's.
  for (RunCommand& command : commands) command.id.clear();
  return commands;
}

RunCommand ActivateProfile(const std::string& keyfile, const std::string& uuid,
                           const std::string& id, const std::string& netdev) {
  const bool by_uuid = !uuid.empty();
  // nmcli fails where the port has no carrier, and where the keyfile is not there; find does not.
  return {.argv = {"find", std::string(kKeyfiles), "-maxdepth", "1", "-path", keyfile, "-exec",
                   "nmcli", "--wait", kNmcliWaitS, "connection", "up", by_uuid ? "uuid" : "id",
                   by_uuid ? uuid : id, "ifname", netdev, ";"},
          .time_limit_s = kActivateLimitS,
          .sets = NameInSys(netdev)};
}

RunCommand ActivateKeptProfile(const std::string& definition, const std::string& uuid,
                               const std::string& netdev) {
  const bool by_uuid = !uuid.empty();
  return {
      .argv = OnlyWhereGenerated(
          definition, {"nmcli", "--wait", kNmcliWaitS, "connection", "up", by_uuid ? "uuid" : "id",
                       by_uuid ? uuid : "netplan-" + definition, "ifname", netdev}),
      .time_limit_s = kActivateLimitS,
      .sets = NameInSys(netdev)};
}

RunCommand TurnIpv6Off(const std::string& netdev) {
  return {.argv = {"sysctl", "-w", "--", NameIpv6Switch(netdev) + "=1"}, .sets = NameInSys(netdev)};
}

std::vector<RunCommand> SetUnconfigured(Renderer renderer, const std::string& netdev) {
  std::vector<std::vector<std::string>> lines;
  if (renderer == Renderer::kNetworkd) lines.push_back({"ip", "address", "flush", "dev", netdev});
  lines.push_back({"ip", "link", "set", "dev", netdev, "mtu", "1500"});
  // NetworkManager sets up every port that it manages.
  if (renderer == Renderer::kNetworkd)
    lines.push_back({"ip", "link", "set", "dev", netdev, "down"});
  std::vector<RunCommand> commands;
  for (std::vector<std::string>& line : lines) {
    commands.push_back({.argv = std::move(line), .sets = NameInSys(netdev)});
  }
  return commands;
}

void LeaveGenerated(const std::vector<std::string>& netdevs, RunCommand& command) {
  std::set<std::string> left;
  for (const Renderer renderer : {Renderer::kNetworkd, Renderer::kNetworkManager}) {
    for (std::string& file : ListGeneratedFiles(renderer, netdevs)) left.insert(std::move(file));
  }
  const auto is_left = [&](const std::string& word) { return left.contains(word); };
  std::erase_if(command.argv, is_left);
  std::erase_if(command.makes, is_left);
}

Trial MakeTrial(std::string path) {
  return {.path = std::move(path), .generator = {"netplan", "generate"}};
}

RunCommand ReloadFiles(Renderer renderer) {
  RunCommand reload = renderer == Renderer::kNetworkd
                          ? RunCommand{.argv = {"networkctl", "reload"}, .without_reload = true}
                          : RunCommand{.argv = {"nmcli", "connection", "reload"}};
  reload.id = "reload the network's files";
  return reload;
}

std::string NameReconfigure(const std::string& netdev) { return "reconfigure " + netdev; }

RunCommand Reconfigure(Renderer renderer, const std::string& netdev) {
  RunCommand command{.time_limit_s = kActivateLimitS, .id = NameReconfigure(netdev)};
  switch (renderer) {
    case Renderer::kNetworkd:
      command.argv = {"networkctl", "reconfigure", netdev};
      command.without_reload = true;
      break;
    case Renderer::kNetworkManager:
      command.argv = {"nmcli", "--wait", kNmcliWaitS,         "connection",
                      "up",    "id",     "netplan-" + netdev, "ifname",
                      netdev};
      break;
  }
  return command;
}

}  // namespace reconciler::plugins::netplan
