#include "reconciler/manifest/read/rail_counts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/hardware_view.h"

namespace reconciler {
namespace {

class RailCounter {
 public:
  RailCounter(const Value& document, const std::vector<NodeView>& nodes)
      : document_(document), nodes_(nodes) {
    const Value* twins = document.At({"fabric", "twins"});
    one_twin_ =
        twins != nullptr && (twins->ScalarText() == "first" || twins->ScalarText() == "second");
  }

  RailCounts Count(Topology topology) const {
    RailCounts rails{.one_twin = one_twin_};
    switch (topology) {
      case Topology::kDirect:
        if (nodes_.size() == 2) {
          AddCable({&nodes_[0], FindCageName(document_, *nodes_[0].entry)},
                   {&nodes_[1], FindCageName(document_, *nodes_[1].entry)}, rails);
        }
        break;
      case Topology::kRing:
        AddRing(rails);
        break;
      case Topology::kSwitch:
      case Topology::kLeafSpine:
        for (const NodeView& node : nodes_) {
          rails.on_switches =
              std::max(rails.on_switches,
                       CountTwinsAt({&node, FindCageName(document_, *node.entry)}, rails));
        }
        break;
      case Topology::kLinks:
        break;
    }
    const Value* links = document_.At({"fabric", "links"});
    const bool refused = topology == Topology::kDirect || topology == Topology::kRing;
    if (links == nullptr || refused) return rails;
    for (const Value& link : links->List()) {
      const bool whole = link.List().size() == 2;
      AddCable(whole ? ReadEnd(link.List()[0]) : End{}, whole ? ReadEnd(link.List()[1]) : End{},
               rails);
    }
    return rails;
  }

 private:
  using End = std::pair<const NodeView*, std::string>;  // node, cage

  End ReadEnd(const Value& text) const {
    const auto end = ParseLinkEnd(text);
    if (!end) return {};
    return {FindNode(nodes_, end->node), end->cage};
  }

  // Two where the node or its cage is not known: that is reported elsewhere.
  std::size_t CountTwinsAt(const End& end, RailCounts& rails) const {
    const std::size_t otherwise = one_twin_ ? 1 : 2;
    if (end.first == nullptr) return otherwise;
    const std::size_t twins = CountTwins(document_, *end.first->entry, end.second);
    if (twins == 0) rails.known = false;
    return twins != 0 ? std::min(twins, otherwise) : otherwise;
  }

  void AddCable(const End& a, const End& b, RailCounts& rails) const {
    rails.on_cables.push_back(std::min(CountTwinsAt(a, rails), CountTwinsAt(b, rails)));
    if (rails.on_cables.back() != 2) rails.all_twins = false;
  }

  void AddRing(RailCounts& rails) const {
    std::vector<const NodeView*> by_id;
    for (const NodeView& node : nodes_) by_id.push_back(&node);
    std::stable_sort(by_id.begin(), by_id.end(),
                     [](const NodeView* a, const NodeView* b) { return a->id < b->id; });
    for (std::size_t i = 0; i < by_id.size(); ++i) {
      AddCable({by_id[i], "p0"}, {by_id[(i + 1) % by_id.size()], "p1"}, rails);
    }
  }

  const Value& document_;
  const std::vector<NodeView>& nodes_;
  bool one_twin_ = false;  // the fabric uses one of each cage
};

}  // namespace

RailCounts CountRails(const Value& document, const std::vector<NodeView>& nodes,
                      Topology topology) {
  return RailCounter(document, nodes).Count(topology);
}

}  // namespace reconciler
