#include "reconciler/verify/diagnosis/pattern.h"

#include <algorithm>
#include <functional>

namespace reconciler {
namespace {

using Filter = std::function<bool(const Arrow&)>;

class Search {
 public:
  explicit Search(const std::vector<Arrow>& arrows) : arrows_(arrows), used_(arrows.size()) {
    for (const Arrow& arrow : arrows) {
      AddOnce(nodes_, arrow.from);
      AddOnce(nodes_, arrow.to);
      rails_.insert(arrow.rail);
    }
  }

  const std::vector<NodeName>& nodes() const { return nodes_; }
  const std::set<int>& rails() const { return rails_; }

  // All arrows that match, and are not explained yet, failed; they join at least `min_nodes` nodes.
  bool AddIfWhole(Scope scope, const std::vector<NodeName>& named, std::size_t min_nodes,
                  const Filter& matches) {
    std::vector<std::size_t> taken;
    std::vector<NodeName> seen;
    for (std::size_t i = 0; i < arrows_.size(); ++i) {
      if (used_[i] || !matches(arrows_[i])) continue;
      if (!arrows_[i].bad) return false;
      taken.push_back(i);
      AddOnce(seen, arrows_[i].from);
      AddOnce(seen, arrows_[i].to);
    }
    if (taken.empty() || seen.size() < min_nodes) return false;
    Pattern& pattern = FindOrAddPattern(scope, named.empty() ? SortNodes(seen) : named);
    for (const std::size_t i : taken) {
      used_[i] = true;
      pattern.rails.insert(arrows_[i].rail);
      pattern.checks.push_back(arrows_[i].check);
    }
    return true;
  }

  // Nodes with the most open failures first: one broken node must not be reported as broken peers.
  std::vector<NodeName> FindSuspects() const {
    std::vector<NodeName> suspects = nodes_;
    const auto weight = [this](const NodeName& node) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < arrows_.size(); ++i) {
        const bool touches = arrows_[i].from == node || arrows_[i].to == node;
        if (arrows_[i].bad && !used_[i] && touches) ++count;
      }
      return count;
    };
    std::stable_sort(
        suspects.begin(), suspects.end(),
        [&weight](const NodeName& a, const NodeName& b) { return weight(a) > weight(b); });
    return suspects;
  }

  void FindDirected() {
    FindIncomingAndOutgoing([](const Arrow&) { return true; });
    for (const int rail : rails_) {
      FindIncomingAndOutgoing([rail](const Arrow& arrow) { return arrow.rail == rail; });
    }
    for (std::size_t i = 0; i < arrows_.size(); ++i) {
      const Arrow& one = arrows_[i];
      if (one.bad && !used_[i]) {
        AddIfWhole(Scope::kOneWay, {one.from, one.to}, 2,
                   [&one](const Arrow& arrow) { return &arrow == &one; });
      }
    }
  }

  std::vector<Pattern> TakePatterns() { return std::move(found_); }

 private:
  static void AddOnce(std::vector<NodeName>& nodes, const NodeName& node) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }

  std::vector<NodeName> SortNodes(const std::vector<NodeName>& some) const {
    std::vector<NodeName> ordered;
    for (const NodeName& node : nodes_) {
      if (std::find(some.begin(), some.end(), node) != some.end()) ordered.push_back(node);
    }
    return ordered;
  }

  void FindIncomingAndOutgoing(const Filter& also) {
    for (const NodeName& node : FindSuspects()) {
      AddIfWhole(Scope::kIncoming, {node}, 3,
                 [&](const Arrow& a) { return a.to == node && also(a); });
    }
    for (const NodeName& node : FindSuspects()) {
      AddIfWhole(Scope::kOutgoing, {node}, 3,
                 [&](const Arrow& a) { return a.from == node && also(a); });
    }
  }

  // The same fault on another rail is one pattern.
  Pattern& FindOrAddPattern(Scope scope, const std::vector<NodeName>& nodes) {
    for (Pattern& pattern : found_) {
      if (pattern.scope == scope && pattern.nodes == nodes) return pattern;
    }
    return found_.emplace_back(Pattern{.scope = scope, .nodes = nodes});
  }

  const std::vector<Arrow>& arrows_;
  std::vector<bool> used_;
  std::vector<NodeName> nodes_;  // in order of appearance
  std::set<int> rails_;
  std::vector<Pattern> found_;
};

}  // namespace

std::vector<Pattern> FindPathPatterns(const std::vector<Arrow>& arrows) {
  Search search(arrows);
  search.AddIfWhole(Scope::kEverywhere, {}, 3, [](const Arrow&) { return true; });
  for (const int rail : search.rails()) {
    search.AddIfWhole(Scope::kEverywhere, {}, 3,
                      [rail](const Arrow& arrow) { return arrow.rail == rail; });
  }
  for (const NodeName& node : search.FindSuspects()) {
    search.AddIfWhole(Scope::kNode, {node}, 3, [&node](const Arrow& arrow) {
      return arrow.from == node || arrow.to == node;
    });
  }
  for (const int rail : search.rails()) {
    for (const NodeName& node : search.FindSuspects()) {
      search.AddIfWhole(Scope::kNode, {node}, 3, [&](const Arrow& arrow) {
        return arrow.rail == rail && (arrow.from == node || arrow.to == node);
      });
    }
  }
  const std::vector<NodeName>& nodes = search.nodes();
  for (const int rail : search.rails()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t j = i + 1; j < nodes.size(); ++j) {
        search.AddIfWhole(Scope::kPair, {nodes[i], nodes[j]}, 2, [&](const Arrow& arrow) {
          return arrow.rail == rail && ((arrow.from == nodes[i] && arrow.to == nodes[j]) ||
                                        (arrow.from == nodes[j] && arrow.to == nodes[i]));
        });
      }
    }
  }
  search.FindDirected();
  return search.TakePatterns();
}

std::vector<Pattern> FindLoginPatterns(const std::vector<Arrow>& arrows) {
  Search search(arrows);
  const bool both_ways = std::any_of(arrows.begin(), arrows.end(), [&arrows](const Arrow& arrow) {
    return arrow.from != arrows.front().from;
  });
  if (both_ways) {
    search.AddIfWhole(Scope::kEverywhere, {}, 2, [](const Arrow&) { return true; });
  }
  search.FindDirected();
  return search.TakePatterns();
}

}  // namespace reconciler
