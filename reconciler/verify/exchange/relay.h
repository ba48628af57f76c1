#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// Lines of one program at the other end of a shell's streams.
class LineChannel {
 public:
  // Runs that program in the shell, which ends with it.
  static Result<LineChannel> Start(std::unique_ptr<Channel> shell,
                                   const std::vector<std::string>& argv, Deadline deadline);

  // The next line; an error when it ended first, with the last line that it wrote to stderr.
  Result<std::string> ReadLine(Deadline deadline);
  // The same; nullopt when there was none until `until`.
  Result<std::optional<std::string>> NextLine(Deadline until);
  // Lets the program end on its own until then, whatever it still says.
  void ReadToEnd(Deadline until);
  Result<void> WriteLine(const std::string& line, Deadline deadline);

 private:
  explicit LineChannel(std::unique_ptr<Channel> shell) : shell_(std::move(shell)) {}

  std::unique_ptr<Channel> shell_;
  std::string buffer_ = {};
  std::string errors_ = {};
};

struct RelayEnd {
  spark_verify::Ready ready = {};
  std::vector<spark_verify::RailSent> sent = {};
  std::uint64_t checked_bytes = 0;
  spark_verify::Counters counters = {};
};

struct RelayResult {
  std::array<RelayEnd, 2> ends = {};
  // The first thing that went wrong, and at which end (0 or 1).
  std::optional<spark_verify::RunError> run_error = std::nullopt;
  int failed_end = 0;
};

// Carries each line of one end to the other, step by step, until both have ended or one says what
// went wrong. Used by one thread; the ends may be on the same connection.
RelayResult Relay(LineChannel& first, LineChannel& second, Deadline deadline);

}  // namespace reconciler
