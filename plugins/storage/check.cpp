#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "plugins/common/access/login_users.h"
#include "plugins/storage/section.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"
#include "reconciler/model/ledger.h"

namespace reconciler::plugins::storage {
namespace {

// What a node needs to run. A path below one of the first is refused too.
constexpr std::array<std::string_view, 11> kSystemFolders = {
    "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/root", "/run", "/sbin", "/sys", "/usr"};
constexpr std::array<std::string_view, 7> kSystemMounts = {"/",    "/home",    "/opt",    "/tmp",
                                                           "/var", "/var/lib", "/var/log"};
// What is ours there: state, and libraries that were built.
constexpr std::array<std::string_view, 2> kOwnFolders = {kStateFolder, "/opt/spark-reconcile"};
constexpr std::string_view kHomes = "/home/";

bool IsInside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsSystemPath(std::string_view path) {
  return std::find(kSystemMounts.begin(), kSystemMounts.end(), path) != kSystemMounts.end() ||
         std::any_of(kSystemFolders.begin(), kSystemFolders.end(),
                     [&](std::string_view folder) { return IsInside(path, folder); });
}

bool HidesOurs(std::string_view path) {
  return std::any_of(kOwnFolders.begin(), kOwnFolders.end(), [&](std::string_view folder) {
    return IsInside(path, folder) || IsInside(folder, path);
  });
}

// The logins to the nodes that the manifest names.
std::set<std::string> ListLogins(const ClusterSpec& cluster) {
  std::set<std::string> users;
  for (const NodeSpec& node : cluster.nodes) {
    for (std::string& user : ListLoginUsers(cluster, node)) users.insert(std::move(user));
  }
  return users;
}

bool IsHomeOf(const std::set<std::string>& users, std::string_view path) {
  return path.starts_with(kHomes) && users.contains(std::string(path.substr(kHomes.size())));
}

// Why nothing may be mounted there; empty: it may.
std::string_view ExplainRefused(const ClusterSpec& cluster, std::string_view path) {
  if (IsSystemPath(path)) return "is a folder that the node needs to run";
  if (HidesOurs(path))
    return "has what spark-reconcile keeps on the node, which a mount would hide";
  if (IsHomeOf(ListLogins(cluster), path))
    return "is the home of a login to the nodes, whose keys a mount would hide";
  return {};
}

bool IsCleanPath(const std::string& path) {
  const std::vector<std::string> parts = Split(path, '/');
  return std::none_of(parts.begin() + 1, parts.end(), [](const std::string& part) {
    return part.empty() || part == "." || part == "..";
  });
}

class Checker {
 public:
  explicit Checker(const ClusterSpec& cluster)
      : cluster_(cluster), volumes_(ReadVolumes(cluster)) {}

  Errors Run() {
    for (const Volume& volume : volumes_) {
      CheckPath(volume);
      CheckDevice(volume);
      CheckOptions(volume);
      CheckNodes(volume);
    }
    for (std::size_t i = 0; i < volumes_.size(); ++i) CheckAgainstEarlier(i);
    return std::move(errors_);
  }

 private:
  void Add(std::string code, Position position, std::string message, std::string hint) {
    errors_.push_back(MakeManifestError(std::move(code), cluster_.Mark(position),
                                        std::move(message), std::move(hint)));
  }

  std::vector<NodeName> ListNodes(const Volume& volume) const {
    std::vector<NodeName> nodes;
    for (const NodeSpec& node : cluster_.nodes) {
      if (volume.On(node.name)) nodes.push_back(node.name);
    }
    return nodes;
  }

  void CheckPath(const Volume& volume) {
    if (!IsCleanPath(volume.mount)) {
      Add("storage-path", volume.position,
          fmt::format("storage: wanted a path such as /mnt/models, found '{}'", volume.mount),
          "without //, . and ..");
    } else if (const std::string_view why = ExplainRefused(cluster_, volume.mount); !why.empty()) {
      Add("storage-path", volume.position, fmt::format("storage: {} {}", volume.mount, why),
          "mount it below /mnt or /srv");
    }
  }

