#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// Why a whole file must not be overwritten by this cluster: others wrote it, or it belongs to
// another cluster (`former` is the name that this one had before). Empty: it is ours or not there,
// or no one knows (see FindFileObstacle).
std::string ExplainNotOurs(const Observed<FileState>& observed, std::string_view cluster,
                           std::string_view former = {});

// A file that is not ours is blocked, whatever else would block it.
void BlockUnlessOurs(Resource& file, std::string_view cluster, std::string_view former = {});

// Why a whole file of ours does not get its content, with its path, for what depends on that
// content; empty: it does.
Obstacle FindFileObstacle(const NodeFacts& facts, const std::string& path, std::string_view cluster,
                          std::string_view former = {});

}  // namespace reconciler::plugins
