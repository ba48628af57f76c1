#include "reconciler/yaml/source_text.h"

#include <algorithm>
#include <array>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kLongestExcerpt = 200;  // bytes

constexpr std::array<std::string_view, 6> kSecretWords = {"password", "passwd", "passphrase",
                                                          "secret",   "token",  "private_key"};

bool IsContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// A secret's key with its colon somewhere in the line: `{name: spark-1, "password" : x}`.
bool HoldsSecret(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const std::string_view before = Trim(line.substr(0, colon));
    const std::size_t blank = before.find_last_of(" \t{,");
    if (IsSecretKey(blank == std::string_view::npos ? before : before.substr(blank + 1))) {
      return true;
    }
  }
  return false;
}

bool IsPrintable(std::string_view line) {
  std::string without_tabs(line);
  std::replace(without_tabs.begin(), without_tabs.end(), '\t', ' ');
  return MakePrintable(without_tabs) == without_tabs;
}

}  // namespace

SourceText::SourceText(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1)) {
    starts_.push_back(i + 1);
  }
}

std::string_view SourceText::Line(std::size_t index) const {
  if (index >= starts_.size()) return {};
  std::string_view line = text_.substr(starts_[index]);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Position SourceText::PositionAt(int line, int byte_column) const {
  if (line < 0 || byte_column < 0) return {};
  const std::string_view before =
      Line(static_cast<std::size_t>(line)).substr(0, static_cast<std::size_t>(byte_column));
  const auto continuation = std::count_if(before.begin(), before.end(), IsContinuationByte);
  return {line + 1, byte_column + 1 - static_cast<int>(continuation)};
}

std::string_view SourceText::From(int line, int byte_column) const {
  if (line < 0 || byte_column < 0 || static_cast<std::size_t>(line) >= starts_.size()) return {};
  const std::size_t offset =
      starts_[static_cast<std::size_t>(line)] + static_cast<std::size_t>(byte_column);
  return offset < text_.size() ? text_.substr(offset) : std::string_view();
}

void SourceText::Attach(Error& error) const {
  if (!error.where || error.where->position.line < 1) return;
  const std::string_view line = Line(static_cast<std::size_t>(error.where->position.line - 1));
  if (line.size() > kLongestExcerpt || HoldsSecret(line) || !IsPrintable(line)) return;
  error.source_line = std::string(line);
}

bool IsSecretKey(std::string_view key) {
  const std::string lower = ToLower(key);
  return lower == "pass" || std::any_of(kSecretWords.begin(), kSecretWords.end(), [&](auto word) {
           return lower.find(word) != std::string::npos;
         });
}

}  // namespace reconciler
