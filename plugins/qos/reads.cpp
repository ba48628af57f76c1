#include "plugins/qos/reads.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plugins/common/commands/failure.h"
#include "plugins/qos/read_qos.sh.h"
#include "plugins/qos/section.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::qos {
namespace {

constexpr const char* kQos = "qos.ports";
constexpr int kQosLimitS = 30;

Unknown NotUnderstood(const std::string& text) {
  return {fmt::format("not understood: '{}'", MakePrintable(Trim(text)))};
}

// "26:3", "3:on": the two words.
std::optional<std::pair<int, std::string>> ParsePair(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto number = ParseNumber<int>(std::string_view(word).substr(0, colon));
  if (!number) return std::nullopt;
  return std::pair(*number, word.substr(colon + 1));
}

// "prio-pfc 0:off 1:off 2:off 3:on …"
Observed<std::string> ParsePfc(const std::string& text) {
  std::set<int> on;
  int pairs = 0;
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty() || word == "prio-pfc") continue;
    const auto pair = ParsePair(word);
    if (!pair || (pair->second != "on" && pair->second != "off")) return NotUnderstood(text);
    ++pairs;
    if (pair->second == "on") on.insert(pair->first);
  }
  if (pairs == 0) return NotUnderstood(text);
  return FormatPriorities(on);
}

// "dscp-prio 26:3 48:6"; nothing at all where no DSCP has a priority.
Observed<std::string> ParseDscp(const std::string& text) {
  std::map<int, int> mapping;
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty() || word == "dscp-prio") continue;
    const auto pair = ParsePair(word);
    const auto priority = pair ? ParseNumber<int>(pair->second) : std::nullopt;
    if (!priority) return NotUnderstood(text);
    mapping[pair->first] = *priority;
  }
  return FormatMapping(mapping);
}

// The number that it ends in.
Observed<std::string> ParseTos(const std::string& text) {
  std::string number;
  for (const std::string& word : Split(text, ' ')) {
    if (ParseNumber<int>(word)) number = word;
  }
  if (number.empty()) return NotUnderstood(text);
  return number;
}

Observed<std::string> ParseAnswer(const std::string& what, bool ok, const std::string& text) {
  if (!ok && text.find("not supported") != std::string::npos) {
    return Unsupported{"the port has no such setting"};
  }
  if (!ok) return Unknown{text.empty() ? "no answer in 5 s" : MakePrintable(Trim(text))};
  if (what == "pfc") return ParsePfc(text);
  return what == "dscp" ? ParseDscp(text) : ParseTos(text);
}

// See read_qos.sh.
void ReadQosLine(const std::string& line, QosFacts& facts) {
  const std::vector<std::string> words = Split(line, ' ');
  if (words.size() < 2) return;
  const std::string& what = words[0];
  if (what == "dcb") facts.dcb = words[1] == "yes";
  if (what == "cma_roce_tos") facts.cma_roce_tos = words[1] == "yes";
  if (what == "unit") {
    const bool is_there = !words[1].empty() && words[1] != "not-found";
    facts.unit = is_there ? Observed<std::string>(MakePrintable(words[1])) : Absent{};
  }
  if (words.size() == 4 && what == "hca") {
    facts.ports[MakePrintable(words[1])].hca = Observed<std::string>(MakePrintable(words[3]));
  }
  if (words.size() < 3 || (what != "pfc" && what != "dscp" && what != "tos")) return;
  const std::size_t start = what.size() + words[1].size() + words[2].size() + 3;
  const std::string text = line.size() > start ? line.substr(start) : "";
  QosPort& port = facts.ports[MakePrintable(words[1])];
  (what == "pfc"    ? port.pfc
   : what == "dscp" ? port.dscp
                    : port.tos) = ParseAnswer(what, words[2] == "ok", text);
}

}  // namespace

RunProbe MakeQosProbe(const std::vector<RailPort>& ports) {
  RunProbe probe{.id = kQos,
                 .argv = {"sh", "-c", std::string(kReadQosSh), "sh", kUnitName},
                 .time_limit_s = kQosLimitS};
  for (const RailPort& port : ports) probe.argv.push_back(port.netdev);
  return probe;
}

void StoreQos(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kQos);
  if (found == reply.commands.end()) return;
  if (found->second.exit_code != 0) {
    facts.qos.dcb = ExplainFailure(found->second, "dcb", kQosLimitS);
    facts.qos.cma_roce_tos = ExplainFailure(found->second, "cma_roce_tos", kQosLimitS);
    return;
  }
  for (const std::string& line : SplitLines(found->second.out)) ReadQosLine(line, facts.qos);
}

std::string FindHcaName(const RailPort& port, const QosFacts& facts) {
  const auto found = facts.ports.find(port.netdev);
  const std::string* name = found == facts.ports.end() ? nullptr : Known(found->second.hca);
  return name == nullptr ? port.hca : *name;
}

bool MayHave(const Fact<bool>& program) {
  const bool* known = Known(program);
  return known == nullptr || *known;
}

}  // namespace reconciler::plugins::qos
