#include "reconciler/base/error.h"

#include <fmt/format.h>

namespace reconciler {
namespace {

// The caret stands below the column; tabs are kept so that it lines up in any terminal.
std::string FormatCaretLine(const std::string& source_line, int column) {
  std::string line;
  for (int i = 0; i + 1 < column; ++i) {
    const bool tab = i < static_cast<int>(source_line.size()) && source_line[i] == '\t';
    line.push_back(tab ? '\t' : ' ');
  }
  return line + '^';
}

std::string FormatMark(const SourceMark& mark) {
  if (mark.position.line == 0) return mark.file + ": ";
  if (mark.position.column == 0) return fmt::format("{}:{}: ", mark.file, mark.position.line);
  return fmt::format("{}:{}:{}: ", mark.file, mark.position.line, mark.position.column);
}

}  // namespace

std::string FormatError(const Error& error) {
  std::string text = error.where ? FormatMark(*error.where) : "";
  for (const std::string& circle : error.context) text += circle + ": ";
  text += error.message + '\n';
  if (error.where && error.where->position.column > 0 && !error.source_line.empty()) {
    text += "    " + error.source_line + '\n';
    text += "    " + FormatCaretLine(error.source_line, error.where->position.column) + '\n';
  }
  if (!error.hint.empty()) text += "  hint: " + error.hint + '\n';
  return text;
}

std::string FormatErrors(const Errors& errors) {
  std::string text;
  for (const Error& error : errors) text += FormatError(error);
  return text;
}

Error MakeNodeError(ErrorKind kind, std::string node, std::string message) {
  return {.kind = kind, .message = std::move(message), .context = {std::move(node)}};
}

Error AddContext(Error error, std::string context) {
  error.context.insert(error.context.begin(), std::move(context));
  return error;
}

}  // namespace reconciler
