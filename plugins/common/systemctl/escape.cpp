#include "plugins/common/systemctl/escape.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

bool IsKept(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
         c == '_' || c == '.';
}

}  // namespace

std::string EscapeForUnit(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '/') {
      escaped += '-';
    } else if (IsKept(c) && !(escaped.empty() && c == '.')) {
      escaped += c;
    } else {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string EscapePathForUnit(std::string_view path) {
  std::vector<std::string> parts = Split(path, '/');
  std::erase(parts, "");
  return EscapeForUnit(Join(parts, "/"));
}

}  // namespace reconciler::plugins
