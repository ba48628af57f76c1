#include "plugins/memlock/limit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::memlock {
namespace {

constexpr std::string_view kMainFile = "/etc/security/limits.conf";
constexpr std::string_view kFolder = "/etc/security/limits.d/";

// Whom pam_limits takes a line for; of two ranks the lower one wins, of one rank the later line.
enum class LimitRank { kUser, kGroup, kEveryone, kNoOne };

// pam_limits has three words for it.
std::string NormalizeLimit(const std::string& text) {
  return text == "infinity" || text == "-1" ? "unlimited" : text;
}

std::vector<LimitLine> ParseLimitLines(const std::string& text, const std::string& path) {
  std::vector<LimitLine> lines;
  int number = 0;
  for (std::string line : SplitLines(text)) {
    ++number;
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::vector<std::string> words = Split(line.substr(0, line.find('#')), ' ');
    std::erase(words, "");
    if (words.size() != 4 || ToLower(words[2]) != "memlock") continue;
    const std::string type = ToLower(words[1]);
    lines.push_back({.place = path.empty() ? "" : fmt::format("{}:{}", path, number),
                     .domain = words[0],
                     .soft = type != "hard",
                     .hard = type != "soft",
                     .kib = NormalizeLimit(ToLower(words[3]))});
  }
  return lines;
}

// In the order of pam_limits: limits.conf, then limits.d by name.
std::vector<LimitLine> ListLimitLines(const NodeFacts& facts, const std::string& own_file,
                                      const std::string& own_body) {
  std::map<std::string, std::string> texts = {{own_file, own_body}};
  std::vector<LimitLine> lines;
  for (const auto& [path, file] : facts.files) {
    const FileState* state = Known(file);
    if (state == nullptr) continue;
    if (path == kMainFile) lines = ParseLimitLines(state->content, path);
    if (path.starts_with(kFolder) && path.ends_with(".conf")) {
      texts.emplace(path, state->content);
    }
  }
  for (const auto& [path, text] : texts) {
    for (LimitLine& line : ParseLimitLines(text, path == own_file ? "" : path)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// Whether the login has just this soft limit. A limit in KiB is one in bytes there.
bool IsLiveLimit(const NodeFacts& facts, const std::string& kib) {
  const Observed<MemoryLimit> session = Answer(facts.memlock.session);
  const MemoryLimit* live = Known(session);
  if (live == nullptr) return false;
  if (kib == "unlimited" || live->IsUnlimited()) return kib == "unlimited" && live->IsUnlimited();
  const auto number = ParseNumber<std::int64_t>(kib);
  return number && live->bytes % 1024 == 0 && live->bytes / 1024 == *number;
}

struct Login {
  std::string user = {};
  bool is_sessions = false;  // its limit is among the facts
};

// Neither groups nor `*` hold for root.
LimitRank RankLine(const NodeFacts& facts, const LimitLine& line, const Login& login) {
  if (line.domain == login.user) return LimitRank::kUser;
  if (login.user == "root") return LimitRank::kNoOne;
  if (line.domain == "*") return LimitRank::kEveryone;
  const bool group = line.domain.starts_with('@') || line.domain.starts_with('%');
  return login.is_sessions && group && IsLiveLimit(facts, line.kib) ? LimitRank::kGroup
                                                                    : LimitRank::kNoOne;
}

// The line that sets the soft or the hard limit of this user.
const LimitLine* FindDecidingLine(const NodeFacts& facts, const std::vector<LimitLine>& lines,
                                  const Login& login, bool LimitLine::*type) {
  const LimitLine* deciding = nullptr;
  LimitRank best = LimitRank::kEveryone;
  for (const LimitLine& line : lines) {
    const LimitRank rank = RankLine(facts, line, login);
    if (!(line.*type) || rank > best) continue;
    best = rank;
    deciding = &line;
  }
  return deciding;
}

}  // namespace

std::vector<Read> ListLimitReads() {
  return {ReadFile{std::string(kMainFile)}, ReadFiles{"/etc/security/limits.d/*.conf"}};
}

std::vector<Diagnostic> DiagnoseLimitLines(const NodeFacts& facts, const std::string& own_file,
                                           const std::string& own_body, const std::string& wanted,
                                           const std::vector<std::string>& users) {
  const std::vector<LimitLine> lines = ListLimitLines(facts, own_file, own_body);
  std::vector<Diagnostic> diagnostics;
  std::vector<Login> logins;
  for (const std::string& user : users) {
    logins.push_back({.user = user, .is_sessions = logins.empty()});
  }
  logins.push_back({.user = "root"});
  for (const Login& login : logins) {
    for (bool LimitLine::*type : {&LimitLine::soft, &LimitLine::hard}) {
      const LimitLine* line = FindDecidingLine(facts, lines, login, type);
      if (line == nullptr || line->place.empty() || line->kib == wanted) continue;
      const bool known =
          std::any_of(diagnostics.begin(), diagnostics.end(),
                      [&](const Diagnostic& other) { return other.subject == line->place; });
      if (known) continue;
      diagnostics.push_back(
          {.severity = Severity::kWarns,
           .code = "memlock-foreign-line",
           .message = fmt::format(
               "{} sets memlock of {} to {} for logins, and wins over {}", line->place,
               login.user.empty() ? "users" : login.user,
               line->kib == "unlimited" ? line->kib : MakePrintable(line->kib) + " KiB", own_file),
           .next_step = "remove that line, or give it the value of the manifest",
           .subject = line->place});
    }
  }
  return diagnostics;
}

}  // namespace reconciler::plugins::memlock
