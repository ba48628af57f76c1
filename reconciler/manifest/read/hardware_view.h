#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/hardware.h"
#include "reconciler/model/value.h"

namespace reconciler {

// The manifest's own profiles, as far as they are well formed. Twins come out in the order of
// their PCI addresses, however they are listed.
std::vector<Hardware> ViewHardware(const Value& document);

// The profile that an entry of `nodes` names; nothing when there is none of that name.
std::optional<Hardware> FindProfile(const Value& document, const Value& node);

// How many functions a cage of that node has; 0 when the node has no such cage.
std::size_t CountTwins(const Value& document, const Value& node, const std::string& cage);

}  // namespace reconciler
