#include "plugins/nccl/settings.h"

#include <fmt/format.h>

#include <cctype>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kKey = "nccl.settings";  // PATH:LINE:NAME=VALUE, one per line
constexpr std::size_t kMostBytes = 65536;

// A constant: $1 is the user whose files count, or empty for the one who logged in. grep says PATH,
// a NUL byte, LINE, a colon, the text.
constexpr std::string_view kShellScript =
    "home=$(getent passwd \"${1:-${SUDO_USER:-root}}\" 2>/dev/null | cut -d: -f6)\n"
    "grep -asHnZ NCCL_ /etc/nccl.conf /etc/environment /etc/environment.d/*.conf /etc/profile"
    " /etc/profile.d/*.sh /etc/bash.bashrc /etc/systemd/system/*.service"
    " /etc/systemd/system/*.d/*.conf /etc/systemd/system.conf /etc/systemd/system.conf.d/*.conf"
    " /root/.nccl.conf /root/.profile /root/.bash_profile /root/.bashrc \"$home/.nccl.conf\" "
    "\"$home/.profile\" \"$home/.bash_profile\""
    " \"$home/.bashrc\" | head -c 65536\n";

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// NCCL takes every byte for what it is: no quotes, no blanks around "=", "#" in the first column.
std::vector<Setting> ParseConfLine(const std::string& path, int line, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (text.starts_with('#') || equals == std::string_view::npos) return {};
  const std::string_view name = text.substr(0, equals);
  if (name.find("NCCL_") == std::string_view::npos) return {};
  return {{path, line, MakePrintable(name), MakePrintable(text.substr(equals + 1))}};
}

// The word after NAME=, which a quote before the name or the value may hold together.
std::string_view WordAt(std::string_view text, std::size_t at, char quote) {
  if (quote == 0 && at < text.size() && (text[at] == '"' || text[at] == '\'')) quote = text[at++];
  const std::string_view rest = text.substr(at);
  return rest.substr(0, quote != 0 ? rest.find(quote) : rest.find_first_of(" \t;&\"'\\"));
}

}  // namespace

RunProbe MakeSettingsProbe(const NodeSpec& node) {
  return {.id = std::string(kKey),
          .argv = {"sh", "-c", std::string(kShellScript), "sh", node.access.user}};
}

std::vector<Setting> ParseLine(const std::string& path, int line, std::string_view text) {
  if (path.ends_with("nccl.conf")) return ParseConfLine(path, line, text);
  if (const std::string_view bare = Trim(text); bare.starts_with('#') || bare.starts_with(';')) {
    return {};
  }
  std::vector<Setting> settings;
  for (std::size_t at = text.find("NCCL_"); at != std::string_view::npos;
       at = text.find("NCCL_", at + 1)) {
    if (at > 0 && (IsNameCharacter(text[at - 1]) || text[at - 1] == '$' || text[at - 1] == '{')) {
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    if (end == text.size() || text[end] != '=') continue;
    const char before = at > 0 ? text[at - 1] : ' ';
    const std::string_view value =
        WordAt(text, end + 1, before == '"' || before == '\'' ? before : '\0');
    settings.push_back({path, line, std::string(text.substr(at, end - at)), MakePrintable(value)});
  }
  return settings;
}

void StoreSettings(const CommandReply& reply, NodeFacts& facts) {
  Observed<std::string>& fact = facts.values[std::string(kKey)];
  if (reply.exit_code == 124) {
    fact = Unknown{"looking for NCCL_ in the node's files took longer than 5 s"};
    return;
  }
  if (reply.exit_code != 0 || reply.out.size() >= kMostBytes) {
    fact = Unknown{reply.exit_code != 0 ? "looking for NCCL_ in the node's files failed"
                                        : "more than 64 KiB of lines name NCCL_"};
    return;
  }
  std::string lines;
  for (const std::string& record : SplitLines(reply.out)) {
    const std::size_t nul = record.find('\0');
    if (nul == std::string::npos) continue;
    const std::string path = MakePrintable(record.substr(0, nul));
    if (path == kShellFile || path.find(':') != std::string::npos) continue;
    std::string_view rest = std::string_view(record).substr(nul + 1);
    const auto number = ConsumeNumber<int>(rest);
    if (!number || !rest.starts_with(':')) continue;
    for (const Setting& one : ParseLine(path, *number, rest.substr(1))) {
      lines += fmt::format("{}:{}:{}={}\n", one.path, one.line, one.name, one.value);
    }
  }
  fact = lines;
}

bool HaveSameSettings(const NodeFacts& a, const NodeFacts& b) {
  static const std::string kName(kKey);
  const auto one = a.values.find(kName);
  const auto two = b.values.find(kName);
  if (one == a.values.end() || two == b.values.end()) {
    return one == a.values.end() && two == b.values.end();
  }
  return one->second == two->second;
}

Observed<std::vector<Setting>> FindSettings(const NodeFacts& facts) {
  const Observed<std::string> fact = FindValue(facts, std::string(kKey));
  if (const auto* unknown = std::get_if<Unknown>(&fact)) return *unknown;
  const auto* lines = Known(fact);
  if (lines == nullptr) return Absent{};
  std::vector<Setting> settings;
  for (const std::string& line : SplitLines(*lines)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    const std::size_t equals = line.find('=', second + 1);
    if (first == std::string::npos || second == std::string::npos || equals == std::string::npos) {
      continue;
    }
    const auto number = ParseNumber<int>(line.substr(first + 1, second - first - 1));
    if (!number) continue;
    settings.push_back({.path = line.substr(0, first),
                        .line = *number,
                        .name = line.substr(second + 1, equals - second - 1),
                        .value = line.substr(equals + 1)});
  }
  return settings;
}

}  // namespace reconciler::plugins::nccl
