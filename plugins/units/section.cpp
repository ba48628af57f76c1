#include "plugins/units/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "plugins/common/systemctl/login_units.h"
#include "plugins/units/unit_text.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::units {
namespace {

// The types that have files; devices and scopes have none.
constexpr std::array<std::string_view, 9> kSuffixes = {
    ".service", ".socket", ".timer", ".path", ".mount", ".automount", ".target", ".slice", ".swap"};
constexpr std::size_t kLongestName = 255;  // bytes, systemd's UNIT_NAME_MAX

// What ends everything.
constexpr std::array<std::string_view, 30> kEnding = {"basic.target",
                                                      "ctrl-alt-del.target",
                                                      "emergency.target",
                                                      "exit.target",
                                                      "final.target",
                                                      "halt.target",
                                                      "hibernate.target",
                                                      "hybrid-sleep.target",
                                                      "kexec.target",
                                                      "poweroff.target",
                                                      "reboot.target",
                                                      "rescue.target",
                                                      "runlevel0.target",
                                                      "runlevel1.target",
                                                      "runlevel6.target",
                                                      "shutdown.target",
                                                      "sleep.target",
                                                      "soft-reboot.target",
                                                      "suspend-then-hibernate.target",
                                                      "suspend.target",
                                                      "sysinit.target",
                                                      "system.slice",
                                                      "systemd-halt.service",
                                                      "systemd-hibernate.service",
                                                      "systemd-kexec.service",
                                                      "systemd-poweroff.service",
                                                      "systemd-reboot.service",
                                                      "systemd-soft-reboot.service",
                                                      "systemd-suspend.service",
                                                      "umount.target"};

template <class List>
bool Contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(":-_.\\@").find(c) != std::string_view::npos;
}

bool IsPlain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '-' &&
         name.front() != '.' && std::all_of(name.begin(), name.end(), IsNameCharacter);
}

bool IsTemplate(std::string_view name) { return name.find("@.") != std::string_view::npos; }

