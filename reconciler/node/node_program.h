#pragma once

#include <string>

#include "reconciler/node/node_pool.h"

namespace reconciler {

// The folder that holds spark-verify, for a program in the folder `own`: the same one in a build,
// and ../libexec/spark-reconcile where both are installed.
std::string ChooseProgramFolder(const std::string& own);

// spark-verify for the machine type that `uname -m` names, from the folder that holds
// "spark-verify" (for this machine's own type) and "spark-verify-TYPE".
Result<std::string> ReadProgram(const std::string& folder, const std::string& machine);

// Where a program of that content is kept on a node: by digest, so that versions never mix, and not
// below /run or /tmp, which may be mounted noexec.
std::string GetProgramPath(std::string_view program);

// A script that puts the program at `path`, or nothing when what arrived has another digest or does
// not start there. Several may run at the same time.
std::string BuildUploadScript(std::string_view program, const std::string& path);

// Takes the program that is kept at `kept`, if it is there, to `own`, and prints the digest of what
// is there then.
std::string BuildClaimScript(const std::string& kept, const std::string& own);

// Puts the program on the node, or takes the one that is kept there, and returns its path: it is
// this call's alone, so that no other command removes it.
Result<std::string> PushProgram(const NodeSpec& node, NodePool& pool, const std::string& folder);
// Leaves it there for a later run.
void KeepProgram(const NodeSpec& node, NodePool& pool, const std::string& path);
// Takes it away again, with the folders that nothing else is in. Errors are no one's concern: the
// next run puts the same file there.
void RemoveProgram(const NodeSpec& node, NodePool& pool, const std::string& path);

}  // namespace reconciler
