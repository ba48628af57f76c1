#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/cabling/neighbours.h"

namespace reconciler {

enum class CableState {
  kConfirmed,
  kWrong,    // another port is at the other end
  kUnknown,  // it could not be determined, or the two ends contradict each other
};

struct CableVerdict {
  DeclaredCable cable = {};  // of a switch: one verdict per cage on it
  CableState state = CableState::kUnknown;
  std::string detail = {};  // confirmed: how; wrong: who is there instead; unknown: why
};

struct CablingReport {
  std::vector<CableVerdict> cables = {};  // as declared
  // What a person has to know about the wrong ones, each fault once: a swap is one line, though it
  // makes two cables wrong.
  std::vector<std::string> wrong = {};
};

// Compares what the manifest declares with what the nodes see. A node that could not be queried
// makes its cables unknown, not wrong, unless the far end sees another cage of this cluster. Cables
// between nodes without a view are not judged.
CablingReport JudgeCabling(const ClusterSpec& cluster, const CablingViews& views);

// "spark-1 left – spark-2 right"; "spark-1 right – switch"
std::string DescribeCable(const DeclaredCable& cable);
std::string_view ToString(CableState state);  // "not known"

}  // namespace reconciler