std::string AddNewline(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::optional<bool> Flag(const Value& entry, std::string_view key) {
  const Value* value = entry.Find(key);
  if (value == nullptr || value->AsBool() == nullptr) return std::nullopt;
  return *value->AsBool();
}

UnitSpec ParseEntry(const Value& entry) {
  UnitSpec unit{.position = entry.position};
  if (const Value* name = entry.Find("name")) unit.name = name->ScalarText();
  if (const Value* content = entry.Find("content"); content != nullptr && content->AsString()) {
    unit.content = AddNewline(*content->AsString());
    unit.text_positions[""] = content->position;
  }
  if (const Value* drop_ins = entry.Find("drop_ins")) {
    for (const Member& member : drop_ins->Members()) {
      unit.drop_ins[member.key] = AddNewline(member.value.ScalarText());
      unit.text_positions[member.key] = member.value.position;
    }
  }
  unit.enabled = Flag(entry, "enabled");
  unit.active = Flag(entry, "active");
  if (const Value* nodes = entry.Find("nodes"); nodes != nullptr && nodes->IsList()) {
    unit.nodes.emplace();
    for (const Value& node : nodes->List()) unit.nodes->push_back(node.ScalarText());
  }
  return unit;
}

bool HasInstallSection(const std::string& content) {
  const std::vector<std::string> lines = SplitLines(content);
  return std::any_of(lines.begin(), lines.end(),
                     [](const std::string& line) { return Trim(line) == "[Install]"; });
}

struct Mistake {
  std::string code = {};
  std::string message = {};
  std::string hint = {};
  std::string text = {};  // the drop-in that it is in; "": the content, or the entry
};

// "Service" for "demo.service": the section that only this type has.
std::string FindOwnSection(const std::string& name) {
  std::string section = name.substr(name.rfind('.') + 1);
  if (section.empty() || section == "target") return "Unit";
  section[0] = static_cast<char>(section[0] - 'a' + 'A');
  return section;
}

Mistake DescribeTextFault(const UnitSpec& unit, const std::string& file,
                          const UnitTextFault& fault) {
  const std::string guess =
      fault.meant.empty() ? "" : fmt::format(", did you mean [{}]?", fault.meant);
  return Mistake{
      "units-text-malformed",
      fmt::format("units: {}: {}:{}: wanted {}, found '{}'{}", unit.name,
                  file.empty() ? "content" : file, fault.line, fault.wanted, fault.found, guess),
      "systemd ignores this line", file};
}

std::vector<Mistake> FindTextMistakes(const UnitSpec& unit) {
  std::vector<Mistake> mistakes;
  const std::string example = FindOwnSection(unit.name);
  if (unit.content) {
    if (const auto fault = FindUnitTextFault(*unit.content, example)) {
      mistakes.push_back(DescribeTextFault(unit, "", *fault));
    } else if (Trim(*unit.content).empty()) {
      mistakes.push_back(
          Mistake{"units-text-malformed",
                  fmt::format("units: {}: content:1: wanted a section such as [{}], found nothing",
                              unit.name, example),
                  "leave content out where the unit has a file already"});
    }
  }
  for (const auto& [file, text] : unit.drop_ins) {
    if (const auto fault = FindUnitTextFault(text, example)) {
      mistakes.push_back(DescribeTextFault(unit, file, *fault));
    }
  }
  return mistakes;
}

std::vector<Mistake> FindMistakes(const UnitSpec& unit) {
  if (!IsUnitName(unit.name)) {
    return {Mistake{"units-name-malformed",
                    fmt::format("units: wanted a unit name such as 'demo.service', found '{}'",
                                MakePrintable(unit.name)),
                    fmt::format("letters, digits and :-_.\\@, ending in one of {}",
                                fmt::join(kSuffixes, " "))}};
  }
  std::vector<Mistake> mistakes;
  if (CarriesLogin(unit.name)) {
    mistakes.push_back(Mistake{
        "units-not-managed",
        fmt::format("units: {} carries the login to the node, and is not managed", unit.name),
        "set it up by hand, with a way to the node that does not need it"});
  }
  if (Contains(kEnding, unit.name)) {
    mistakes.push_back(
        Mistake{"units-not-managed",
                fmt::format("units: {} ends what runs on the node, and is not managed", unit.name),
                "remove the entry"});
  }
  for (const auto& [file, text] : unit.drop_ins) {
    if (IsPlain(file) && file.ends_with(".conf")) continue;
    mistakes.push_back(
        Mistake{"units-name-malformed",
                fmt::format("units: {}: wanted a drop-in file name such as '10-limits.conf', "
                            "found '{}'",
                            unit.name, MakePrintable(file)),
                "systemd reads only files that end in .conf"});
  }
  if (IsTemplate(unit.name) && unit.HasState()) {
    mistakes.push_back(
        Mistake{"units-state-impossible",
                fmt::format("units: {}: a template can be neither enabled nor active", unit.name),
                "name an instance, such as demo@1.service"});
  } else if (mistakes.empty() && !unit.content && unit.drop_ins.empty() && !unit.HasState()) {
    mistakes.push_back(
        Mistake{"units-entry-empty",
                fmt::format("units: {}: wanted content, drop_ins, enabled or active, found none",
                            unit.name),
                "say what must hold of the unit, or remove the entry"});
  } else if (unit.enabled == true && unit.content && !HasInstallSection(*unit.content)) {
    mistakes.push_back(
        Mistake{"units-state-impossible",
                fmt::format("units: {}: wanted an [Install] section to enable it by, found none",
                            unit.name),
                "add [Install] with WantedBy=multi-user.target, or leave `enabled` out"});
  }
  if (unit.active == true && unit.content && EndsOnceRun(unit, false)) {
    mistakes.push_back(
        Mistake{"units-state-impossible",
                fmt::format("units: {}: Type=oneshot without RemainAfterExit=yes is inactive once "
                            "it has run, and cannot be active",
                            unit.name),
                "add RemainAfterExit=yes to [Service], or leave `active` out"});
  }
  for (Mistake& mistake : FindTextMistakes(unit)) mistakes.push_back(std::move(mistake));
  return mistakes;
}

// Two entries of one unit, and the first node that has both.
struct Twice {
  const UnitSpec* first = nullptr;
  const UnitSpec* second = nullptr;
  NodeName node = {};
};

std::vector<Twice> FindTwice(const ClusterSpec& cluster, const std::vector<UnitSpec>& units) {
  std::vector<Twice> found;
  std::set<std::pair<const UnitSpec*, const UnitSpec*>> known;
  for (const NodeSpec& node : cluster.nodes) {
    std::map<std::string, const UnitSpec*> seen;
    for (const UnitSpec& unit : units) {
      if (!unit.On(node.name)) continue;
      const auto [first, added] = seen.emplace(unit.name, &unit);
      if (added || !known.emplace(first->second, &unit).second) continue;
      found.push_back({first->second, &unit, node.name});
    }
  }
  return found;
}

}  // namespace

