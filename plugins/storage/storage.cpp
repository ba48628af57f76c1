#include "plugins/storage/storage.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/common/systemctl/install_section.h"
#include "plugins/common/systemctl/set_back_unit.h"
#include "plugins/common/systemctl/set_enabled.h"
#include "plugins/storage/diagnose.h"
#include "plugins/storage/reads.h"
#include "plugins/storage/section.h"
#include "plugins/storage/units.h"
#include "plugins/storage/volume.sh.h"
#include "plugins/storage/writers.h"
#include "reconciler/base/mark.h"

namespace reconciler::plugins::storage {
namespace {

constexpr int kReloadLimitS = 60;
constexpr int kStopLimitS = 120;  // systemd's own limit for a stop is 90 s

std::string MakeUnitPath(const std::string& unit) { return "/etc/systemd/system/" + unit; }

// Of other nodes: this one may have it mounted for writing all the same.
std::vector<Volume> ListOthersWithOneWriter(const ClusterSpec& cluster, const NodeSpec& node) {
  std::vector<Volume> volumes = ReadVolumes(cluster);
  std::erase_if(volumes, [&](const Volume& volume) {
    return volume.On(node.name) || !NeedsOneWriter(volume);
  });
  return volumes;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const std::vector<Volume> volumes = ReadVolumes(cluster, node.name);
  const std::vector<Volume> others = ListOthersWithOneWriter(cluster, node);
  std::vector<Read> reads;
  if (!volumes.empty() || !others.empty()) reads = {MakeStorageProbe(volumes, others)};
  if (volumes.empty()) return reads;
  reads.emplace_back(MakeGpuContainerProbe());
  reads.emplace_back(ReadFile{std::string(kScript)});
  reads.emplace_back(ReadFile{kFstab});
  for (const Volume& volume : volumes) {
    reads.push_back(ReadFile{MakeUnitPath(NameMountUnit(volume))});
    reads.push_back(ReadFile{MakeUnitPath(NameConnectUnit(volume))});
  }
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  StoreStorage(reply, facts);
  StoreGpuContainers(reply, facts);
}

RunCommand MakeReload() {
  return {.argv = {"systemctl", "daemon-reload"},
          .time_limit_s = kReloadLimitS,
          .id = "reload systemd"};
}

// A target that does not answer must fail no apply.
RunCommand MakeStart(const std::string& unit) {
  return {.argv = {"systemctl", "--no-block", "start", "--", unit}, .id = "start " + unit};
}

RunCommand MakeStop(const std::string& unit) {
  return {.argv = {"systemctl", "stop", "--", unit}, .time_limit_s = kStopLimitS};
}

std::string ExplainWriter(const Writer& writer) {
  return fmt::format(
      "{} has it mounted for writing at {}, and two writers destroy it: umount it there, then plan "
      "again",
      writer.node, writer.path);
}

std::string ExplainUnread(const UnreadNode& unread) {
  if (unread.why.empty()) {
    return fmt::format(
        "{} was not read, and may have it mounted for writing, where two writers destroy it: plan "
        "all nodes",
        unread.node);
  }
  return fmt::format(
      "what {} has mounted could not be read ({}): it may have it mounted for writing, where two "
      "writers destroy it: plan again",
      unread.node, unread.why);
}

class Maker {
 public:
  explicit Maker(const PluginInput& input) : input_(input) {}

  // All files first. What is pruned goes the other way round: a mount before its connection.
  std::vector<Resource> Run() {
    const std::vector<Volume> volumes = ReadVolumes(input_.cluster, input_.node.name);
    if (volumes.empty()) return {};
    AddFile(std::string(kScript), std::string(kVolumeSh), volumes.front());
    for (const Volume& volume : volumes) {
      AddUnitFile(NameConnectUnit(volume), FormatConnectUnit(volume), volume);
      AddUnitFile(NameMountUnit(volume), FormatMountUnit(volume), volume);
      BlockBesideWriter(volume);
    }
    for (const Volume& volume : volumes) AddState(NameConnectUnit(volume), volume);
    for (const Volume& volume : volumes) {
      AddState(NameMountUnit(volume), volume);
      BlockBesideWriter(volume);
    }
    return std::move(resources_);
  }

