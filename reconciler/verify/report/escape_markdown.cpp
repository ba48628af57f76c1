#include "reconciler/verify/report/escape_markdown.h"

#include "reconciler/base/text.h"

namespace reconciler {

std::string EscapeMarkdown(std::string_view text) {
  std::string escaped;
  for (const char c : MakePrintable(text)) {
    if (std::string_view("\\`*_[]<>|#&~@:").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace reconciler
