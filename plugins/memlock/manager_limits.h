#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::memlock {

// What systemd's managers read of DefaultLimitMEMLOCK, beside their main files.
std::vector<Read> ListManagerReads();

// Where a drop-in that is read after `own_file` sets it otherwise than `wanted`.
struct LaterLimit {
  std::string place = {};  // "/etc/systemd/system.conf.d/99-limits.conf:2"
  std::string value = {};  // as it is written, printable; empty: back to systemd's own
};
// `folder`: "system.conf.d" of the system manager, "user.conf.d" of those of users. nullopt: ours
// is the last one, or the last one sets the same. A file that cannot be read is passed over.
std::optional<LaterLimit> FindLaterLimit(const NodeFacts& facts, std::string_view folder,
                                         const std::string& own_file, const MemoryLimit& wanted);

}  // namespace reconciler::plugins::memlock
