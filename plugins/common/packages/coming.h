#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// Ids of packages of the manifest with which apt brings a new package that fits, for
// Resource::needs. Empty: none does, as far as apt can say. One that is not installed as it
// is held, cannot be fetched, or would change packages that the manifest does not list, is left
// out.
std::vector<std::string> ListPackagesThatBring(
    const NodeFacts& facts, const std::function<bool(const std::string& package)>& fits);

// Makes the resource known only after those packages: "the unit, once …". Without them it shall be
// as it says now, or is left as it is where it says that.
void DeferUntilInstalled(std::string_view what, std::vector<std::string> packages,
                         Resource& resource);

}  // namespace reconciler::plugins
