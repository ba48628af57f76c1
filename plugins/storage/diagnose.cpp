#include "plugins/storage/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/storage/units.h"
#include "plugins/storage/writers.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::storage {
namespace {

// `packages` brings it in the same apply, or has brought it.
bool ListsNvmeCli(const PluginInput& input) {
  constexpr std::string_view kPackage = "nvme-cli";
  const Value* packages = input.cluster.settings.Find("packages");
  if (packages == nullptr) return false;
  return std::any_of(packages->List().begin(), packages->List().end(), [&](const Value& entry) {
    return entry.ScalarText() == kPackage || entry.GetText("name") == kPackage;
  });
}

bool IsKnownFalse(const Fact<bool>& fact) { return Known(fact) != nullptr && !*Known(fact); }

std::vector<std::string> SplitWords(const std::string& line) {
  std::string text = line;
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> words = Split(text, ' ');
  std::erase(words, "");
  return words;
}

// "/dev/nvme1n1", "/dev/nvme0n1p2"
bool IsNvmeName(const std::string& device) { return device.starts_with("/dev/nvme"); }

class Finder {
 public:
  explicit Finder(const PluginInput& input) : input_(input), facts_(input.facts.storage) {}

  std::vector<Diagnostic> Run() {
    const std::vector<Volume> volumes = ReadVolumes(input_.cluster, input_.node.name);
    if (volumes.empty()) return {};
    CheckNeeds(volumes.front());
    for (const Volume& volume : volumes) CheckVolume(volume);
    CheckFstab(volumes);
    return std::move(found_);
  }

 private:
  void Add(Diagnostic found, const Volume& volume) {
    found.where = input_.cluster.Mark(volume.position);
    if (found.subject.empty()) found.subject = volume.mount;
    found_.push_back(std::move(found));
  }

  void CheckNeeds(const Volume& volume) {
    if (IsKnownFalse(facts_.nvme_cli) && !ListsNvmeCli(input_)) {
      Add({.severity = Severity::kWarns,
           .code = "storage-no-nvme-cli",
           .message = "storage: nvme is not installed, and nothing is connected without it",
           .next_step = "add nvme-cli to `packages`",
           .subject = "nvme-cli"},
          volume);
    }
    if (IsKnownFalse(facts_.module)) {
      Add({.severity = Severity::kWarns,
           .code = "storage-no-module",
           .message = "storage: this kernel has no module nvme-tcp",
           .next_step = "install the kernel's extra modules (linux-modules-extra-VERSION)",
           .subject = "nvme-tcp"},
          volume);
    }
  }

  // Only where the units are there: before that, the plan shows them.
  void CheckVolume(const Volume& volume) {
    const auto unit = facts_.units.find(NameMountUnit(volume));
    const auto mount = facts_.mounts.find(volume.mount);
    if (mount != facts_.mounts.end()) {
      CheckMount(volume, mount->second);
    } else if (unit != facts_.units.end() && unit->second.unit_file == "enabled") {
      ExplainNotMounted(volume);
    }
  }

  void CheckMount(const Volume& volume, const StorageMount& mount) {
    const auto device = facts_.devices.find(volume.Device());
    const bool is_other = device == facts_.devices.end() || device->second != mount.source;
    if (is_other) {
      Add({.severity = Severity::kWarns,
           .code = "storage-other-mount",
           .message = fmt::format("{}: wanted {}, found {} mounted there", volume.mount,
                                  volume.Device(), mount.source),
           .next_step = fmt::format("umount {}, then systemctl start {}", volume.mount,
                                    NameMountUnit(volume))},
          volume);
      return;
    }
    const std::optional<Writer> writer = FindOtherWriter(input_, volume);
    const std::vector<std::string> options = Split(mount.options, ',');
    const bool writes = std::find(options.begin(), options.end(), "rw") != options.end();
    if (writes && writer) AddSecondWriter(volume, *writer);
    if (writes != volume.read_only) return;
    if (!writes) {
      AddReadOnly(volume, writer);
      return;
    }
    Add({.severity = Severity::kWarns,
         .code = "storage-mounted-writable",
         .message =
             fmt::format("{}: wanted it read-only, found it mounted read-write: where another "
                         "node writes to it too, that destroys it",
                         volume.mount),
         .next_step = fmt::format("umount {} at once, then systemctl start {}", volume.mount,
                                  NameMountUnit(volume))},
        volume);
  }

  void AddSecondWriter(const Volume& volume, const Writer& writer) {
    Add({.severity = Severity::kWarns,
         .code = "storage-other-writer",
         .message = fmt::format("{}: it is mounted for writing here, and on {} at {}: two writers "
                                "destroy it",
                                volume.mount, writer.node, writer.path),
         .next_step = fmt::format("umount {} on {} at once, then check the file system",
                                  writer.path, writer.node)},
        volume);
  }

