#include "plugins/sysctl/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::string_view kRoot = "/proc/sys/";

std::string SwapSeparators(std::string_view text) {
  std::string swapped(text);
  for (char& c : swapped) {
    if (c == '.') {
      c = '/';
    } else if (c == '/') {
      c = '.';
    }
  }
  return swapped;
}

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/';
}

}  // namespace

std::optional<std::string> NormalizeKey(std::string_view key) {
  const std::size_t separator = key.find_first_of("./");
  if (separator == std::string_view::npos) return std::nullopt;
  if (!std::all_of(key.begin(), key.end(), IsKeyCharacter)) return std::nullopt;
  const std::string path = key[separator] == '.' ? SwapSeparators(key) : std::string(key);
  for (const std::string& part : Split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return std::nullopt;
  }
  if (path.front() == '-') return std::nullopt;  // an option to a command, not a key
  return SwapSeparators(path);
}

std::string MakeKeyPath(std::string_view canonical) {
  return std::string(kRoot) + SwapSeparators(canonical);
}

std::string ReadKeyFromPath(std::string_view path) {
  return SwapSeparators(path.substr(kRoot.size()));
}

std::string MakeInterfaceKey(std::string_view netdev, std::string_view setting,
                             std::string_view family) {
  return SwapSeparators(fmt::format("net/{}/conf/{}/{}", family, netdev, setting));
}

std::string FindInterface(std::string_view canonical) {
  const std::vector<std::string> parts = Split(canonical, '.');
  const bool fits =
      parts.size() == 5 && parts[0] == "net" && (parts[2] == "conf" || parts[2] == "neigh");
  if (!fits || parts[3] == "all" || parts[3] == "default") return {};
  return SwapSeparators(parts[3]);
}

std::string NormalizeValue(std::string_view value) {
  std::string normal;
  for (const char c : Trim(value)) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && !normal.empty() && normal.back() == ' ') continue;
    normal += blank ? ' ' : c;
  }
  return normal;
}

}  // namespace reconciler::plugins::sysctl
