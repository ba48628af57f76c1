#include "reconciler/verify/exchange/relay.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/spark_verify/protocol/lines.h"

namespace reconciler {
namespace {

using spark_verify::Event;
using spark_verify::Message;
using spark_verify::RunError;

constexpr std::size_t kLongestLine = 4u << 20;  // bytes

void Store(RelayEnd& end, Message message) {
  switch (message.event) {
    case Event::kReady:
      end.ready = std::move(message.ready);
      break;
    case Event::kSent:
      end.sent = std::move(message.sent);
      break;
    case Event::kChecked:
      end.checked_bytes = message.checked_bytes;
      break;
    case Event::kEnd:
      end.counters = std::move(message.counters);
      break;
    case Event::kConnected:
    case Event::kError:
      break;
  }
}

struct Heard {
  std::string line = {};
  std::optional<RunError> run_error = std::nullopt;
};

Heard ReadUntil(LineChannel& channel, Event wanted, RelayEnd& end, Deadline deadline) {
  auto line = channel.ReadLine(deadline);
  if (!line) {
    return {.run_error = RunError{
                .code = "protocol", .text = line.error().message, .hint = line.error().hint}};
  }
  auto message = spark_verify::ParseMessage(*line);
  if (!message) {
    return {.run_error = RunError{
                .code = "protocol", .text = message.error().message, .hint = message.error().hint}};
  }
  if (message->event == Event::kError) return {.line = *line, .run_error = message->run_error};
  if (message->event != wanted) {
    return {.run_error = RunError{.code = "protocol",
                                  .text = fmt::format("wanted the line '{}' of spark-verify, found "
                                                      "'{}'",
                                                      spark_verify::ToString(wanted),
                                                      spark_verify::ToString(message->event))}};
  }
  Store(end, std::move(*message));
  return {.line = *line};
}

// Every queue pair ends with one message of a pattern that its receiver compares.
std::uint64_t CountBytesToCheck(const RelayEnd& sender) {
  if (!sender.ready.send) return 0;
  std::uint64_t pairs = 0;
  for (const spark_verify::RailReady& rail : sender.ready.rails) pairs += rail.queue_pairs.size();
  return pairs * sender.ready.size;
}

// An end that compared less than all of it has shown nothing.
void RequireChecked(RelayResult& result) {
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t wanted = CountBytesToCheck(result.ends[1 - i]);
    if (result.ends[i].checked_bytes >= wanted) continue;
    result.failed_end = i;
    result.run_error =
        RunError{.code = "protocol",
                 .text = fmt::format("wanted {} bytes compared by spark-verify, found {}", wanted,
                                     result.ends[i].checked_bytes)};
  }
}

}  // namespace

Result<LineChannel> LineChannel::Start(std::unique_ptr<Channel> shell,
                                       const std::vector<std::string>& argv, Deadline deadline) {
  LineChannel channel(std::move(shell));
  // The shell stays: by its environment a program that was stopped is found and ended.
  const auto written = channel.shell_->Write(JoinForShell(argv) + "; exit $?\n", deadline);
  if (!written) return Fail(written.error());
  return channel;
}

Result<std::string> LineChannel::ReadLine(Deadline deadline) {
  while (true) {
    if (auto line = spark_verify::CutLine(buffer_)) return std::move(*line);
    if (buffer_.size() > kLongestLine) {
      return Fail({.kind = ErrorKind::kVerify,
                   .message = fmt::format("wanted a line of spark-verify, found more than {} bytes "
                                          "without an end",
                                          kLongestLine)});
    }
    auto output = shell_->Read(deadline);
    if (!output) return Fail(output.error());
    buffer_ += output->out;
    errors_ += output->err;
    // Only its last line is reported.
    if (errors_.size() > kLongestLine) errors_.erase(0, errors_.size() - kLongestLine);
    if (buffer_.find('\n') != std::string::npos) continue;
    if (!output->exit_code) {
      // What arrives all the time, on stderr for example, never lets a channel's own limit pass.
      if (std::chrono::steady_clock::now() < deadline) continue;
      return Fail({.kind = ErrorKind::kTransport,
                   .message = "wanted a line of spark-verify, found none within the time limit"});
    }
    const std::vector<std::string> words = SplitLines(errors_);
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted a line of spark-verify, found it ended with status "
                                        "{}",
                                        *output->exit_code),
                 .hint = words.empty() ? "" : MakePrintable(words.back())});
  }
}

Result<std::optional<std::string>> LineChannel::NextLine(Deadline until) {
  auto line = ReadLine(until);
  if (line) return std::move(*line);
  // A connection that broke says so again at once.
  const bool late =
      line.error().kind == ErrorKind::kTransport && std::chrono::steady_clock::now() >= until;
  if (late) return std::nullopt;
  return Fail(std::move(line.error()));
}

void LineChannel::ReadToEnd(Deadline until) {
  while (std::chrono::steady_clock::now() < until && ReadLine(until)) {
  }
}

Result<void> LineChannel::WriteLine(const std::string& line, Deadline deadline) {
  return shell_->Write(line + "\n", deadline);
}

namespace {

// What an end only felt may be the other one's doing.
bool IsSecondary(const RunError& run_error) {
  return run_error.code == "transfer" || run_error.code == "deadline";
}

// An end that only lost the other one's packets knows less than that one, which may have died: it
// gets a moment to say so.
std::optional<RunError> ReadRunError(LineChannel& other, Deadline deadline) {
  constexpr std::chrono::seconds kMoment{1};
  const Deadline until = std::min(deadline, std::chrono::steady_clock::now() + kMoment);
  for (;;) {
    const auto line = other.NextLine(until);
    if (!line) {
      return RunError{.code = "protocol", .text = line.error().message, .hint = line.error().hint};
    }
    if (!*line || std::chrono::steady_clock::now() >= until) return std::nullopt;
    const auto message = spark_verify::ParseMessage(**line);
    if (!message || message->event != Event::kError) continue;
    return IsSecondary(message->run_error) ? std::nullopt : std::optional(message->run_error);
  }
}

}  // namespace

// Both ends send each message without having received the other's same message, so that they can be
// heard one after the other.
RelayResult Relay(LineChannel& first, LineChannel& second, Deadline deadline) {
  RelayResult result;
  for (const Event event :
       {Event::kReady, Event::kConnected, Event::kSent, Event::kChecked, Event::kEnd}) {
    std::array<Heard, 2> heard;
    for (int i = 0; i < 2; ++i) {
      heard[i] = ReadUntil(i == 0 ? first : second, event, result.ends[i], deadline);
      if (!heard[i].run_error) continue;
      result.run_error = heard[i].run_error;
      result.failed_end = i;
      if (i == 0 && IsSecondary(*result.run_error)) {
        if (auto cause = ReadRunError(second, deadline)) {
          result.run_error = std::move(cause);
          result.failed_end = 1;
        }
      }
      // Ends the other one at once; what it would answer is not waited for.
      if (!heard[i].line.empty()) {
        std::ignore = (i == 0 ? second : first).WriteLine(heard[i].line, deadline);
      }
      return result;
    }
    if (event == Event::kEnd) break;
    for (int i = 0; i < 2; ++i) {
      std::ignore = (i == 0 ? second : first).WriteLine(heard[i].line, deadline);
    }
  }
  RequireChecked(result);
  return result;
}

}  // namespace reconciler
