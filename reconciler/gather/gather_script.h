#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/probe.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// One script that does all of `reads` with as few processes as it takes: one stat and one head for
// all files, one grep for all values, one process per command. `root` is put before every path, so
// that a recorded tree can be read like a node. Equal reads are done once.
std::string BuildGatherScript(const std::vector<Read>& reads, std::string_view nonce,
                              std::string_view root = "");

// The script's reply as facts' raw material. A file that changed while it was read, is larger than
// 1 MiB (the ledger: kLargestLedger), is a symbolic link or could not be opened is Unknown with
// that reason. Errors: the reply does not hold every frame (kProbe).
Result<ProbeReply> ParseGatherReply(const ScriptReply& reply, const std::vector<Read>& reads,
                                    std::string_view nonce, std::string_view root = "");

}  // namespace reconciler
