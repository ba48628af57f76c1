#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/probe.h"

namespace reconciler {

// A file and where it is tried before it is committed (see Resource::trial).
struct TrialFile {
  std::string path = {};   // "/etc/folder/60-x.conf"
  std::string trial = {};  // "/run/folder/60-x.conf"
  bool operator==(const TrialFile&) const = default;
};

// The files that a plan's changes put on trial, per node.
using Trials = std::map<NodeName, std::vector<TrialFile>>;
Trials ListTrials(const Plan& plan);

// What must be read besides so that ShowTrial can decide.
std::vector<Read> ListReads(const std::vector<TrialFile>& trials);
// Answers as if the trial had been committed: plugins know one place of a file only.
void ShowTrial(const std::vector<TrialFile>& trials, ProbeReply& reply);

// What an unfinished apply has put on trial is no one else's configuration: it goes when that apply
// is ended. Answers as if it had gone.
void HideTrials(const ClusterSpec& cluster, ProbeReply& reply);

}  // namespace reconciler
