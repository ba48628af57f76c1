#include "plugins/netplan/reads/manager_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

struct ManagerKey {
  std::string_view folder = {};
  std::string_view leaf = {};
};

constexpr ManagerKey kManagerKeys[] = {{"/proc/sys/net/ipv6/conf/", "accept_ra"},
                                       {"/proc/sys/net/ipv6/conf/", "addr_gen_mode"},
                                       {"/proc/sys/net/ipv4/conf/", "promote_secondaries"}};

// "net.ipv6.conf.eth0/5.accept_ra": a dot of an interface's name is a slash in a key.
std::string FormatKey(const ManagerKey& key, std::string netdev) {
  std::replace(netdev.begin(), netdev.end(), '.', '/');
  const std::string_view family = key.folder.substr(14, 4);  // of "/proc/sys/net/ipv6/conf/"
  return fmt::format("net.{}.conf.{}.{}", family, netdev, key.leaf);
}

}  // namespace

std::vector<Read> ListManagerReads(const std::string& netdev) {
  std::vector<Read> reads;
  for (const ManagerKey& key : kManagerKeys) {
    reads.push_back(ReadValue{fmt::format("{}{}/{}", key.folder, netdev, key.leaf)});
  }
  return reads;
}

void StoreManagerKeys(const ProbeReply& reply, NodeFacts& facts) {
  for (const auto& [path, value] : reply.values) {
    for (const ManagerKey& key : kManagerKeys) {
      const std::string end = fmt::format("/{}", key.leaf);
      if (!path.starts_with(key.folder) || !path.ends_with(end)) continue;
      const std::size_t length = path.size() - key.folder.size() - end.size();
      facts.sysctl.keys[FormatKey(key, path.substr(key.folder.size(), length))] = value;
    }
  }
}

std::vector<RunCommand> RestoreManagerKeys(const NodeFacts& facts, const std::string& netdev) {
  std::vector<RunCommand> commands;
  for (const ManagerKey& key : kManagerKeys) {
    const std::string name = FormatKey(key, netdev);
    const auto found = facts.sysctl.keys.find(name);
    const std::string* value = found == facts.sysctl.keys.end() ? nullptr : Known(found->second);
    if (value == nullptr) continue;
    commands.push_back({.argv = {"sysctl", "-w", "--", fmt::format("{}={}", name, Trim(*value))},
                        .sets = "/sys/class/net/" + netdev});
  }
  return commands;
}

}  // namespace reconciler::plugins::netplan