  // As it was before the manifest changed, or since the kernel met an error.
  void AddReadOnly(const Volume& volume, const std::optional<Writer>& writer) {
    Add({.severity = Severity::kWarns,
         .code = "storage-mounted-read-only",
         .message =
             fmt::format("{}: wanted it for writing, found it mounted read-only", volume.mount),
         .next_step =
             writer ? fmt::format("umount {} on {} first, for two writers destroy it", writer->path,
                                  writer->node)
                    : fmt::format("umount {}, then systemctl start {}; where dmesg has an error of "
                                  "the file system, check it before",
                                  volume.mount, NameMountUnit(volume))},
        volume);
  }

  // The kernel removes a connection that the target refuses. The unit has made it and stays active.
  bool HasLostConnection(const Volume& volume) const {
    const auto unit = facts_.units.find(NameConnectUnit(volume));
    return !facts_.subsystems.contains(volume.nqn) && unit != facts_.units.end() &&
           unit->second.active == "active";
  }

  void AddLostConnection(const Volume& volume) {
    const std::string unit = NameConnectUnit(volume);
    Add({.severity = Severity::kWarns,
         .code = "storage-not-connected",
         .message = fmt::format("{}: {} is not connected any more, and {} connects only when it is "
                                "started",
                                volume.mount, volume.nqn, unit),
         .next_step = fmt::format("systemctl restart {}", unit)},
        volume);
  }

  void ExplainNotMounted(const Volume& volume) {
    const auto subsystem = facts_.subsystems.find(volume.nqn);
    if (HasLostConnection(volume)) {
      AddLostConnection(volume);
    } else if (subsystem == facts_.subsystems.end() || subsystem->second != "live") {
      const std::string state =
          subsystem == facts_.subsystems.end() ? "not connected" : subsystem->second;
      Add({.severity = Severity::kWarns,
           .code = "storage-not-connected",
           .message = fmt::format("{}: {} is {}; the node tries again until {} answers",
                                  volume.mount, volume.nqn, state, volume.address),
           .next_step =
               fmt::format("run nvme discover -t tcp -a {} -s {} on the node, and journalctl "
                           "-u {}",
                           volume.address, volume.port, NameConnectUnit(volume))},
          volume);
    } else if (!facts_.devices.contains(volume.Device())) {
      Add({.severity = Severity::kWarns,
           .code = "storage-no-device",
           .message = fmt::format("{}: {} is connected, and no volume of it is {}", volume.mount,
                                  volume.nqn, volume.Device()),
           .next_step = "lsblk -f shows the file systems that the node sees"},
          volume);
    } else {
      Add({.severity = Severity::kWarns,
           .code = "storage-not-mounted",
           .message = fmt::format("{}: {} is there and not mounted", volume.mount, volume.Device()),
           .next_step = fmt::format("systemctl start {0}; where that fails: journalctl -u {0}; "
                                    "where no boot mounts it: systemctl reenable {0}",
                                    NameMountUnit(volume))},
          volume);
    }
  }

  // Our unit wins at boot, but `mount -a` goes by the file.
  void CheckFstab(const std::vector<Volume>& volumes) {
    const Observed<FileState> file = FindFile(input_.facts, kFstab);
    const FileState* state = Known(file);
    if (state == nullptr) return;
    int number = 0;
    for (const std::string& line : SplitLines(state->content)) {
      ++number;
      const std::vector<std::string> words = SplitWords(line);
      if (words.size() < 2 || words[0].starts_with('#')) continue;
      const auto volume = std::find_if(volumes.begin(), volumes.end(),
                                       [&](const Volume& one) { return one.mount == words[1]; });
      if (volume == volumes.end()) continue;
      Add({.severity = Severity::kWarns,
           .code = "storage-fstab-line",
           .message = fmt::format(
               "{}:{} mounts {} at {} too{}", kFstab, number, MakePrintable(words[0]),
               volume->mount,
               IsNvmeName(words[0]) ? ", by a name that may be another device after a boot" : ""),
           .next_step = "remove the line",
           .subject = fmt::format("{}:{}", kFstab, number)},
          *volume);
    }
  }

  const PluginInput& input_;
  const StorageFacts& facts_;
  std::vector<Diagnostic> found_ = {};
};

}  // namespace

std::vector<Diagnostic> DiagnoseVolumes(const PluginInput& input) { return Finder(input).Run(); }

}  // namespace reconciler::plugins::storage
