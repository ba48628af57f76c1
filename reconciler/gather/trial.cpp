#include "reconciler/gather/trial.h"

#include <algorithm>

#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

struct Layer {
  std::string_view folder;
  std::string_view suffix;
  std::string_view trial;
  bool hides;
};

constexpr Layer kLayers[] = {
    {"/etc/netplan/", ".yaml", "/run/netplan/", true},
    {"/etc/sysctl.d/", ".conf", "/run/sysctl.d/", false},
    {"/etc/modules-load.d/", ".conf", "/run/modules-load.d/", false},
};

const std::string* GetPath(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) return &write->path;
  if (const auto* remove = std::get_if<RemoveFile>(&action)) return &remove->path;
  return nullptr;
}

}  // namespace

std::optional<TrialFile> FindTrial(std::string_view path) {
  for (const Layer& layer : kLayers) {
    if (!path.starts_with(layer.folder) || !path.ends_with(layer.suffix)) continue;
    const std::string_view name = path.substr(layer.folder.size());
    if (name.find('/') != std::string_view::npos) continue;
    return TrialFile{std::string(path), std::string(layer.trial) + std::string(name), layer.hides};
  }
  return std::nullopt;
}

Trials ListTrials(const Plan& plan) {
  Trials trials;
  ForEachChange(plan, [&](const Change& change) {
    for (const Action& action : change.actions) {
      const std::string* path = GetPath(action);
      if (path == nullptr) continue;
      std::vector<TrialFile>& files = trials[change.node];
      const auto trial = FindTrial(*path);
      if (trial && std::find(files.begin(), files.end(), *trial) == files.end()) {
        files.push_back(*trial);
      }
    }
  });
  return trials;
}

std::vector<Read> ListReads(const std::vector<TrialFile>& trials) {
  std::vector<Read> reads;
  for (const TrialFile& file : trials) reads.push_back(ReadFile{file.trial});
  return reads;
}

void ShowTrial(const std::vector<TrialFile>& trials, ProbeReply& reply) {
  for (const TrialFile& file : trials) {
    const auto found = reply.files.find(file.trial);
    if (found == reply.files.end() || std::holds_alternative<Absent>(found->second)) continue;
    const FileState* state = Known(found->second);
    // An empty file stands for a removal in every layer: no file of ours is empty.
    if (state != nullptr && state->content.empty()) {
      reply.files[file.path] = Absent{};
    } else {
      reply.files[file.path] = found->second;
    }
    found->second = Absent{};
  }
}

}  // namespace reconciler
