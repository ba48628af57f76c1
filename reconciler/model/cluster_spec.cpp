#include "reconciler/model/cluster_spec.h"

namespace reconciler {
namespace {

const Member* FindMember(const std::vector<Member>& members, std::string_view key) {
  for (const Member& member : members) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

}  // namespace

const NodeSpec* ClusterSpec::FindNode(std::string_view node) const {
  for (const NodeSpec& candidate : nodes) {
    if (candidate.name == node) return &candidate;
  }
  return nullptr;
}

const Member* ClusterSpec::FindSection(std::string_view node, std::string_view key) const {
  const NodeSpec* spec = FindNode(node);
  return spec != nullptr ? FindSection(*spec, key) : FindMember(settings.Members(), key);
}

const Member* ClusterSpec::FindSection(const NodeSpec& node, std::string_view key) const {
  const Member* own = FindMember(node.sections, key);
  return own != nullptr ? own : FindMember(settings.Members(), key);
}

std::vector<const Member*> ClusterSpec::ListSections(std::string_view key) const {
  std::vector<const Member*> sections;
  const auto add = [&](const Member* section) {
    if (section != nullptr) sections.push_back(section);
  };
  add(FindMember(settings.Members(), key));
  for (const NodeSpec& node : nodes) add(FindMember(node.sections, key));
  return sections;
}

const Hardware* ClusterSpec::FindHardware(const NodeSpec& node) const {
  if (const auto own = own_hardware.find(node.name); own != own_hardware.end()) return &own->second;
  for (const auto* profiles : {&hardware, &GetBuiltInHardware()}) {
    for (const Hardware& candidate : *profiles) {
      if (candidate.name == node.hardware) return &candidate;
    }
  }
  return nullptr;
}

std::string_view ToString(Topology topology) {
  switch (topology) {
    case Topology::kDirect:
      return "direct";
    case Topology::kRing:
      return "ring";
    case Topology::kSwitch:
      return "switch";
    case Topology::kLeafSpine:
      return "leaf-spine";
    case Topology::kLinks:
      return "links";
  }
  return "";
}

std::string_view ToString(Fec fec) {
  switch (fec) {
    case Fec::kAuto:
      return "auto";
    case Fec::kRs:
      return "rs";
    case Fec::kFc:
      return "fc";
    case Fec::kOff:
      return "off";
  }
  return "";
}

}  // namespace reconciler