 private:
  // Of volumes of one subsystem there is one.
  bool IsNew(const std::string& id) { return seen_.insert(id).second; }

  void AddFile(const std::string& path, const std::string& body, const Volume& volume) {
    Resource file{
        .kind = "file",
        .name = path,
        .node = input_.node.name,
        .desired = ResourceState(FileState{.content = FormatOwnedFile(input_.cluster.name, body)}),
        .observed = AsState(FindFile(input_.facts, path)),
        .where = input_.cluster.Mark(volume.position)};
    BlockUnlessOurs(file, input_.cluster.name, input_.cluster.former_name);
    resources_.push_back(std::move(file));
  }

  void AddUnitFile(const std::string& unit, const std::string& body, const Volume& volume) {
    const std::string path = MakeUnitPath(unit);
    if (!IsNew(path)) return;
    AddFile(path, body, volume);
    Resource& file = resources_.back();
    file.triggers = {MakeReload()};
    file.prune_commands = PruneCommands{.after = {MakeReload()}};
    file.interrupts = ListCutOffByReload(input_.facts);
    if (RelinkWhereInstallChanges(file, unit, FindState(unit))) StartAfterRelink(file, unit);
  }

  // What wants it now may be there already, so that nothing else would start it before a boot.
  void StartAfterRelink(Resource& file, const std::string& unit) const {
    file.triggers.push_back(MakeStart(unit));
    const auto found = input_.facts.storage.units.find(unit);
    const bool ran = found != input_.facts.storage.units.end() && found->second.active == "active";
    if (!ran) file.revert.insert(file.revert.begin(), MakeStop(unit));
  }

  // The last resource, which would mount a volume for writing. Its node writes only once no other
  // one does: a change on that one and this one would be carried out at the same time.
  void BlockBesideWriter(const Volume& volume) {
    if (!resources_.back().blocked.empty()) return;
    const std::optional<Writer> writer = FindOtherWriter(input_, volume);
    const std::optional<UnreadNode> unread = FindUnreadNode(input_, volume);
    if (!writer && !unread) return;
    resources_.back().blocked = {.code = "storage-other-writer",
                                 .why = writer ? ExplainWriter(*writer) : ExplainUnread(*unread)};
  }

  Observed<std::string> FindState(const std::string& unit) const {
    const auto found = input_.facts.storage.units.find(unit);
    if (found == input_.facts.storage.units.end())
      return Unknown{"systemctl said nothing about it"};
    if (found->second.unit_file.empty()) return Absent{};
    return found->second.unit_file;
  }

  void AddState(const std::string& unit, const Volume& volume) {
    if (!IsNew(unit)) return;
    resources_.push_back(
        {.kind = "unit",
         .name = unit,
         .node = input_.node.name,
         .desired = ResourceState("enabled"),
         .observed = AsState(FindState(unit)),
         .apply = {SetEnabled(unit, true)},
         .revert = {MakeStop(unit), SetEnabled(unit, false)},
         .triggers = {MakeReload(), MakeStart(unit)},
         .prune_commands = PruneCommands{.before = {MakeStop(unit), SetEnabled(unit, false)},
                                         .after = {MakeReload()}},
         .interrupts = ListCutOffByReload(input_.facts),
         .blocked = FindFileObstacle(input_.facts, MakeUnitPath(unit), input_.cluster.name,
                                     input_.cluster.former_name),
         .where = input_.cluster.Mark(volume.position)});
  }

  const PluginInput& input_;
  std::vector<Resource> resources_ = {};
  std::set<std::string> seen_ = {};
};

std::vector<Resource> Resources(const PluginInput& input) { return Maker(input).Run(); }

Ownership CheckPrune(const PluginInput& input, Change& change) {
  SkipUnitsThatAreGone(change);
  NameCutOffByReload(input.facts, change);
  return Ownership::kOurs;
}

}  // namespace

Plugin Get() {
  return {.name = "storage",
          .after = {"netplan", "packages"},
          .is_pruned_first = true,
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = CheckStorage,
          .diagnose = DiagnoseVolumes};
}

}  // namespace reconciler::plugins::storage
