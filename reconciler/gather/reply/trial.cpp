#include "reconciler/gather/reply/trial.h"

#include <algorithm>

#include "reconciler/base/mark.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

const std::string* GetPath(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) return &write->path;
  if (const auto* remove = std::get_if<RemoveFile>(&action)) return &remove->path;
  return nullptr;
}

}  // namespace

Trials ListTrials(const Plan& plan) {
  Trials trials;
  ForEachChange(plan, [&](const Change& change) {
    for (const Action& action : change.actions) {
      const std::string* path = GetPath(action);
      if (path == nullptr) continue;
      std::vector<TrialFile>& files = trials[change.node];
      const TrialFile file{*path, GetTrial(action).path};
      if (!file.trial.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
        files.push_back(file);
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

void HideTrials(const ClusterSpec& cluster, ProbeReply& reply) {
  for (auto& [path, file] : reply.files) {
    const FileState* state = Known(file);
    if (state == nullptr || !path.starts_with("/run/")) continue;
    if (const auto owner = FindOwner(state->content); owner && cluster.Owns(*owner)) {
      file = Absent{};
    }
  }
}

}  // namespace reconciler
