#include "plugins/qos/section.h"

#include <fmt/format.h>

#include <vector>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::qos {
namespace {

constexpr int kEcnBits = 2;

}  // namespace

std::optional<Section> ReadSection(const ClusterSpec& cluster) {
  const Value* value = cluster.settings.Find("qos");
  if (value == nullptr || !value->IsMap()) return std::nullopt;
  Section section{.position = value->position};
  if (const Value* pfc = value->Find("pfc"); pfc != nullptr && pfc->IsList()) {
    section.pfc.emplace();
    for (const Value& priority : pfc->List()) {
      if (const auto* number = priority.AsInteger()) section.pfc->insert(static_cast<int>(*number));
    }
  }
  if (const Value* dscp = value->Find("dscp"); dscp != nullptr && dscp->IsMap()) {
    section.dscp.emplace();
    for (const Member& member : dscp->Members()) {
      const auto point = ParseNumber<int>(member.key);
      const auto* priority = member.value.AsInteger();
      if (point && priority != nullptr) (*section.dscp)[*point] = static_cast<int>(*priority);
    }
  }
  if (const Value* tos = value->Find("tos"); tos != nullptr && tos->AsInteger() != nullptr) {
    section.tos = static_cast<int>(*tos->AsInteger());
  }
  return section;
}

std::string FormatPriorities(const std::set<int>& priorities) {
  std::vector<std::string> words;
  for (const int priority : priorities) words.push_back(fmt::format("{}", priority));
  return words.empty() ? "none" : Join(words, " ");
}

std::string FormatMapping(const std::map<int, int>& mapping) {
  std::vector<std::string> words;
  for (const auto& [point, priority] : mapping)
    words.push_back(fmt::format("{}:{}", point, priority));
  return words.empty() ? "none" : Join(words, " ");
}

Errors CheckQos(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  const auto section = ReadSection(cluster);
  if (!section || !section->tos) return errors;
  const int point = *section->tos >> kEcnBits;
  const SourceMark where = cluster.Mark(cluster.settings.At({"qos", "tos"})->position);
  const bool is_mapped = !section->dscp || section->dscp->contains(point);
  if (point == 0 && *section->tos != 0) {
    errors.push_back(MakeManifestError(
        "qos-tos-without-dscp", where,
        fmt::format("qos: tos: wanted the whole ToS byte, found {}, which is DSCP 0",
                    *section->tos),
        "DSCP 26 with ECN is 106: the DSCP times 4, plus 2"));
  } else if (!is_mapped) {
    errors.push_back(
        MakeManifestError("qos-contradicts", where,
                          fmt::format("qos: tos {} is DSCP {}, and `dscp` gives it no priority",
                                      *section->tos, point),
                          fmt::format("add \"{}\": PRIORITY to `dscp`", point)));
  } else if (section->dscp && section->pfc && !section->pfc->contains(section->dscp->at(point))) {
    errors.push_back(MakeManifestError(
        "qos-contradicts", where,
        fmt::format("qos: tos {} is DSCP {}, which has priority {}, and `pfc` does not have that",
                    *section->tos, point, section->dscp->at(point)),
        fmt::format("add {} to `pfc`, or give DSCP {} another priority", section->dscp->at(point),
                    point)));
  }
  return errors;
}

}  // namespace reconciler::plugins::qos
