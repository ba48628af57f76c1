#include "reconciler/cabling/plug.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// RouterOS says "fabric/qsfp56-1": the bridge, then the port.
std::string_view GetPortName(std::string_view port) {
  return port.substr(port.rfind('/') == std::string_view::npos ? 0 : port.rfind('/') + 1);
}

// Whether both are names of the same kind: "swp3" and "swp14s1", not "swp3" and "00:1b:…".
bool HasSimilarName(std::string_view a, std::string_view b) {
  const auto letters = [](std::string_view name) {
    std::size_t end = 0;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0) ++end;
    return name.substr(0, end);
  };
  const std::string_view start = letters(a);
  return !start.empty() && start == letters(b) && start.size() < b.size();
}

}  // namespace

PlugVerdict ComparePlug(const DeclaredCable& cable, const SwitchPlug& declared,
                        const std::set<SwitchPlug>& seen) {
  const auto is_declared = [&](const std::string& name) {
    return std::any_of(cable.switches.begin(), cable.switches.end(),
                       [&](const std::string& one) { return FirstLabel(one) == FirstLabel(name); });
  };
  PlugVerdict neighbours;
  for (const SwitchPlug& plug : seen) {
    const std::string port(GetPortName(plug.port));
    const bool same_switch = FirstLabel(plug.name) == FirstLabel(declared.name);
    if (same_switch && port == declared.port) return {CableState::kConfirmed, {}};
    const bool another = same_switch ? HasSimilarName(declared.port, port) : is_declared(plug.name);
    if (!another ||
        (neighbours.state == CableState::kWrong && !HasSimilarName(declared.port, port))) {
      continue;  // of a port's id and its description the one that reads like a port
    }
    neighbours = {CableState::kWrong, {plug.name, port}};
  }
  return neighbours;
}

std::string DescribePlug(const SwitchPlug& plug) {
  return MakePrintable(plug.name) + " " + MakePrintable(plug.port);
}

}  // namespace reconciler
