#include "plugins/ssh/account.h"

#include <fmt/format.h>

#include <vector>

#include "plugins/common/commands/in_place.h"
#include "plugins/ssh/account.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr std::string_view kId = "ssh.account";
constexpr unsigned kMostMode = 07777;
constexpr std::string_view kProcess = "/proc/self/";  // has the user's primary group
constexpr std::string_view kDirectory = ".ssh";
constexpr std::string_view kPrivatePath = ".ssh/id_ed25519_spark";

// NAME|MODE|OWNER|GROUP
constexpr std::size_t kFields = 4;

Observed<std::string> ReadGroup(const CommandReply& reply) {
  for (const std::string& line : SplitLines(reply.out)) {
    const std::vector<std::string> fields = Split(line, '|');
    if (fields.size() != kFields || fields[0] != kProcess) continue;
    if (fields[3].empty() || fields[3] == "UNKNOWN") break;
    return fields[3];
  }
  return Unknown{"the user has no primary group"};
}

// From stat's line for `file`.
Observed<FileAccess> ReadStat(const CommandReply& reply, std::string_view file) {
  for (const std::string& line : SplitLines(reply.out)) {
    const std::vector<std::string> fields = Split(line, '|');
    if (fields.size() != kFields || fields[0] != file) continue;
    const auto mode = ParseNumber<unsigned>(fields[1], 8);
    if (!mode || *mode > kMostMode) break;
    return FileAccess{.mode = {*mode}, .owner = fields[2]};
  }
  for (const std::string& line : SplitLines(reply.err)) {
    if (line.find(fmt::format("'{}'", file)) == std::string::npos) continue;
    if (line.ends_with("No such file or directory")) return Absent{};
    return Unknown{line};
  }
  return Unknown{"stat gave no answer"};
}

std::string ExplainLookupFailure(const CommandReply& reply) {
  if (reply.exit_code == 3) return "the user does not exist on the node";
  if (reply.exit_code == 124) return "looking up the user gave no answer in 5 s";
  const std::vector<std::string> lines = SplitLines(reply.err);
  return lines.empty() ? fmt::format("looking up the user ended with exit {}", reply.exit_code)
                       : lines.front();
}

}  // namespace

RunProbe MakeAccountProbe(const std::string& user) {
  return MakeInPlaceProbe(std::string(kId), kAccountSh, {user});
}

void ParseAccount(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(std::string(kId));
  if (found == reply.commands.end()) return;
  const CommandReply& account = found->second;
  SshFacts& ssh = facts.ssh;
  // 1 is stat's: something is not there.
  if (account.exit_code != 0 && account.exit_code != 1) {
    const Unknown failed{ExplainLookupFailure(account)};
    ssh = {.group = failed, .directory = failed, .private_key = failed};
    return;
  }
  ssh.group = ReadGroup(account);
  ssh.directory = ReadStat(account, kDirectory);
  ssh.private_key = ReadStat(account, kPrivatePath);
}

std::string FormatMode(FileMode mode) { return fmt::format("{:04o}", mode.bits); }

std::string FormatAccess(const FileAccess& access) {
  return fmt::format("{} {}", FormatMode(access.mode), access.owner);
}

}  // namespace reconciler::plugins::ssh
