#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/verification_outcome.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What the pages of a report and of two of them share. An argument `html` is taken as it is; all
// others are escaped here.

// A whole page: the head with the style, then the body.
std::string MakePage(std::string_view title, std::string_view html);

// "passed", "failed", "unsure": the class of the verdict's colour.
std::string_view ChooseVerdictStyle(VerificationOutcome outcome);

// One finding with its evidence and the next step.
std::string RenderFindingSection(const Finding& finding);

// A region that scrolls must be reached with the keyboard, and needs a name then.
std::string MakeScrolling(std::string_view name, std::string_view html);

// A table in such a region. On paper its head is on each page, and its letters are as small as its
// columns require.
struct HtmlTable {
  std::string caption = {};
  std::vector<std::string> columns = {};  // their texts; after a first "", names of nodes
  std::string html = {};                  // its rows
};
std::string MakeTable(const HtmlTable& table);

}  // namespace reconciler
