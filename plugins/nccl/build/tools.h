#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::nccl {

// What a build of NCCL needs.
inline constexpr std::string_view kBuildTools[] = {"git", "make", "g++", "nvcc"};

// The packages of the manifest by which apt brings these tools to the node. nullopt: one of them
// comes with none, or cannot be fetched, so that no build follows in the same apply.
std::optional<std::vector<std::string>> FindPackagesWith(const std::vector<std::string>& tools,
                                                         const PackageFacts& facts);

}  // namespace reconciler::plugins::nccl