bool UnitSpec::On(const NodeName& node) const {
  return !nodes || std::find(nodes->begin(), nodes->end(), node) != nodes->end();
}

std::vector<UnitSpec> ReadUnits(const ClusterSpec& cluster) {
  std::vector<UnitSpec> units;
  const Value* section = cluster.settings.Find("units");
  if (section == nullptr) return units;
  for (const Value& entry : section->List()) units.push_back(ParseEntry(entry));
  return units;
}

std::vector<UnitSpec> ReadUnits(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<UnitSpec> units = ReadUnits(cluster);
  std::erase_if(units, [&](const UnitSpec& unit) { return !unit.On(node); });
  return units;
}

std::optional<std::string> FindSetting(const UnitSpec& unit, std::string_view section,
                                       std::string_view key) {
  std::optional<std::string> value = FindUnitSetting(unit.content.value_or(""), section, key);
  for (const auto& [file, text] : unit.drop_ins) {
    if (auto set = FindUnitSetting(text, section, key)) value = std::move(set);
  }
  return value;
}

bool EndsOnceRun(const UnitSpec& unit, bool installed) {
  const std::optional<std::string> type = FindSetting(unit, "Service", "Type");
  const bool is_oneshot =
      unit.content ? type == "oneshot" : installed && (!type || type == "oneshot");
  return is_oneshot &&
         !ReadUnitFlag(FindSetting(unit, "Service", "RemainAfterExit").value_or("no"));
}

bool IsUnitName(std::string_view name) {
  if (!IsPlain(name) || name.front() == '@') return false;
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) {
    return name.size() > suffix.size() && name.ends_with(suffix);
  });
}

Errors CheckUnits(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  const auto add = [&](std::string code, Position position, std::string message, std::string hint) {
    errors.push_back(MakeManifestError(std::move(code), cluster.Mark(position), std::move(message),
                                       std::move(hint)));
  };
  std::vector<std::string> names;
  for (const NodeSpec& node : cluster.nodes) names.push_back(node.name);

  const std::vector<UnitSpec> units = ReadUnits(cluster);
  for (const UnitSpec& unit : units) {
    for (Mistake& mistake : FindMistakes(unit)) {
      const auto place = mistake.code == "units-text-malformed"
                             ? unit.text_positions.find(mistake.text)
                             : unit.text_positions.end();
      add(std::move(mistake.code),
          place == unit.text_positions.end() ? unit.position : place->second,
          std::move(mistake.message), std::move(mistake.hint));
    }
    for (const NodeName& node : unit.nodes.value_or(std::vector<NodeName>())) {
      if (cluster.FindNode(node) != nullptr) continue;
      const auto close = FindClosestMatch(node, names);
      add("units-unknown-node", unit.position,
          fmt::format("units: {}: unknown node '{}'{}", unit.name, MakePrintable(node),
                      close ? fmt::format(", did you mean '{}'?", *close) : ""),
          fmt::format("nodes: {}", Join(names, ", ")));
    }
  }
  for (const Twice& twice : FindTwice(cluster, units)) {
    add("units-entry-twice", twice.second->position,
        fmt::format("units: wanted one entry for {} on {}, found another on line {}",
                    MakePrintable(twice.second->name), twice.node, twice.first->position.line),
        "merge them, or give them different nodes");
  }
  return errors;
}

}  // namespace reconciler::plugins::units
