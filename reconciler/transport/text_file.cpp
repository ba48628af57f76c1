#include "reconciler/transport/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace reconciler {

Result<std::string> ReadTextFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file fails the stream too, but no call.
  if (!file || (!(text << file.rdbuf()) && errno != 0)) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: cannot be read: {}", path, std::strerror(errno))});
  }
  return text.str();
}

}  // namespace reconciler
