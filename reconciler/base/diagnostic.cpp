#include "reconciler/base/diagnostic.h"

#include <fmt/format.h>

#include <string_view>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::string_view FindLabel(const Diagnostic& diagnostic) {
  switch (diagnostic.severity) {
    case Severity::kBlocks:
      return diagnostic.change.empty() ? "error" : "blocked";
    case Severity::kWarns:
      return "warning";
    case Severity::kInforms:
      return "note";
  }
  return "";
}

std::string FormatPlace(const SourceMark& where, PlaceForm form) {
  const Position& position = where.position;
  if (form == PlaceForm::kLine || position.line == 0 || position.column == 0) {
    return FormatManifestLine(where);
  }
  return fmt::format("{}:{}:{}", where.file, position.line, position.column);
}

}  // namespace

std::string FormatManifestLine(const SourceMark& where) {
  if (where.position.line == 0) return "";
  const std::size_t slash = where.file.rfind('/');
  return fmt::format("{}:{}",
                     slash == std::string::npos ? where.file : where.file.substr(slash + 1),
                     where.position.line);
}

std::string FormatDiagnostic(const Diagnostic& diagnostic, PlaceForm form) {
  const std::string nodes = Join(diagnostic.nodes, ", ");
  const std::string where = FormatPlace(diagnostic.where, form);
  std::string text =
      fmt::format("{}: {}{}{} [{}]{}{}\n", FindLabel(diagnostic), MakePrintable(nodes),
                  nodes.empty() ? "" : ": ", MakePrintable(diagnostic.message), diagnostic.code,
                  where.empty() ? "" : "  ", MakePrintable(where));
  if (!diagnostic.next_step.empty()) {
    text += fmt::format("  next step: {}\n", MakePrintable(diagnostic.next_step));
  }
  return text;
}

}  // namespace reconciler
