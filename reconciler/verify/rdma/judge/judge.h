#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reconciler/model/hardware.h"
#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// One end of a rail.
struct RailEnd {
  std::string hca = {};
  std::string netdev = {};
  std::string cage = {};  // "p1"
  std::string pcie = {};  // "0002:01:00": functions of one device share its PCIe link
  std::string hardware = std::string(kDefaultHardware);  // the name of the node's profile
  int active_mtu = 0;                                    // of the port, bytes
  spark_verify::Limits limits = {};
};

// One rail of one transfer, as both ends reported it.
struct RailWrite {
  int rail = 0;
  RailEnd from = {};
  RailEnd to = {};
  int wanted_mtu = 4096;    // that the manifest's interface MTU makes possible
  double gbps = 0;          // in the time measured
  std::uint64_t bytes = 0;  // in all
  double latency_us = 0;    // of a small write, one way; 0: not measured
};

// Data written from one node to another: one rail alone, or all that join them.
struct Transfer {
  NodeName from = {};
  NodeName to = {};
  std::vector<RailWrite> rails = {};
  double uplink_gbps = 0;                     // between their switches, in all; 0: none needed
  spark_verify::Counters from_counters = {};  // growth during the run
  spark_verify::Counters to_counters = {};
  std::optional<spark_verify::RunError> run_error = std::nullopt;
  NodeName failed_node = {};  // the one that said it
  std::string skipped = {};   // not empty: not run, and why
};

struct RdmaJudgement {
  std::vector<Check> checks = {};
  std::vector<Finding> findings = {};
  std::set<NodeName> uncounted = {};  // nodes whose HCAs do not count what each carried
};

RdmaJudgement JudgeRdma(const std::vector<Transfer>& transfers);

}  // namespace reconciler
