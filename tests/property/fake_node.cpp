#include "tests/property/fake_node.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <sstream>

#include "plugins/registry.h"

namespace reconciler::test {
namespace {

template <class T>
Observed<T> Lookup(const std::map<std::string, T>& map, const std::string& path) {
  const auto found = map.find(path);
  if (found == map.end()) return Absent{};
  return found->second;
}

template <class T>
void AddMatches(const std::map<std::string, T>& map, const std::string& pattern,
                std::map<std::string, Observed<T>>& out) {
  for (const auto& [path, value] : map) {
    if (fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0) out[path] = value;
  }
}

// The files that the file `list` of the node names, one path per line.
void AddListed(const std::map<std::string, FileState>& files, const std::string& list,
               std::map<std::string, Observed<FileState>>& out) {
  const auto found = files.find(list);
  if (found == files.end()) return;
  std::istringstream lines(found->second.content);
  for (std::string path; std::getline(lines, path);) out[path] = Lookup(files, path);
}

std::string IpAddress(int index, const std::string& name, int mtu, const std::string& address) {
  const std::string info =
      address.empty() ? ""
                      : fmt::format(R"({{"family":"inet","local":"{}","prefixlen":24}})", address);
  return fmt::format(
      R"({{"ifindex":{},"ifname":"{}","flags":["UP","LOWER_UP"],"mtu":{},"operstate":"UP",)"
      R"("address":"02:00:00:00:00:{:02x}","addr_info":[{}]}})",
      index, name, mtu, index, info);
}

std::string FindHome(const std::string& user) { return "~" + user + "/.ssh/"; }

}  // namespace

ProbeReply FakeNode::Answer(const std::vector<Read>& reads) const {
  struct Visitor {
    const FakeNode& node;
    ProbeReply& reply;
    void operator()(const ReadFile& read) {
      reply.files[read.path] = Lookup(node.files, read.path);
    }
    void operator()(const ReadFiles& read) { AddMatches(node.files, read.pattern, reply.files); }
    void operator()(const ReadListed& read) { AddListed(node.files, read.list, reply.files); }
    void operator()(const ReadValue& read) {
      reply.values[read.path] = Lookup(node.values, read.path);
    }
    void operator()(const ReadValues& read) { AddMatches(node.values, read.pattern, reply.values); }
    void operator()(const RunProbe& probe) {
      const auto found = node.commands.find(probe.id);
      reply.commands[probe.id] =
          found != node.commands.end() ? found->second : CommandReply{.exit_code = 127};
    }
  };
  ProbeReply reply;
  for (const Read& read : reads) std::visit(Visitor{*this, reply}, read);
  return reply;
}

std::string PublicKeyLine(int number) {
  // 25 base64 digits and two bits of the next say type and length; then come 32 bytes.
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const std::string digits = fmt::format("{:041}", number);
  std::string key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA";
  for (const char digit : digits) key += kDigits[static_cast<std::size_t>(digit - '0') + 10];
  return key + "A";
}

FakeNode BareNode(const NodeName& name, int id, const std::string& user) {
  FakeNode node;
  node.files["/etc/hosts"] = {.content = "127.0.0.1 localhost\n127.0.1.1 " + name + "\n"};
  node.files["/etc/ssh/ssh_host_ed25519_key.pub"] = {.content = PublicKeyLine(id) + " root\n"};
  node.files["/etc/netplan/01-management.yaml"] = {
      .content = "network: {version: 2, ethernets: {enP7s7: {dhcp4: true}}}\n", .mode = 0600};
  node.files[FindHome(user) + "authorized_keys"] = {
      .content = PublicKeyLine(9999) + " admin\n", .mode = 0600, .owner = user, .group = user};
  node.values["/proc/sys/kernel/hostname"] = name;
  std::string links;
  int index = 1;
  for (const char* netdev : {"enp1s0f0np0", "enp1s0f1np1", "enP2p1s0f0np0", "enP2p1s0f1np1"}) {
    links += IpAddress(++index, netdev, 1500, "") + ",";
    const std::string folder = fmt::format("/proc/sys/net/ipv4/conf/{}/", netdev);
    node.values[folder + "arp_ignore"] = "0";
    node.values[folder + "arp_announce"] = "0";
    node.values[fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", netdev)] = "0";
  }
  links += IpAddress(++index, "enP7s7", 1500, fmt::format("10.9.{}.{}", id / 256, id % 256));
  node.commands["host.ip"] = {.out =
                                  "[" + links + "]\n[{\"dst\":\"default\",\"dev\":\"enP7s7\"}]\n"};
  node.commands["common.lines"] = {};
  node.commands["sysctl.readonly"] = {};
  node.commands["common.units"] = {
      .out = "Id=-.mount\nLimitMEMLOCK=8388608\nLimitMEMLOCKSoft=8388608\n\n"};
  node.commands["memlock.session"] = {.out = "Max locked memory 8388608 8388608 bytes\n"};
  node.commands["ssh.account"] = {
      .exit_code = 1,
      .out = fmt::format("/proc/self/|555|{0}|{0}\n.ssh|700|{0}|{0}\n", user),
      .err =
          "stat: cannot statx '.ssh/id_ed25519_spark': No such file "
          "or directory\n"};
  return node;
}

NodeFacts MakeFacts(const FakeNode& node, const ClusterSpec& cluster, const Fabric& fabric,
                    const NodeSpec& spec) {
  std::vector<Read> reads;
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.probe == nullptr) continue;
    for (Read& read : plugin.probe(cluster, fabric, spec)) reads.push_back(std::move(read));
  }
  const ProbeReply reply = node.Answer(reads);
  NodeFacts facts{.node = spec.name, .files = reply.files};
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.parse != nullptr) plugin.parse(reply, facts);
  }
  return facts;
}

void ApplyFiles(const Plan& plan, const NodeSpec& spec, FakeNode& node) {
  struct Visitor {
    const NodeSpec& spec;
    FakeNode& node;
    void operator()(const WriteFile& write) { node.files[write.path] = write.state; }
    void operator()(const RemoveFile& remove) { node.files.erase(remove.path); }
    void operator()(const RunCommand& command) {
      if (command.argv.front() != "ssh-keygen") return;
      node.files[FindHome(command.user) + "id_ed25519_spark.pub"] = {
          .content = PublicKeyLine(1000 + spec.id) + " made\n"};
      node.commands["ssh.account"] = {
          .out = fmt::format(
              "/proc/self/|555|{0}|{0}\n.ssh|700|{0}|{0}\n.ssh/id_ed25519_spark|600|{0}|{0}\n",
              command.user)};
    }
  };
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.node != spec.name || change.deferred) continue;
      for (const Action& action : change.actions) std::visit(Visitor{spec, node}, action);
    }
  }
}

}  // namespace reconciler::test
