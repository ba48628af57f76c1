#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// One connection between two nodes as NCCL names it: "Channel 00/0 : 1[0] -> 0[0] [receive] via
// NET/IB/0/GDRDMA".
struct NcclChannel {
  std::string network = {};  // "IB", "Socket", or a plugin's name
  int device = 0;            // index into NcclLog::devices
  bool gdr = false;
  bool operator==(const NcclChannel&) const = default;
  auto operator<=>(const NcclChannel&) const = default;
};

// A variable that the rank has read, as of "NAME set by environment to VALUE": from its
// environment, or from a file nccl.conf. NCCL reads each when it needs it first.
struct NcclVariable {
  std::string value = {};
  bool during_init = false;  // read before the communicator was complete, as on every other rank
  bool operator==(const NcclVariable&) const = default;
};

// What NCCL's debug output of one rank shows. That output is meant for people and changes with
// every version: a line that is not there proves nothing, so that everything may be empty.
struct NcclLog {
  std::string version = {};                  // "2.28.9+cuda13.0"
  std::string branch = {};                   // of "NCCL git version BRANCH COMMIT"; ≥2.28
  std::string network = {};                  // "IB", "Socket": the last one chosen
  std::map<int, std::string> devices = {};   // index → "rocep1s0f1"; fused ones "a+b"
  std::map<NcclChannel, int> channels = {};  // to other nodes, and how many of each
  bool no_ib_device = false;                 // "NET/IB : No device found."
  bool no_libibverbs = false;                // "Failed to open libibverbs.so.1"
  bool initialized = false;                  // "Init COMPLETE"
  std::map<std::string, NcclVariable> variables = {};  // by name
  std::vector<std::string> warnings = {};              // texts of WARN lines, without file and line
};

NcclLog ParseNcclLog(std::string_view text);

// "2.28.9" of "2.28.9+cuda13.0"; empty when it is no version.
std::string ReadNcclVersion(std::string_view version);

// Whether the build is no release: something between the number and "+cuda", or made from a branch
// that is none of NVIDIA's.
bool IsDevelopmentBuild(const NcclLog& log);

}  // namespace reconciler
