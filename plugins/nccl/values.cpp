#include "plugins/nccl/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

std::string JoinChoices(std::string_view choices) { return Join(Split(choices, '/'), ", "); }

bool Contains(std::string_view choices, std::string_view word) {
  const std::vector<std::string> list = Split(choices, '/');
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "022", "-08": digits that strtoll with base 0 takes for octal ones, up to an 8 or a 9.
bool IsOctal(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return text.size() > 1 && text.front() == '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Of a number that is octal to NCCL, and another one than it looks like.
Mistake JudgeOctal(const Rule& rule, const std::string& text) {
  const std::int64_t read = std::strtoll(text.c_str(), nullptr, 0);
  const std::int64_t meant = std::strtoll(text.c_str(), nullptr, 10);
  if (read == meant) return {};
  const bool fits = meant >= rule.least && meant <= rule.most;
  return {MistakeKind::kMisread,
          fmt::format("wanted a number, found '{}', which NCCL reads as {}", text, read),
          fits ? fmt::format("write {}", meant)
               : fmt::format("a number from {} to {}", rule.least, rule.most)};
}

Mistake JudgeNumber(const Rule& rule, std::string_view value) {
  const std::string text(value);
  if (IsOctal(text)) {
    if (Mistake wrong = JudgeOctal(rule, text); !wrong.Empty()) return wrong;
  }
  char* end = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);  // as NCCL does
  if (*end != '\0' || end == text.c_str()) {
    const std::string range = fmt::format("a number from {} to {}", rule.least, rule.most);
    const std::string word = ToLower(text);
    const bool says_zero = word == "no" || word == "off" || word == "false";
    return {says_zero ? MistakeKind::kReadAsMeant : MistakeKind::kMisread,
            fmt::format("wanted a number, found '{}', which NCCL silently reads as {}",
                        MakePrintable(value), number),
            rule.note.empty() ? range : fmt::format("{}; {}", range, rule.note)};
  }
  if (errno != 0 || number < rule.least || number > rule.most) {
    return {MistakeKind::kMisread,
            fmt::format("wanted {} to {}, found {}", rule.least, rule.most, text),
            std::string(rule.note)};
  }
  return {};
}

Mistake JudgeWord(const Rule& rule, std::string_view value) {
  if (Contains(rule.choices, value)) return {};
  const std::string hint = "one of " + JoinChoices(rule.choices);
  if (Contains(ToLower(rule.choices), ToLower(value))) {
    if (rule.form == Form::kWordNoCase) return {};
    return {MistakeKind::kMisread,
            fmt::format("found '{}' in the wrong case, which NCCL ignores silently",
                        MakePrintable(value)),
            hint};
  }
  return {MistakeKind::kMisread,
          fmt::format("unknown word '{}', which NCCL ignores silently", MakePrintable(value)),
          hint};
}

// "tree,ring", "^ll128", "allreduce:tree;broadcast:ring".
Mistake JudgeTokens(const Rule& rule, std::string_view value) {
  for (const std::string& part : Split(value, ';')) {
    const std::size_t colon = part.find(':');
    std::string_view list = part;
    if (colon != std::string::npos) list.remove_prefix(colon + 1);
    if (list.starts_with('^')) list.remove_prefix(1);
    for (const std::string& token : Split(list, ',')) {
      if (Contains(rule.choices, ToLower(token))) continue;
      return {MistakeKind::kMisread,
              fmt::format("unknown word '{}': the rank that has it fails to start and all others "
                          "wait for it",
                          MakePrintable(token)),
              "known: " + JoinChoices(rule.choices)};
    }
  }
  return {};
}

Mistake JudgeMatcher(std::string_view value) {
  if (value.starts_with("=^")) {
    return {MistakeKind::kMisread,
            fmt::format("found '{}', whose '^' is part of a name there", MakePrintable(value)),
            "write '^=' to leave out exactly those"};
  }
  if (value.find(' ') != std::string_view::npos) {
    return {MistakeKind::kMisread,
            fmt::format("found a blank in '{}', which NCCL takes for a part of the name",
                        MakePrintable(value)),
            "separate names with commas alone"};
  }
  return {};  // what an entry without "=" begins is judged by the names that there are
}

// The entries of a list, sorted, each once.
std::set<std::string> ListEntries(std::string_view list) {
  const std::vector<std::string> entries = Split(list, ',');
  return {entries.begin(), entries.end()};
}

// "=b,a:1" as the signs and the names without ports: an HCA of a ConnectX has one.
std::pair<std::string, std::set<std::string>> ReadMatcher(std::string_view value) {
  const std::size_t signs = std::min(value.find_first_not_of("^="), value.size());
  std::set<std::string> names;
  for (const std::string& entry : ListEntries(value.substr(signs))) {
    names.insert(entry.ends_with(":1") ? entry.substr(0, entry.size() - 2) : entry);
  }
  return {std::string(value.substr(0, signs)), names};
}

// By function ("allreduce:tree;broadcast:ring"), each with its sign and its words.
std::map<std::string, std::pair<bool, std::set<std::string>>> ReadTokens(std::string_view value) {
  std::map<std::string, std::pair<bool, std::set<std::string>>> parts;
  for (const std::string& part : Split(ToLower(std::string(value)), ';')) {
    const std::size_t colon = part.find(':');
    const std::string function = colon == std::string::npos ? "" : part.substr(0, colon);
    std::string_view list = part;
    if (colon != std::string::npos) list.remove_prefix(colon + 1);
    const bool others = list.starts_with('^');
    if (others) list.remove_prefix(1);
    parts[function] = {others, ListEntries(list)};
  }
  return parts;
}

// As NCCL reads it; nullopt: there is more than a number.
std::optional<std::int64_t> ReadNumber(std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0' || errno != 0) return std::nullopt;
  return number;
}

}  // namespace

bool MeanTheSame(const std::string& name, std::string_view a, std::string_view b) {
  if (a == b) return true;
  const Rule* rule = FindRule(name);
  if (rule == nullptr) return false;
  switch (rule->form) {
    case Form::kText:
    case Form::kWord:
      return false;
    case Form::kNumber:
      return ReadNumber(a) && ReadNumber(a) == ReadNumber(b);
    case Form::kWordNoCase:
      return ToLower(std::string(a)) == ToLower(std::string(b));
    case Form::kTokens:
      return ReadTokens(a) == ReadTokens(b);
    case Form::kMatcher:
      return ReadMatcher(a) == ReadMatcher(b);
    case Form::kNames:
      return ListEntries(a) == ListEntries(b);
  }
  return false;
}

Mistake JudgeValue(const Rule& rule, std::string_view value) {
  if (value.empty()) {
    return {MistakeKind::kMisread,
            "is empty: NCCL takes its default, and no longer looks into nccl.conf for it",
            "give it a value, or remove it"};
  }
  switch (rule.form) {
    case Form::kText:
    case Form::kNames:
      return {};
    case Form::kNumber:
      return JudgeNumber(rule, value);
    case Form::kWord:
    case Form::kWordNoCase:
      return JudgeWord(rule, value);
    case Form::kTokens:
      return JudgeTokens(rule, value);
    case Form::kMatcher:
      return JudgeMatcher(value);
  }
  return {};
}

}  // namespace reconciler::plugins::nccl
