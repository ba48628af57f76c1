#include "reconciler/transport/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/transport/posix.h"

namespace reconciler {
namespace {

Error MakeReadError(const std::string& path, int code) {
  return {
      .kind = ErrorKind::kUsage,
      .message = fmt::format("{}: cannot be read: {}", MakePrintable(path), std::strerror(code))};
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, std::size_t most) {
  constexpr std::size_t kBlock = 64u << 10;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.Open()) return Fail(MakeReadError(path, errno));
  std::string text;
  std::vector<char> block(kBlock);
  for (;;) {
    const ssize_t count = read(file.Get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(MakeReadError(path, errno));
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() <= most) continue;
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: wanted at most {} MiB, found more",
                                        MakePrintable(path), most >> 20)});
  }
}

}  // namespace reconciler
