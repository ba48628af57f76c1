#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// What others wrote may hold their secrets (a Wi-Fi password, a forced command), so it is in no
// output. Each run of their lines is one line of its own instead: "(3 lines that are not ours)". A
// file of ours is kept whole, and so are the blocks of ours in a file that others write too.
std::string HideForeignLines(std::string_view content);

// A unified diff of what may be shown.
std::string MakeShownDiff(std::string_view before, std::string_view after);

// The same for every file's content in a plan, with the id of what is left; and in facts.
void HideForeignContent(Change& change);
Plan HideForeignContent(Plan plan);
ClusterFacts HideForeignContent(ClusterFacts facts);

}  // namespace reconciler
