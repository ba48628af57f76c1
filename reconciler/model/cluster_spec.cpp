#include "reconciler/model/cluster_spec.h"

namespace reconciler {

const NodeSpec* ClusterSpec::FindNode(std::string_view node) const {
  for (const NodeSpec& candidate : nodes) {
    if (candidate.name == node) return &candidate;
  }
  return nullptr;
}

const Hardware* ClusterSpec::FindHardware(std::string_view profile) const {
  for (const auto* profiles : {&hardware, &GetBuiltInHardware()}) {
    for (const Hardware& candidate : *profiles) {
      if (candidate.name == profile) return &candidate;
    }
  }
  return nullptr;
}

std::string_view ToString(Topology topology) {
  switch (topology) {
    case Topology::kDirect:
      return "direct";
    case Topology::kRing:
      return "ring";
    case Topology::kSwitch:
      return "switch";
    case Topology::kLeafSpine:
      return "leaf-spine";
    case Topology::kLinks:
      return "links";
  }
  return "";
}

std::string_view ToString(Fec fec) {
  switch (fec) {
    case Fec::kAuto:
      return "auto";
    case Fec::kRs:
      return "rs";
    case Fec::kFc:
      return "fc";
    case Fec::kOff:
      return "off";
  }
  return "";
}

}  // namespace reconciler
