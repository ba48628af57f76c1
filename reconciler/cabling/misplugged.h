#pragma once

#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/observed_cabling.h"

namespace reconciler {

// One line per fault behind the wrong cables: a swap within a node, a plug in the wrong cage, or a
// cable to another machine. A cable that was not known but lies between its two nodes in other
// cages, while its own show no carrier, becomes wrong.
std::vector<std::string> NameMisplugged(const ObservedCabling& observed,
                                        std::vector<CableVerdict>& verdicts);

}  // namespace reconciler
