#include "plugins/nccl/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/nccl/library.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kLibrary = "nccl.library";
constexpr int kLimitS = 20;  // 220 MB from a cold disk; 0.1 s from memory

}  // namespace

std::string FormatLabel(const NcclLibrary& library) {
  return library.version.empty() ? fmt::format("the NCCL at {}", library.path)
                                 : fmt::format("NCCL {} ({})", library.version, library.path);
}

bool IsOlder(const std::string& a, const std::string& b) {
  if (a == b || a.empty() || b.empty()) return false;
  const std::vector<std::string> left = Split(a, '.');
  const std::vector<std::string> right = Split(b, '.');
  const auto is_less = [](const std::string& x, const std::string& y) {
    return ParseNumber<int>(x) < ParseNumber<int>(y);
  };
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      is_less);
}

RunProbe MakeLibraryProbe(const Section& section) {
  return {.id = kLibrary,
          .argv = {"sh", "-c", std::string(kLibrarySh), "sh", section.library},
          .time_limit_s = kLimitS};
}

void StoreLibrary(const CommandReply& reply, NodeFacts& facts) {
  Fact<NcclLibrary>& fact = facts.nccl.library;
  if (reply.exit_code == 124) {
    fact = Unknown{fmt::format("reading libnccl took longer than {} s", kLimitS)};
    return;
  }
  if (reply.exit_code != 0) {
    fact = Unknown{"libnccl cannot be read: " + MakePrintable(Trim(reply.err))};
    return;
  }
  NcclLibrary library;
  constexpr std::string_view kVersion = "NCCL version ";
  for (const std::string& line : SplitLines(reply.out)) {
    if (line.starts_with('/')) {
      library.path = MakePrintable(line);
    } else if (line.starts_with(kVersion)) {
      library.version = line.substr(kVersion.size());
    } else {
      library.names.insert(line);
    }
  }
  if (library.path.empty()) {
    fact = Absent{};
    return;
  }
  if (library.names.empty()) {
    fact = Unknown{reply.err.empty()
                       ? fmt::format("{} names no variable: is it a libnccl?", library.path)
                       : MakePrintable(Trim(reply.err))};
    return;
  }
  fact = std::move(library);
}

}  // namespace reconciler::plugins::nccl
