#include "plugins/nccl/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

std::string JoinChoices(std::string_view choices) { return Join(Split(choices, '/'), ", "); }

bool Contains(std::string_view choices, std::string_view word) {
  const std::vector<std::string> list = Split(choices, '/');
  return std::find(list.begin(), list.end(), word) != list.end();
}

Mistake JudgeNumber(const Rule& rule, std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  errno = 0;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 0);  // as NCCL does
  if (*end != '\0' || end == text.c_str()) {
    const std::string range = fmt::format("a number from {} to {}", rule.least, rule.most);
    return {fmt::format("wanted a number, found '{}', which NCCL silently reads as {}",
                        MakePrintable(value), number),
            rule.note.empty() ? range : fmt::format("{}; {}", range, rule.note)};
  }
  if (errno != 0 || number < rule.least || number > rule.most) {
    return {fmt::format("wanted {} to {}, found {}", rule.least, rule.most, text),
            std::string(rule.note)};
  }
  return {};
}

Mistake JudgeWord(const Rule& rule, std::string_view value) {
  if (Contains(rule.choices, value)) return {};
  const std::string hint = "one of " + JoinChoices(rule.choices);
  if (Contains(ToLower(rule.choices), ToLower(value))) {
    if (rule.form == Form::kWordNoCase) return {};
    return {fmt::format("found '{}' in the wrong case, which NCCL ignores silently",
                        MakePrintable(value)),
            hint};
  }
  return {fmt::format("unknown word '{}', which NCCL ignores silently", MakePrintable(value)),
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
      return {fmt::format("unknown word '{}': the rank that has it fails to start and all others "
                          "wait for it",
                          MakePrintable(token)),
              "known: " + JoinChoices(rule.choices)};
    }
  }
  return {};
}

Mistake JudgeMatcher(std::string_view value) {
  if (value.starts_with("=^")) {
    return {fmt::format("found '{}', whose '^' is part of a name there", MakePrintable(value)),
            "write '^=' to leave out exactly those"};
  }
  if (value.find(' ') != std::string_view::npos) {
    return {fmt::format("found a blank in '{}', which NCCL takes for a part of the name",
                        MakePrintable(value)),
            "separate names with commas alone"};
  }
  const bool exact = value.starts_with('=') || value.starts_with("^=");
  if (!exact) {
    return {
        fmt::format("'{}' matches by prefix: every name that begins like it", MakePrintable(value)),
        fmt::format("write '{}'", value.starts_with('^') ? "^=" + MakePrintable(value.substr(1))
                                                         : "=" + MakePrintable(value))};
  }
  return {};
}

}  // namespace

Mistake JudgeValue(const Rule& rule, std::string_view value) {
  if (value.empty()) {
    return {"is empty: NCCL takes its default, and no longer looks into nccl.conf for it",
            "give it a value, or remove it"};
  }
  switch (rule.form) {
    case Form::kText:
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
