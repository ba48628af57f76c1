#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler {

// How a rank's process came to its end, as the controller saw it.
enum class NcclFate {
  kSilent,      // it did not even answer the order to abort
  kFinished,    // said all it had to say
  kFailed,      // said why
  kAborted,     // at our order
  kGone,        // its process ended without a message
  kLost,        // the connection to its node broke
  kRefused,     // by the controller: what it said cannot be worked with
  kNotStarted,  // its node could not be made ready
};

struct NcclRank {
  NodeName node = {};
  NcclFate fate = NcclFate::kSilent;
  int order = 0;                           // of fates: 1 was the first; 0: none
  std::string phase = "start";             // the one it was last known to be in
  spark_verify::NcclFailure failure = {};  // kFailed
  Error error = {};                        // kGone, kLost, kRefused, kNotStarted: our text
  std::optional<spark_verify::NcclHello> hello = std::nullopt;
  std::vector<spark_verify::NcclResult> results = {};
  spark_verify::Counters counters = {};  // growth during the run
  double init_s = 0;
  double connect_s = 0;
  std::string log = {};  // lines of NCCL's
};

// One run of all its ranks, in rank order.
struct NcclRun {
  std::vector<NcclRank> ranks = {};
  std::string root = {};  // where rank 0 waited: "192.168.1.21:43321"
  double seconds = 0;     // of everything

  bool IsFinished() const;
};

// What went wrong in a run, as the rank that knows reports it.
struct NcclRunError {
  std::string code = {};  // spark-verify's, or: gone, lost, silent, root, no-program, env-differs
  NodeName node = {};
  std::string phase = {};
  std::string text = {};
  std::string hint = {};
  std::vector<std::string> evidence = {};
  bool operator==(const NcclRunError&) const = default;
};

}  // namespace reconciler
