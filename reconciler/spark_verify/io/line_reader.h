#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reconciler::spark_verify {

using Clock = std::chrono::steady_clock;

// Lines from a file descriptor, without ever waiting longer than requested.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  // The next whole line; nullopt: none by then, or the input ended (see AtEnd).
  std::optional<std::string> Next(Clock::time_point until);
  bool AtEnd() const { return at_end_ && buffer_.find('\n') == std::string::npos; }

 private:
  int fd_;
  bool at_end_ = false;
  std::string buffer_ = {};
};

// All of it, however small the pipe is; false when no one reads any more.
bool WriteAll(int fd, std::string_view text);

}  // namespace reconciler::spark_verify
