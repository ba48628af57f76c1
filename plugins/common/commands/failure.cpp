#include "plugins/common/commands/failure.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins {

Unknown ExplainFailure(const CommandReply& reply, std::string_view command, int limit_s) {
  const std::string_view program = command.substr(0, command.find(' '));
  if (reply.exit_code == 124) return {fmt::format("{} gave no answer in {} s", program, limit_s)};
  if (reply.exit_code == 127) return {fmt::format("{} is not installed", program)};
  const std::vector<std::string> lines = SplitLines(reply.err);
  return {fmt::format(
      "{} failed: {}", command,
      lines.empty() ? fmt::format("exit {}", reply.exit_code) : MakePrintable(lines.front()))};
}

}  // namespace reconciler::plugins
