#include "reconciler/cabling/judge_cable.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// One end of a cable, and whom it sees.
struct End {
  const CageId& cage;
  const CageView& view;
  bool finds;       // the other end
  bool finds_else;  // someone, and not the other end
};

End FindEnd(const ObservedCabling& observed, const CageId& cage, const CageId& other) {
  const CageView& view = observed.At(cage);
  const bool finds = view.neighbours.cages.contains(other);
  return {cage, view, finds, !finds && !view.neighbours.Empty()};
}

// Whether what one end sees excludes the other end. A stranger alone does so only where the other
// end would have answered.
bool Excludes(const End& end, const End& other) {
  if (!end.finds_else) return false;
  return !end.view.neighbours.cages.empty() || end.view.neighbours.by_lldp ||
         other.view.can_be_heard;
}

std::string DescribeConfirmed(const End& a, const End& b) {
  std::string text = a.finds && b.finds ? "found from both ends"
                     : a.finds          ? fmt::format("found from {}", DescribeCage(a.cage))
                                        : fmt::format("found from {}", DescribeCage(b.cage));
  if ((a.finds && a.view.neighbours.by_lldp) || (b.finds && b.view.neighbours.by_lldp))
    text += " by LLDP";
  if (a.view.neighbours.cages.size() > 1 || b.view.neighbours.cages.size() > 1) {
    text += ", among others: there is a switch between them";
  }
  return text;
}

std::string DescribeFindings(const ObservedCabling& observed, const End& a, const End& b) {
  std::vector<std::string> parts;
  for (const End* end : {&a, &b}) {
    if (end->view.neighbours.Empty()) continue;
    parts.push_back(fmt::format("{} finds {}", DescribeCage(end->cage),
                                observed.DescribeNeighbours(end->cage)));
  }
  return Join(parts, ", ");
}

}  // namespace

CableVerdict JudgeCable(const ObservedCabling& observed, const DeclaredCable& cable) {
  const End a = FindEnd(observed, cable.ends[0], cable.ends[1]);
  const End b = FindEnd(observed, cable.ends[1], cable.ends[0]);
  if ((a.finds && b.finds_else) || (b.finds && a.finds_else)) {
    return {cable, CableState::kUnknown,
            "the two ends contradict each other: " + DescribeFindings(observed, a, b)};
  }
  if (a.finds || b.finds) return {cable, CableState::kConfirmed, DescribeConfirmed(a, b)};
  if (Excludes(a, b) || Excludes(b, a)) {
    return {cable, CableState::kWrong, DescribeFindings(observed, a, b)};
  }
  std::vector<CageId> blind;
  for (const End* end : {&a, &b}) {
    if (end->view.neighbours.Empty()) blind.push_back(end->cage);
  }
  const std::string found = DescribeFindings(observed, a, b);
  const std::string why = observed.ExplainNoNeighbour(blind);
  return {cable, CableState::kUnknown, found + (found.empty() || why.empty() ? "" : ", ") + why};
}

}  // namespace reconciler
