#include "reconciler/cabling/misplugged.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Joint = std::pair<CageId, CageId>;  // in order

Joint JointOf(const CageId& a, const CageId& b) { return a < b ? Joint{a, b} : Joint{b, a}; }

// Cables that are there and that nobody declared.
std::vector<Joint> Undeclared(const CabledWorld& world, const std::vector<CableVerdict>& verdicts) {
  std::set<Joint> joints;
  for (const auto& [id, cage] : world.cages()) {
    if (cage.sight.cages.size() == 1) joints.insert(JointOf(id, *cage.sight.cages.begin()));
  }
  for (const CableVerdict& verdict : verdicts) {
    if (verdict.cable.is_switch) continue;
    joints.erase(JointOf(verdict.cable.ends[0], verdict.cable.ends[1]));
  }
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
  Namer(const CabledWorld& world, std::vector<CableVerdict>& verdicts)
      : world_(world), joints_(Undeclared(world, verdicts)) {
    for (CableVerdict& verdict : verdicts) {
      if (!verdict.cable.is_switch) Explain(verdict);
    }
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Misplug& plug : misplugs_) {
      if (const Misplug* other = SwappedWith(plug)) {
        if (plug.belongs < other->belongs) {
          lines.push_back(fmt::format("the cables in {}'s {} and {} are swapped", plug.belongs.node,
                                      Adjective(plug.belongs), CageNoun(other->belongs)));
        }
        continue;
      }
      lines.push_back(fmt::format("the cable between {} and {} is in {} and belongs in its {}",
                                  plug.belongs.node, plug.far, CageWords(plug.found),
                                  CageNoun(plug.belongs)));
    }
    lines.insert(lines.end(), elsewhere_.begin(), elsewhere_.end());
    return lines;
  }

 private:
  static std::string Adjective(const CageId& cage) {
    return cage.side.empty() ? CageNoun(cage) : cage.side;
  }

  void Explain(CableVerdict& verdict) {
    if (verdict.state == CableState::kConfirmed) return;
    const CageId& a = verdict.cable.ends[0];
    const CageId& b = verdict.cable.ends[1];
    const bool is_wrong = verdict.state == CableState::kWrong;
    if (!is_wrong && !(Unplugged(a) && Unplugged(b))) return;
    if (const auto joint = TakeJoint(a.node, b.node)) {
      if (!is_wrong) {
        verdict.detail = fmt::format("{} and {} are joined instead", CageWords(joint->first),
                                     CageWords(joint->second));
      }
      verdict.state = CableState::kWrong;
      Add(a, joint->first, b.node);
      Add(b, joint->second, a.node);
    } else if (is_wrong) {
      const CageId& end = world_.At(a).sight.Empty() ? b : a;
      elsewhere_.push_back(fmt::format("the cable that should join {} and {} joins {} and {}",
                                       CageWords(a), CageWords(b), CageWords(end),
                                       world_.WhoIsAt(end)));
    }
  }

  bool Unplugged(const CageId& cage) const {
    const CageView& view = world_.At(cage);
    return world_.Asked(cage.node) && view.state == PortState::kNoCarrier && view.sight.Empty();
  }

  // An undeclared cable between the two nodes, each end used once; first: the one at `a`.
  std::optional<Joint> TakeJoint(const NodeName& a, const NodeName& b) {
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

  const Misplug* SwappedWith(const Misplug& plug) const {
    for (const Misplug& other : misplugs_) {
      if (other.belongs == plug.found && other.found == plug.belongs) return &other;
    }
    return nullptr;
  }

  const CabledWorld& world_;
  std::vector<Joint> joints_;
  std::vector<Misplug> misplugs_ = {};
  std::vector<std::string> elsewhere_ = {};
};

}  // namespace

std::vector<std::string> NameMisplugged(const CabledWorld& world,
                                        std::vector<CableVerdict>& verdicts) {
  return Namer(world, verdicts).Lines();
}

}  // namespace reconciler
