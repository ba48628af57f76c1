#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/spark_verify/messages.h"
#include "reconciler/verify/report.h"

namespace reconciler {

// One rail of one transfer, as both ends told it.
struct RailWrite {
  int rail = 0;
  std::string from_hca = {};
  std::string to_hca = {};
  std::string from_netdev = {};
  std::string to_netdev = {};
  int from_mtu = 0;  // active_mtu of the ports, bytes
  int to_mtu = 0;
  int wanted_mtu = 4096;  // that the manifest's interface MTU makes possible
  spark_verify::Limits from_limits = {};
  spark_verify::Limits to_limits = {};
  double gbps = 0;
};

// Data written from one node to another: one rail alone, or all that join them.
struct Transfer {
  NodeName from = {};
  NodeName to = {};
  std::vector<RailWrite> rails = {};
  spark_verify::Counters from_counters = {};  // growth during the run
  spark_verify::Counters to_counters = {};
  std::optional<spark_verify::Trouble> trouble = std::nullopt;
  NodeName trouble_node = {};  // the one that said it
  std::string skipped = {};    // not empty: not run, and why
};

struct RdmaJudgement {
  std::vector<Check> checks = {};
  std::vector<Finding> findings = {};
};

RdmaJudgement JudgeRdma(const std::vector<Transfer>& transfers);

}  // namespace reconciler
