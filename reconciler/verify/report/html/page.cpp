#include "reconciler/verify/report/html/page.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/verify/report/html/style.h"

namespace reconciler {
namespace {

std::string MakeRegion(std::string_view name, std::string_view style, std::string_view html) {
  return fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"{}>{}</div>\n",
      EscapeXml(name), style, html);
}

}  // namespace

std::string MakePage(std::string_view title, std::string_view html) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      EscapeXml(title), kHtmlStyle, html);
}

std::string_view ChooseVerdictStyle(VerificationOutcome outcome) {
  switch (outcome) {
    case VerificationOutcome::kPassed:
      return "passed";
    case VerificationOutcome::kFailed:
      return "failed";
    case VerificationOutcome::kNotMeasured:
      return "unsure";
  }
  return "";
}

std::string RenderFindingSection(const Finding& finding) {
  std::string text = fmt::format("<section class=\"finding {0}\"><h3>{0}: {1}, {2}</h3><dl>\n",
                                 ToString(finding.outcome), EscapeXml(finding.code),
                                 EscapeXml(FormatPlace(finding)));
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, EscapeXml(value));
  };
  add("Cause", finding.cause);
  add("Next step", finding.next_step);
  add("Expected", finding.expected);
  add("Measured", finding.measured);
  for (const std::string& line : finding.evidence) add("Evidence", line);
  if (finding.explains > 1) add("Explains", FormatPlural(finding.explains, "check", "checks"));
  return text + "</dl></section>\n";
}

std::string MakeScrolling(std::string_view name, std::string_view html) {
  return MakeRegion(name, "", html);
}

std::string MakeTable(const HtmlTable& table) {
  const bool has_nodes = !table.columns.empty() && table.columns.front().empty();
  std::string head;
  for (const std::string& column : table.columns) {
    head +=
        column.empty() ? "<td></td>" : fmt::format("<th scope=\"col\">{}</th>", EscapeXml(column));
  }
  return MakeRegion(
      table.caption, fmt::format(" style=\"--columns: {}\"", table.columns.size()),
      fmt::format("<table{}><caption>{}</caption>\n<thead><tr>{}</tr></thead>\n"
                  "<tbody>\n{}</tbody></table>",
                  has_nodes ? " class=\"nodes\"" : "", EscapeXml(table.caption), head, table.html));
}

}  // namespace reconciler
