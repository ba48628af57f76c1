#pragma once

#include <string>

#include "reconciler/model/fabric.h"

namespace reconciler::plugins::sysctl {

// Why a setting of the manifest contradicts what the fabric needs, with what is wanted instead;
// empty: it does not. `key` is canonical. `manages_arp`: the manifest does not leave ARP alone.
struct Contradiction {
  std::string wanted = {};  // "1 or 2"
  std::string why = {};     // what the fabric needs it for
};

Contradiction FindContradiction(const Fabric& fabric, bool manages_arp, const std::string& key,
                                const std::string& value);

}  // namespace reconciler::plugins::sysctl
