#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/probe.h"

namespace reconciler {

// Where a file of /etc is tried before it is committed: a layer below /run that is gone after a
// power loss. netplan lets /run/netplan hide a file of the same name in /etc, an empty one stands
// for none; systemd-sysctl and systemd-modules-load do not, but they read their files at boot only,
// and what is live is set by commands of its own.
struct TrialFile {
  std::string path = {};   // "/etc/netplan/60-x.yaml"
  std::string trial = {};  // "/run/netplan/60-x.yaml"
  bool hides = false;      // the trial file counts instead of `path`, empty or not
  bool operator==(const TrialFile&) const = default;
};

// Nothing for a path that has no such layer: limits.d, ssh files and hosts are written in place and
// restored from the journal.
std::optional<TrialFile> FindTrial(std::string_view path);

// The files that a plan's changes put on trial, per node.
using Trials = std::map<NodeName, std::vector<TrialFile>>;
Trials ListTrials(const Plan& plan);

// What must be read besides so that ShowTrial can tell.
std::vector<Read> ListReads(const std::vector<TrialFile>& trials);
// Answers as if the trial had been committed: plugins know one place of a file only.
void ShowTrial(const std::vector<TrialFile>& trials, ProbeReply& reply);

}  // namespace reconciler
