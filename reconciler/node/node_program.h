#pragma once

#include <string>

#include "reconciler/node/node_pool.h"

namespace reconciler {

// spark-verify for the machine type that `uname -m` names, from the folder that holds
// "spark-verify" (for this machine's own type) and "spark-verify-TYPE".
Result<std::string> ReadProgram(const std::string& folder, const std::string& machine);

// Where a program of that content lies on a node: by digest, so that versions never mix, and not
// below /run or /tmp, which may be mounted noexec.
std::string GetProgramPath(std::string_view program);

// A script that puts the program at `path`, or nothing when what arrived has another digest.
// Several may run at the same time.
std::string BuildUploadScript(std::string_view program, const std::string& path);

// Puts the program on the node, unless it is there already, and returns its path there.
Result<std::string> PushProgram(const NodeSpec& node, NodePool& pool, const std::string& folder);
// Takes it away again, with the folders that nothing else is in. Errors are no one's concern: the
// next run puts the same file there.
void RemoveProgram(const NodeSpec& node, NodePool& pool, const std::string& path);

}  // namespace reconciler
