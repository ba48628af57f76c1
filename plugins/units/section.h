#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::units {

// One entry of the manifest's `units`. What is nullopt there is not managed.
struct UnitSpec {
  std::string name = {};                              // "demo.service"
  std::optional<std::string> content = std::nullopt;  // ends in a newline
  std::map<std::string, std::string> drop_ins = {};   // by file name; each ends in a newline
  std::optional<bool> enabled = std::nullopt;
  std::optional<bool> active = std::nullopt;
  std::optional<std::vector<NodeName>> nodes = std::nullopt;  // nullopt: all
  Position position = {};
  std::map<std::string, Position> text_positions = {};  // of the drop-ins; of the content by ""

  bool On(const NodeName& node) const;
  bool HasState() const { return enabled || active; }
};

std::vector<UnitSpec> ReadUnits(const ClusterSpec& cluster);
std::vector<UnitSpec> ReadUnits(const ClusterSpec& cluster, const NodeName& node);

// What the texts of the entry set: the drop-in that is read last decides, and the content where
// none says it. nullopt: none sets it.
std::optional<std::string> FindSetting(const UnitSpec& unit, std::string_view section,
                                       std::string_view key);

// Whether the unit is inactive once it has run: Type=oneshot without RemainAfterExit=yes. Of one
// without content, `installed` is whether its own files make it so, as systemd has them.
bool EndsOnceRun(const UnitSpec& unit, bool installed);

// "demo.service", "demo@1.timer": a name that systemd accepts and that can be a file of ours.
bool IsUnitName(std::string_view name);

Errors CheckUnits(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::units
