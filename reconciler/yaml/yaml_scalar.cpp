#include "reconciler/yaml/yaml_scalar.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "reconciler/base/number.h"

namespace reconciler {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
constexpr std::string_view kOctalDigits = "01234567";

struct Integer {
  std::string_view digits;
  int base = 10;
  bool negative = false;
};

bool HasOnly(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string_view SkipSign(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

std::string_view SkipDigits(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kDigits);
  return end == std::string_view::npos ? std::string_view() : text.substr(end);
}

std::optional<Integer> ParseInteger(std::string_view text) {
  if (text.starts_with("0x") && HasOnly(text.substr(2), kHexDigits)) {
    return Integer{text.substr(2), 16, false};
  }
  if (text.starts_with("0o") && HasOnly(text.substr(2), kOctalDigits)) {
    return Integer{text.substr(2), 8, false};
  }
  const std::string_view digits = SkipSign(text);
  if (HasOnly(digits, kDigits)) return Integer{digits, 10, text.starts_with('-')};
  return std::nullopt;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool IsFloat(std::string_view text) {
  text = SkipSign(text);
  std::string_view rest = SkipDigits(text);
  const bool whole = rest.size() < text.size();
  if (rest.starts_with('.')) {
    const std::string_view fraction = rest.substr(1);
    rest = SkipDigits(fraction);
    if (!whole && rest.size() == fraction.size()) return false;
  } else if (!whole) {
    return false;
  }
  if (rest.empty()) return true;
  return (rest[0] == 'e' || rest[0] == 'E') && HasOnly(SkipSign(rest.substr(1)), kDigits);
}

bool IsInfiniteOrNan(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  text = SkipSign(text);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

// Signs that mean nothing to YAML, wherever they stand. Other text is quoted: that is never wrong.
bool IsPlain(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";
  constexpr std::string_view kInner = "-+@%~";
  if (text.empty() || kLetters.find(text.front()) == std::string_view::npos) return false;
  for (const char c : text) {
    if (kLetters.find(c) == std::string_view::npos && kInner.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

tl::expected<decltype(Value::data), std::string> ResolvePlainScalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (const auto integer = ParseInteger(text)) {
    std::string digits = integer->negative ? "-" : "";
    digits += integer->digits;
    const auto number = ParseNumber<std::int64_t>(digits, integer->base);
    if (!number) return tl::unexpected<std::string>("does not fit into 64 bits");
    return *number;
  }
  if (IsInfiniteOrNan(text)) return tl::unexpected<std::string>("is no finite number");
  if (IsFloat(text)) {
    const std::string_view unsigned_text = text.starts_with('+') ? text.substr(1) : text;
    const auto number = ParseNumber<double>(unsigned_text);
    if (!number || !std::isfinite(*number)) {
      return tl::unexpected<std::string>("is no number that a double can hold");
    }
    return *number;
  }
  return std::string(text);
}

std::string FormatScalar(std::string_view text) {
  const auto resolved = ResolvePlainScalar(text);
  const bool is_text = resolved && std::holds_alternative<std::string>(*resolved);
  if (is_text && IsPlain(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace reconciler
