#include "reconciler/cli/apply/git_info.h"

#include <filesystem>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"

namespace reconciler::cli {
namespace {

constexpr Milliseconds kLimit{6000};
constexpr std::size_t kCommitLength = 40;

}  // namespace

GitInfo ReadGitInfo(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed || file.find('\0') != std::string::npos) return {};
  const NodeSpec here{.name = "localhost",
                      .access = {.transport = TransportKind::kLocal, .become = Become::kNone}};
  auto transport = DialNode(here);
  if (!transport) return {};
  const std::string script = "cd " + QuoteForShell(path.parent_path().string()) +
                             " || exit 1\ntimeout 2 git rev-parse HEAD || exit 1\n"
                             "timeout 2 git status --porcelain -- " +
                             QuoteForShell(path.filename().string()) + "\n";
  const auto reply = RunScript(**transport, script, kLimit);
  if (!reply || reply->exit_code != 0) return {};
  const std::vector<std::string> lines = SplitLines(reply->out);
  if (lines.empty() || lines.front().size() < kCommitLength) return {};
  return {.commit = lines.front(), .dirty = lines.size() > 1};
}

}  // namespace reconciler::cli
