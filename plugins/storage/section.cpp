#include "plugins/storage/section.h"

#include <algorithm>
#include <array>

#include "reconciler/base/text.h"

namespace reconciler::plugins::storage {
namespace {

// Those that several nodes may write to, since they lock what they write.
constexpr std::array<std::string_view, 2> kForManyWriters = {"gfs2", "ocfs2"};

std::vector<std::string> ReadWords(const Value* list) {
  std::vector<std::string> words;
  if (list == nullptr) return words;
  for (const Value& word : list->List()) words.push_back(word.ScalarText());
  return words;
}

// udev names its links by the UUIDs of these file systems in lower case. Those of others are
// shorter, and have capitals there.
std::string LowerUuid(const std::string& uuid) {
  constexpr std::size_t kWhole = 36;  // digits and dashes
  return uuid.size() == kWhole ? ToLower(uuid) : uuid;
}

Volume ParseVolume(const Value& entry) {
  Volume volume{.mount = entry.GetText("mount"),
                .nqn = entry.GetText("nqn"),
                .address = entry.GetText("address"),
                .uuid = LowerUuid(entry.GetText("uuid")),
                .label = entry.GetText("label"),
                .filesystem = entry.GetText("filesystem"),
                .options = ReadWords(entry.Find("options")),
                .position = entry.position};
  while (volume.mount.size() > 1 && volume.mount.ends_with('/')) volume.mount.pop_back();
  if (const Value* port = entry.Find("port"); port != nullptr && port->AsInteger() != nullptr) {
    volume.port = *port->AsInteger();
  }
  const Value* read_only = entry.Find("read_only");
  volume.read_only = read_only != nullptr && read_only->AsBool() != nullptr && *read_only->AsBool();
  if (const Value* nodes = entry.Find("nodes"); nodes != nullptr && nodes->IsList()) {
    volume.nodes = ReadWords(nodes);
  }
  return volume;
}

}  // namespace

bool Volume::On(const NodeName& node) const {
  return !nodes || std::find(nodes->begin(), nodes->end(), node) != nodes->end();
}

std::string Volume::Device() const {
  return uuid.empty() ? "/dev/disk/by-label/" + label : "/dev/disk/by-uuid/" + uuid;
}

bool NeedsOneWriter(const Volume& volume) {
  return !volume.read_only && std::find(kForManyWriters.begin(), kForManyWriters.end(),
                                        volume.filesystem) == kForManyWriters.end();
}

bool MayBeOneFileSystem(const Volume& a, const Volume& b) {
  if (a.nqn != b.nqn) return false;
  if (!a.uuid.empty() && !b.uuid.empty()) return ToLower(a.uuid) == ToLower(b.uuid);
  return a.label.empty() || b.label.empty() || a.label == b.label;
}

std::vector<Volume> ReadVolumes(const ClusterSpec& cluster) {
  std::vector<Volume> volumes;
  const Value* section = cluster.settings.Find("storage");
  if (section == nullptr) return volumes;
  for (const Value& entry : section->List()) volumes.push_back(ParseVolume(entry));
  return volumes;
}

std::vector<Volume> ReadVolumes(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<Volume> volumes = ReadVolumes(cluster);
  std::erase_if(volumes, [&](const Volume& volume) { return !volume.On(node); });
  return volumes;
}

}  // namespace reconciler::plugins::storage
