#include "plugins/units/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plugins/common/systemctl/show_units.h"
#include "plugins/units/socket.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::units {
namespace {

// What `systemctl enable` cannot turn into "enabled".
constexpr std::array<std::string_view, 5> kNotEnableable = {"generated", "transient", "alias",
                                                            "indirect", "bad"};

// A list of units as `systemctl show` prints it: a name with a backslash is quoted, and each of its
// backslashes doubled.
std::vector<std::string> SplitUnitNames(std::string_view text) {
  std::vector<std::string> names = {""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      names.emplace_back();
    } else if (text[i] != '"') {
      if (text.substr(i, 2) == "\\\\") ++i;
      names.back() += text[i];
    }
  }
  std::erase(names, "");
  return names;
}

UnitState MakeUnitState(const UnitProperties& properties) {
  const auto get = [&](const char* key) {
    const auto found = properties.find(key);
    return found == properties.end() ? std::string() : MakePrintable(found->second);
  };
  // With Accept=yes: the connections, which a restart of the socket does not end.
  std::vector<std::string> triggers =
      get("Accept") == "yes" ? std::vector<std::string>() : SplitUnitNames(get("Triggers"));
  return {.load = get("LoadState"),
          .unit_file = get("UnitFileState"),
          .active = get("ActiveState"),
          .result = get("Result"),
          .stale = get("NeedDaemonReload") == "yes",
          .oneshot = get("Type") == "oneshot" && get("RemainAfterExit") != "yes",
          .triggers = std::move(triggers)};
}

bool IsMasked(const UnitState& state) {
  return state.load == "masked" || state.unit_file.starts_with("masked");
}

bool IsEnabled(const UnitState& state) { return state.unit_file.starts_with("enabled"); }

bool IsRunning(const UnitState& state) {
  return state.active == "active" || state.active == "reloading";
}

}  // namespace

std::vector<Read> ListStateReads(const std::vector<UnitSpec>& units) {
  std::vector<std::string> names;
  for (const UnitSpec& unit : units) {
    if (unit.HasState()) names.push_back(unit.name);
    if (unit.active != true) continue;
    if (std::string service = NameSocketService(unit); IsUnitName(service)) {
      names.push_back(std::move(service));
    }
  }
  if (names.empty()) return {};
  return {MakeUnitsProbe(std::move(names))};
}

void ParseStates(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kUnits);
  if (found == reply.commands.end()) return;
  const ShownUnits shown = ParseUnits(found->second);
  if (shown.count == Observed<int>(0)) return;  // the answer is to another plugin's request
  facts.units.shown = shown.count;
  for (const auto& [name, properties] : shown.units) {
    facts.units.states[name] = MakeUnitState(properties);
  }
}

Observed<UnitState> FindState(const NodeFacts& facts, const std::string& name) {
  const auto found = facts.units.states.find(name);
  if (found != facts.units.states.end()) return found->second;
  if (const Unknown* unknown = FindUnknown(facts.units.shown)) return *unknown;
  return Unknown{"systemctl show left it out"};
}

std::string DescribeDesired(const UnitSpec& unit) {
  std::vector<std::string> words;
  if (unit.enabled) words.emplace_back(*unit.enabled ? "enabled" : "disabled");
  if (unit.active) words.emplace_back(*unit.active ? "active" : "inactive");
  return Join(words, " ");
}

Observed<std::string> DescribeObserved(const UnitSpec& unit, const Observed<UnitState>& observed) {
  if (const auto* unknown = std::get_if<Unknown>(&observed)) return *unknown;
  const UnitState* state = Known(observed);
  if (state == nullptr) return Absent{};
  if (state->load.empty() || state->active.empty())
    return Unknown{"systemctl shows no state for it"};
  std::vector<std::string> words;
  if (unit.enabled == true) {
    // Anything but "enabled" differs: "enabled-runtime" is gone after a boot.
    words.push_back(state->unit_file.empty() ? "disabled" : state->unit_file);
  } else if (unit.enabled == false) {
    words.emplace_back(IsEnabled(*state) ? state->unit_file : "disabled");
  }
  if (unit.active && (state->active == "activating" || state->active == "deactivating")) {
    return Unknown{fmt::format("it is {}: neither running nor stopped yet", state->active)};
  }
  if (unit.active) {
    // A failed unit does not run: that is all that `active: false` wants.
    words.emplace_back(IsRunning(*state)                                  ? "active"
                       : state->active == "failed" && unit.active == true ? "failed"
                                                                          : "inactive");
  }
  if (state->stale) words.emplace_back("not-reloaded");
  return Join(words, " ");
}

Obstacle FindObstacle(const UnitSpec& unit, const UnitState& state) {
  if (unit.enabled != true && unit.active != true) return {};
  if (IsMasked(state)) {
    return {.code = "units-masked",
            .why = fmt::format("masked: systemctl unmask {} by hand", unit.name)};
  }
  if (state.load == "not-found" && !unit.content) {
    return {.code = "units-not-installed",
            .why = "not installed, and the manifest gives no content for it"};
  }
  if (state.load != "loaded" && state.load != "not-found" && !unit.content) {
    return {.code = "units-not-loaded",
            .why = fmt::format("systemd cannot load it ({})", state.load)};
  }
  if (unit.active == true && !unit.content && EndsOnceRun(unit, state.oneshot)) {
    return {.code = "units-state-impossible",
            .why =
                "Type=oneshot without RemainAfterExit=yes is inactive once it has run: leave "
                "`active` out, or set that in a drop-in"};
  }
  if (unit.active == true && state.active == "failed") {
    return {.code = "units-failed",
            .why = fmt::format("failed ({}): see journalctl -u {}, then systemctl reset-failed",
                               state.result.empty() ? "no result" : state.result, unit.name)};
  }
  const bool cannot_enable =
      std::find(kNotEnableable.begin(), kNotEnableable.end(), state.unit_file) !=
          kNotEnableable.end() ||
      (state.unit_file == "static" && !unit.content);  // ours has an [Install] section: checked
  if (unit.enabled == true && cannot_enable) {
    return {.code = "units-not-enableable",
            .why = fmt::format("systemd calls its file '{}', which cannot be enabled",
                               state.unit_file)};
  }
  return {};
}

}  // namespace reconciler::plugins::units
