#include "plugins/common/firewall/ufw.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

constexpr const char* kDefaults = "/etc/default/ufw";
constexpr const char* kRules = "/etc/ufw/user.rules";
constexpr std::string_view kTuple = "### tuple ###";

// "### tuple ### allow any any 0.0.0.0/0 any 192.168.1.22 in": action, protocol, port and address
// here, port and address there, direction. "in_enP7s7" is what comes in over one interface.
struct UfwRule {
  std::string action = {};
  std::string protocol = {};
  bool any_port = false;
  Ipv4Prefix to = {};
  Ipv4Prefix from = {};
  std::string direction = {};
  std::string text = {};
};

// "192.168.1.0/24", "192.168.1.22"
std::optional<Ipv4Prefix> ParseNetwork(const std::string& word) {
  return ParseIpv4Prefix(word.find('/') == std::string::npos ? word + "/32" : word);
}

std::optional<UfwRule> ParseRule(const std::string& line) {
  if (!line.starts_with(kTuple)) return std::nullopt;
  const std::string text(Trim(line.substr(kTuple.size())));
  const std::vector<std::string> words = Split(text, ' ');
  if (words.size() < 7) return std::nullopt;
  const auto to = ParseNetwork(words[3]);
  const auto from = ParseNetwork(words[5]);
  if (!to || !from) return std::nullopt;
  return UfwRule{.action = words[0],
                 .protocol = words[1],
                 .any_port = words[2] == "any" && words[4] == "any",
                 .to = *to,
                 .from = *from,
                 .direction = words[6],
                 .text = MakePrintable(text)};
}

// A rule for one port says nothing of the others, and one for another address, such as a multicast
// group, nothing of this one.
bool IsAbout(const UfwRule& rule, std::optional<Ipv4Address> to, const std::string& interface) {
  return rule.any_port && (rule.to.length == 0 || (to && rule.to.Contains(*to))) &&
         (rule.protocol == "any" || rule.protocol == "tcp") &&
         (rule.direction == "in" || rule.direction == "in_" + interface);
}

bool Covers(const Ipv4Prefix& whole, const Ipv4Prefix& part) {
  return whole.length <= part.length && whole.Contains(part.address);
}

// What comes in is denied where no rule allows it.
bool DeniesByDefault(const std::string& defaults) {
  const std::vector<std::string> lines = SplitLines(defaults);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line == "DEFAULT_INPUT_POLICY=\"DROP\"" || line == "DEFAULT_INPUT_POLICY=\"REJECT\"";
  });
}

// The first rule that says something of it decides, as in ufw.
UfwAnswer JudgeRules(const std::string& rules, const Ipv4Prefix& from,
                     std::optional<Ipv4Address> to, const std::string& interface) {
  for (const std::string& line : SplitLines(rules)) {
    const auto rule = ParseRule(line);
    if (!rule || !IsAbout(*rule, to, interface)) continue;
    if (rule->action.starts_with("allow") && Covers(rule->from, from)) return {};
    const bool denies = rule->action.starts_with("deny") || rule->action.starts_with("reject");
    if (denies && rule->from.Overlaps(from)) return {UfwVerdict::kDropsByRule, rule->text};
  }
  return {.verdict = UfwVerdict::kDropsByDefault};
}

const std::string* FindText(const Observed<FileState>& file) {
  const FileState* state = Known(file);
  return state == nullptr ? nullptr : &state->content;
}

Unknown ExplainUnread(const Observed<FileState>& file, const char* path) {
  const auto* unknown = std::get_if<Unknown>(&file);
  return {unknown == nullptr ? fmt::format("ufw is enabled, and {} is not there", path)
                             : fmt::format("{}: {}", path, unknown->why)};
}

}  // namespace

std::vector<Read> ListUfwReads() { return {ReadFile{kDefaults}, ReadFile{kRules}}; }

Observed<UfwAnswer> JudgeUfw(const NodeFacts& facts, const Ipv4Prefix& from,
                             std::optional<Ipv4Address> to, const std::string& interface) {
  const Observed<bool> enabled = Answer(facts.rdma.ufw);
  if (const auto* unknown = std::get_if<Unknown>(&enabled)) return *unknown;
  if (Known(enabled) == nullptr || !*Known(enabled)) return UfwAnswer{};
  const Observed<FileState> defaults = FindFile(facts, kDefaults);
  if (FindText(defaults) == nullptr) return ExplainUnread(defaults, kDefaults);
  const Observed<FileState> rules = FindFile(facts, kRules);
  if (FindText(rules) == nullptr) return ExplainUnread(rules, kRules);
  const UfwAnswer answer = JudgeRules(*FindText(rules), from, to, interface);
  const bool by_default = answer.verdict == UfwVerdict::kDropsByDefault;
  if (by_default && !DeniesByDefault(*FindText(defaults))) return UfwAnswer{};
  return answer;
}

}  // namespace reconciler::plugins
