#include "plugins/common/systemctl/show_failure.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins {

Unknown ExplainShowFailure(const CommandReply& reply, int limit_s) {
  if (reply.exit_code == 124) return {fmt::format("systemctl gave no answer in {} s", limit_s)};
  if (reply.exit_code == 127) return {"systemctl is not installed"};
  const std::vector<std::string> lines = SplitLines(reply.err);
  return {fmt::format("systemctl show failed: {}",
                      lines.empty() ? fmt::format("exit {}", reply.exit_code) : lines.front())};
}

}  // namespace reconciler::plugins
