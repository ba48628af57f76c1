#include "reconciler/manifest/read/hardware_view.h"

#include <algorithm>

namespace reconciler {
namespace {

void SetNumber(const Value& map, std::string_view key, int& number) {
  const Value* value = map.Find(key);
  if (value != nullptr && value->AsInteger() != nullptr) {
    number = static_cast<int>(*value->AsInteger());
  }
}

}  // namespace

std::vector<Hardware> ViewHardware(const Value& document) {
  std::vector<Hardware> profiles;
  const Value* section = document.Find("hardware");
  if (section == nullptr) return profiles;
  for (const Member& entry : section->Members()) {
    Hardware profile{.name = entry.key};
    SetNumber(entry.value, "cage_gbps", profile.cage_gbps);
    SetNumber(entry.value, "pcie_generation", profile.pcie_generation);
    SetNumber(entry.value, "pcie_lanes", profile.pcie_lanes);
    const Value* cages = entry.value.Find("cages");
    if (cages == nullptr) continue;
    for (const Member& member : cages->Members()) {
      Cage cage{.name = member.key};
      for (const Value& twin : member.value.List()) {
        cage.twins.push_back({twin.GetText("netdev"), twin.GetText("hca"), twin.GetText("pci")});
      }
      std::stable_sort(cage.twins.begin(), cage.twins.end(),
                       [](const Twin& a, const Twin& b) { return a.pci < b.pci; });
      profile.cages.push_back(std::move(cage));
    }
    std::stable_sort(profile.cages.begin(), profile.cages.end(),
                     [](const Cage& a, const Cage& b) { return a.name < b.name; });
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::optional<Hardware> FindProfile(const Value& document, const Value& node) {
  const Value* named = node.Find("hardware");
  const std::string name = named != nullptr ? named->ScalarText() : std::string(kDefaultHardware);
  for (const std::vector<Hardware>& profiles : {ViewHardware(document), GetBuiltInHardware()}) {
    for (const Hardware& profile : profiles) {
      if (profile.name == name) return profile;
    }
  }
  return std::nullopt;
}

std::size_t CountTwins(const Value& document, const Value& node, const std::string& cage) {
  const auto hardware = FindProfile(document, node);
  const Cage* found = hardware ? hardware->FindCage(cage) : nullptr;
  return found != nullptr ? found->twins.size() : 0;
}

}  // namespace reconciler
