#include "reconciler/discovery/managed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/arp.h"
#include "reconciler/model/fabric.h"

namespace reconciler {
namespace {

constexpr const char* kHosts = "/etc/hosts";

std::string ReadHosts(const NodeFacts& facts) {
  const Observed<FileState> file = FindFile(facts, kHosts);
  const FileState* state = Known(file);
  return state == nullptr ? "" : state->content;
}

// Whether a file of ours has a value for the key.
bool IsSetByUs(const NodeFacts& facts, const std::string& key) {
  return std::any_of(facts.files.begin(), facts.files.end(), [&](const auto& one) {
    const FileState* file = Known(one.second);
    return file != nullptr && FindOwner(file->content).has_value() &&
           file->content.find('\n' + key + " = ") != std::string::npos;
  });
}

class ManagedFinder {
 public:
  ManagedFinder(const std::vector<FoundRail>& rails, const FoundAddresses& addresses,
                const ClusterFacts& facts)
      : rails_(rails), addresses_(addresses), facts_(facts) {}

  FoundManaged Find(const std::vector<NodeName>& nodes) {
    std::vector<NodeName> without_arp;
    std::vector<NodeName> without_names;
    for (const NodeName& node : nodes) {
      const auto facts = facts_.nodes.find(node);
      if (facts == facts_.nodes.end()) continue;
      if (!HasArp(node, facts->second)) without_arp.push_back(node);
      if (!HasNames(node, ReadHosts(facts->second))) without_names.push_back(node);
    }
    const auto add_gaps = [&](bool managed, const std::vector<NodeName>& without,
                              std::string_view what) {
      for (const NodeName& node : without) {
        if (managed) found_.gaps.push_back(fmt::format("{}: {}", node, what));
      }
    };
    add_gaps(found_.arp, without_arp,
             "the ARP settings of its ports are not all as they are managed; the manifest sets "
             "them");
    add_gaps(found_.names, without_names,
             "/etc/hosts does not have all names of the rails; the manifest writes them");
    return std::move(found_);
  }

 private:
  // Whether nothing would change. Notes what is managed.
  bool HasArp(const NodeName& node, const NodeFacts& facts) {
    bool whole = true;
    for (const FoundRail& rail : rails_) {
      const auto netdev = rail.netdevs.find(node);
      if (netdev == rail.netdevs.end()) continue;
      for (const ArpSetting& one : kArpSettings) {
        const std::string key = fmt::format("net.ipv4.conf.{}.{}", netdev->second, one.leaf);
        const bool ours = IsSetByUs(facts, key);
        const Observed<std::string> value = FindOrUnknown(facts.sysctl.keys, key);
        found_.arp |= ours;
        whole &= ours && Known(value) != nullptr && *Known(value) == one.value;
      }
    }
    return whole;
  }

  // "192.168.177.2 spark-2-rail0": of the ports that the node reaches on its rails.
  std::vector<std::string> ListLines(const NodeName& node) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      if (!rails_[i].netdevs.contains(node)) continue;
      for (const auto& [peer, netdev] : rails_[i].netdevs) {
        const Ipv4Address address{addresses_.subnets[i].address.bits +
                                  static_cast<std::uint32_t>(addresses_.ids.at(peer))};
        lines.push_back(
            fmt::format("{} {}", ToString(address), FormatRailHostName(peer, static_cast<int>(i))));
      }
    }
    return lines;
  }

  // Whether nothing would change. Notes what is there.
  bool HasNames(const NodeName& node, const std::string& hosts) {
    const bool has_block = HasBlock(hosts);
    found_.names |= has_block;
    const std::vector<std::string> wanted = ListLines(node);
    const std::vector<std::string> list = SplitLines(hosts);
    const std::set<std::string> lines(list.begin(), list.end());
    for (const std::string& line : wanted) {
      const std::string name = line.substr(line.find(' ') + 1);
      found_.others_names |= !has_block && hosts.find(name) != std::string::npos;
    }
    return has_block && std::all_of(wanted.begin(), wanted.end(),
                                    [&](const std::string& line) { return lines.contains(line); });
  }

  const std::vector<FoundRail>& rails_;
  const FoundAddresses& addresses_;
  const ClusterFacts& facts_;
  FoundManaged found_ = {};
};

}  // namespace

FoundManaged FindManaged(const std::vector<NodeName>& nodes, const std::vector<FoundRail>& rails,
                         const FoundAddresses& addresses, const ClusterFacts& facts) {
  return ManagedFinder(rails, addresses, facts).Find(nodes);
}

}  // namespace reconciler
