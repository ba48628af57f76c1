#include "reconciler/cabling/misplugged.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Joint = std::pair<CageId, CageId>;  // in order

Joint MakeJoint(const CageId& a, const CageId& b) { return a < b ? Joint{a, b} : Joint{b, a}; }

// Cables that are there and that no one declared. Two cages that should be on a switch find each
// other through it.
std::vector<Joint> FindUndeclared(const ObservedCabling& observed,
                                  const std::vector<CableVerdict>& verdicts) {
  std::set<Joint> joints;
  std::set<CageId> on_switch;
  for (const auto& [id, cage] : observed.cages()) {
    if (cage.neighbours.cages.size() == 1)
      joints.insert(MakeJoint(id, *cage.neighbours.cages.begin()));
  }
  for (const CableVerdict& verdict : verdicts) {
    if (verdict.cable.is_switch) {
      on_switch.insert(verdict.cable.ends.begin(), verdict.cable.ends.end());
    } else {
      joints.erase(MakeJoint(verdict.cable.ends[0], verdict.cable.ends[1]));
    }
  }
  std::erase_if(joints, [&](const Joint& joint) {
    return on_switch.contains(joint.first) && on_switch.contains(joint.second);
  });
  return {joints.begin(), joints.end()};
}

// A plug in another cage of the right node.
struct Misplug {
  CageId belongs;
  CageId found;
  NodeName far = {};  // the node at the cable's other end
};

class Namer {
 public:
  Namer(const ObservedCabling& observed, std::vector<CableVerdict>& verdicts)
      : observed_(observed), joints_(FindUndeclared(observed, verdicts)) {
    for (CableVerdict& verdict : verdicts) {
      if (!verdict.cable.is_switch) Explain(verdict);
    }
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Misplug& plug : misplugs_) {
      if (const Misplug* other = FindSwapped(plug)) {
        if (plug.belongs < other->belongs) {
          lines.push_back(fmt::format("the cables in {}'s {} and {} are swapped", plug.belongs.node,
                                      FormatCageAdjective(plug.belongs),
                                      FormatCageNoun(other->belongs)));
        }
        continue;
      }
      lines.push_back(fmt::format("the cable between {} and {} is in {} and belongs in its {}",
                                  plug.belongs.node, plug.far, DescribeCage(plug.found),
                                  FormatCageNoun(plug.belongs)));
    }
    lines.insert(lines.end(), elsewhere_.begin(), elsewhere_.end());
    return lines;
  }

 private:
  static std::string FormatCageAdjective(const CageId& cage) {
    return cage.side.empty() ? FormatCageNoun(cage) : cage.side;
  }

  void Explain(CableVerdict& verdict) {
    if (verdict.state == CableState::kConfirmed) return;
    const CageId& a = verdict.cable.ends[0];
    const CageId& b = verdict.cable.ends[1];
    const bool is_wrong = verdict.state == CableState::kWrong;
    if (!is_wrong && !(IsUnplugged(a) && IsUnplugged(b))) return;
    if (const auto joint = RemoveJoint(a.node, b.node)) {
      if (!is_wrong) {
        verdict.detail = fmt::format("{} and {} are connected instead", DescribeCage(joint->first),
                                     DescribeCage(joint->second));
      }
      verdict.state = CableState::kWrong;
      Add(a, joint->first, b.node);
      Add(b, joint->second, a.node);
    } else if (is_wrong) {
      const CageId& end = observed_.At(a).neighbours.Empty() ? b : a;
      elsewhere_.push_back(fmt::format("the cable that should join {} and {} joins {} and {}",
                                       DescribeCage(a), DescribeCage(b), DescribeCage(end),
                                       observed_.DescribeNeighbours(end)));
    }
  }

  bool IsUnplugged(const CageId& cage) const {
    const CageView& view = observed_.At(cage);
    return observed_.WasQueried(cage.node) && view.state == PortState::kNoCarrier &&
           view.neighbours.Empty();
  }

  // An undeclared cable between the two nodes, each end used once; first: the one at `a`.
  std::optional<Joint> RemoveJoint(const NodeName& a, const NodeName& b) {
    for (auto joint = joints_.begin(); joint != joints_.end(); ++joint) {
      Joint found = *joint;
      if (found.first.node != a) std::swap(found.first, found.second);
      if (found.first.node != a || found.second.node != b) continue;
      joints_.erase(joint);
      return found;
    }
    return std::nullopt;
  }

  void Add(const CageId& belongs, const CageId& found, const NodeName& far) {
    if (belongs != found) misplugs_.push_back({belongs, found, far});
  }

  const Misplug* FindSwapped(const Misplug& plug) const {
    for (const Misplug& other : misplugs_) {
      if (other.belongs == plug.found && other.found == plug.belongs) return &other;
    }
    return nullptr;
  }

  const ObservedCabling& observed_;
  std::vector<Joint> joints_;
  std::vector<Misplug> misplugs_ = {};
  std::vector<std::string> elsewhere_ = {};
};

}  // namespace

std::vector<std::string> NameMisplugged(const ObservedCabling& observed,
                                        std::vector<CableVerdict>& verdicts) {
  return Namer(observed, verdicts).Lines();
}

}  // namespace reconciler
