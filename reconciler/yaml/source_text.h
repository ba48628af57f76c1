#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"

namespace reconciler {

// The lines of a text that messages point into. Views into the text given: it must outlive this.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  // yaml-cpp counts from 0 and in bytes; people count from 1 and in characters.
  Position PositionAt(int line, int byte_column) const;
  // The bytes from that place (counted as yaml-cpp does) to the end of the text.
  std::string_view From(int line, int byte_column) const;

  // Puts the line that the error points at into it, unless the line is too long to be of use,
  // holds bytes that a terminal acts on, or holds the value of a key that looks like a secret:
  // messages end up in logs.
  void Attach(Error& error) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;  // offset of each line's first byte

  std::string_view Line(std::size_t index) const;  // from 0, without its line break
};

// "password", "sudo_passwd", "api_token": a name under which people keep secrets.
bool IsSecretKey(std::string_view key);

}  // namespace reconciler
