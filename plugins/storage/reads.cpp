#include "plugins/storage/reads.h"

#include "plugins/common/commands/failure.h"
#include "plugins/storage/read_storage.sh.h"
#include "plugins/storage/units.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::storage {
namespace {

constexpr const char* kStorage = "storage.volumes";
constexpr int kStorageLimitS = 15;

// See read_storage.sh.
void ReadStorageLine(const std::string& line, StorageFacts& facts) {
  const std::vector<std::string> words = Split(MakePrintable(line), ' ');
  if (words.size() < 2) return;
  const std::string& what = words[0];
  if (what == "nvme_cli") facts.nvme_cli = words[1] == "yes";
  if (what == "module") facts.module = words[1] == "yes";
  if (what == "subsystem" && words.size() == 3) facts.subsystems[words[2]] = words[1];
  if (what == "device" && words.size() == 3) facts.devices[words[1]] = words[2];
  if (what == "writable" && words.size() == 3) facts.writable[words[1]] = words[2];
  if (what == "unit" && words.size() == 4) {
    facts.units[words[3]] = {.unit_file = words[1] == "not-found" ? "" : words[1],
                             .active = words[2]};
  }
  if (what == "mount" && words.size() == 5) {
    facts.mounts[words[1]] = {.source = words[2], .type = words[3], .options = words[4]};
  }
}

}  // namespace

RunProbe MakeStorageProbe(const std::vector<Volume>& volumes, const std::vector<Volume>& others) {
  RunProbe probe{.id = kStorage,
                 .argv = {"sh", "-c", std::string(kReadStorageSh), "sh"},
                 .time_limit_s = kStorageLimitS};
  const auto append = [&](const char* option, const std::string& word) {
    probe.argv.emplace_back(option);
    probe.argv.push_back(word);
  };
  for (const Volume& volume : volumes) {
    append("-p", volume.mount);
    append("-d", volume.Device());
    append("-u", NameMountUnit(volume));
    append("-u", NameConnectUnit(volume));
  }
  for (const Volume& volume : others) append("-d", volume.Device());
  return probe;
}

void StoreStorage(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kStorage);
  if (found == reply.commands.end()) return;
  if (found->second.exit_code != 0) {
    facts.storage.nvme_cli = ExplainFailure(found->second, "sh", kStorageLimitS);
    facts.storage.module = ExplainFailure(found->second, "sh", kStorageLimitS);
    return;
  }
  for (const std::string& line : SplitLines(found->second.out))
    ReadStorageLine(line, facts.storage);
}

}  // namespace reconciler::plugins::storage
