#include "reconciler/apply/new_generation.h"

#include <filesystem>

#include "reconciler/base/text.h"
#include "reconciler/node/lock.h"
#include "reconciler/transport/local_transport.h"

namespace reconciler {
namespace {

constexpr Milliseconds kGitLimit{6000};
constexpr std::size_t kCommitLength = 40;

struct GitInfo {
  std::string commit = {};  // empty: in no repository, or git does not say within seconds
  bool dirty = false;       // the file is not as that commit has it
};

// The repository that a file lies in.
GitInfo ReadGitInfo(const std::string& file) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed || file.find('\0') != std::string::npos) return {};
  const NodeSpec here{.name = "localhost",
                      .access = {.transport = TransportKind::kLocal, .become = Become::kNone}};
  auto transport = DialLocal(here);
  if (!transport) return {};
  const std::string script = "cd " + QuoteForShell(path.parent_path().string()) +
                             " || exit 1\ntimeout 2 git rev-parse HEAD || exit 1\n"
                             "timeout 2 git status --porcelain -- " +
                             QuoteForShell(path.filename().string()) + "\n";
  const auto reply = RunScript(**transport, script, kGitLimit);
  if (!reply || reply->exit_code != 0) return {};
  const std::vector<std::string> lines = SplitLines(reply->out);
  if (lines.empty() || lines.front().size() < kCommitLength) return {};
  return {.commit = lines.front(), .dirty = lines.size() > 1};
}

}  // namespace

GenerationInfo MakeGenerationInfo(const ClusterSpec& cluster, const std::string& text,
                                  const std::string& file) {
  const GitInfo git = ReadGitInfo(file);
  return {.cluster = cluster.name,
          .manifest = file,
          .manifest_digest = cluster.digest,
          .manifest_text = text,
          .time = FormatTimeNow(),
          .by = DescribeOwner(),
          .commit = git.commit,
          .dirty = git.dirty};
}

}  // namespace reconciler
