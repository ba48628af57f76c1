#include "reconciler/fabric/hardware.h"

namespace reconciler {
namespace {

// p0 is next to the RJ45 port, p1 the outer one. Twin 0 is in PCI domain 0000, twin 1 in 0002.
constexpr Hardware kDgxSpark = {
    "dgx-spark",
    {{{"p0", {{{"enp1s0f0np0", "rocep1s0f0"}, {"enP2p1s0f0np0", "roceP2p1s0f0"}}}},
      {"p1", {{{"enp1s0f1np1", "rocep1s0f1"}, {"enP2p1s0f1np1", "roceP2p1s0f1"}}}}}}};

}  // namespace

const Cage* Hardware::FindCage(std::string_view cage) const {
  for (const Cage& candidate : cages) {
    if (candidate.name == cage) return &candidate;
  }
  return nullptr;
}

const Hardware& DgxSpark() { return kDgxSpark; }

}  // namespace reconciler