  void CheckDevice(const Volume& volume) {
    if (volume.uuid.empty() != volume.label.empty()) return;
    Add("storage-device", volume.position,
        fmt::format("storage: {}: wanted either `uuid` or `label`, found {}", volume.mount,
                    volume.uuid.empty() ? "neither" : "both"),
        "`lsblk -f` shows them on a node that has the volume; names such as /dev/nvme1n1 change "
        "between boots");
  }

  void CheckOptions(const Volume& volume) {
    for (const std::string& option : volume.options) {
      if (option != "ro" && option != "rw") continue;
      Add("storage-option", volume.position,
          fmt::format("storage: {}: the option {} is decided by `read_only`", volume.mount, option),
          "remove it, and set `read_only`");
    }
  }

  void CheckNodes(const Volume& volume) {
    std::vector<std::string> names;
    for (const NodeSpec& node : cluster_.nodes) names.push_back(node.name);
    for (const NodeName& node : volume.nodes.value_or(std::vector<NodeName>())) {
      if (cluster_.FindNode(node) != nullptr) continue;
      const auto close = FindClosestMatch(node, names);
      Add("storage-unknown-node", volume.position,
          fmt::format("storage: {}: unknown node '{}'{}", volume.mount, MakePrintable(node),
                      close ? fmt::format(", did you mean '{}'?", *close) : ""),
          fmt::format("nodes: {}", Join(names, ", ")));
    }
    const std::vector<NodeName> nodes = ListNodes(volume);
    if (NeedsOneWriter(volume) && nodes.size() > 1) AddTwoWriters(volume, nodes[0], nodes[1]);
  }

  void AddTwoWriters(const Volume& volume, const NodeName& one, const NodeName& other) {
    Add("storage-two-writers", volume.position,
        fmt::format("storage: {}: wanted one node that writes to the {} of {}, found {} and {}",
                    volume.mount, volume.filesystem, volume.nqn, one, other),
        fmt::format("two nodes that write to one {} destroy it: give the entry `nodes` with one "
                    "node, and the others an entry with read_only: true",
                    volume.filesystem));
  }

  void CheckAgainstEarlier(std::size_t index) {
    const Volume& volume = volumes_[index];
    for (std::size_t i = 0; i < index; ++i) {
      const Volume& earlier = volumes_[i];
      const bool is_one = MayBeOneFileSystem(volume, earlier);
      CheckOnNodes(volume, earlier, is_one);
      const bool has_one_target = volume.address == earlier.address && volume.port == earlier.port;
      if (volume.nqn == earlier.nqn && !has_one_target) {
        Add("storage-two-targets", volume.position,
            fmt::format("storage: {}: wanted {} at {} port {}, as on line {}, found {} port {}",
                        volume.mount, volume.nqn, earlier.address, earlier.port,
                        earlier.position.line, volume.address, volume.port),
            "name one target");
      }
    }
  }

  void CheckOnNodes(const Volume& volume, const Volume& earlier, bool is_one) {
    const std::vector<NodeName> nodes = ListNodes(volume);
    const std::vector<NodeName> others = ListNodes(earlier);
    for (const NodeName& node : nodes) {
      if (std::find(others.begin(), others.end(), node) == others.end()) continue;
      if (volume.mount != earlier.mount && !is_one) continue;
      Add("storage-entry-twice", volume.position,
          fmt::format("storage: wanted one entry for {} on {}, found another on line {}",
                      volume.mount == earlier.mount ? volume.mount : volume.Device(), node,
                      earlier.position.line),
          "merge them, or give them different nodes");
      return;
    }
    const bool both_write = is_one && NeedsOneWriter(volume) && NeedsOneWriter(earlier);
    if (both_write && !nodes.empty() && !others.empty()) {
      AddTwoWriters(volume, others.front(), nodes.front());
    }
  }

  const ClusterSpec& cluster_;
  std::vector<Volume> volumes_;
  Errors errors_ = {};
};

}  // namespace

Errors CheckStorage(const ClusterSpec& cluster, const Fabric&) { return Checker(cluster).Run(); }

}  // namespace reconciler::plugins::storage
