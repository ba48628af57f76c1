#pragma once

#include <string>
#include <string_view>

namespace reconciler {

struct FileState {
  std::string content;
  unsigned mode = 0644;  // permission bits only
  std::string owner = "root";
  std::string group = "root";
  // When it was written, as `stat --format=%y` prints it. Empty: not known, or now. No part of what
  // a file is compared by.
  std::string mtime;

  bool operator==(const FileState& other) const {
    return content == other.content && mode == other.mode && owner == other.owner &&
           group == other.group;
  }
};

// "2026-11-21 09:15:02.123456789 +0000"; of such text touch makes no option and nothing else.
inline bool IsMtime(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789-:.+ ") == std::string_view::npos;
}

}  // namespace reconciler
