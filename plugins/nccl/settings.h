#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::nccl {

// A variable that some file of a node sets, other than ours.
struct Setting {
  std::string path = {};
  int line = 0;
  std::string name = {};  // as NCCL takes it: a line of nccl.conf may begin with "export "
  std::string value = {};

  bool InConf() const { return path.ends_with("nccl.conf"); }
};

inline constexpr std::string_view kShellFile = "/etc/profile.d/60-spark-reconcile-nccl.sh";
inline constexpr std::string_view kServiceFile = "/etc/spark-reconcile/nccl.env";

// Finds the lines about NCCL in nccl.conf, profiles, environment files and units.
RunProbe MakeSettingsProbe(const NodeSpec& node);
// From the probe's reply to facts, and back. Only the variables are kept: the rest of a unit's line
// may be a secret.
void StoreSettings(const CommandReply& reply, NodeFacts& facts);
Observed<std::vector<Setting>> FindSettings(const NodeFacts& facts);
// Whether both have the same lines; cheap, as nodes mostly do.
bool HaveSameSettings(const NodeFacts& a, const NodeFacts& b);

// What one line of such a file sets.
std::vector<Setting> ParseLine(const std::string& path, int line, std::string_view text);

}  // namespace reconciler::plugins::nccl
