#include "reconciler/spark_verify/io/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "reconciler/spark_verify/protocol/lines.h"

namespace reconciler::spark_verify {

std::optional<std::string> LineReader::Next(Clock::time_point until) {
  while (true) {
    if (auto line = CutLine(buffer_)) return line;
    if (at_end_) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting = {.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::clamp<long>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char bytes[4096];
    const ssize_t count = read(fd_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      at_end_ = true;
    } else {
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace reconciler::spark_verify
