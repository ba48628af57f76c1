#include "reconciler/base/shell_values.h"

#include "reconciler/base/text.h"

namespace reconciler {

std::string AssignForShell(
    std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text.append(name).append("=").append(QuoteForShell(value)).append("\n");
  }
  return text;
}

}  // namespace reconciler
