#include "reconciler/node/shell_answer.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/node/end_answer.sh.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostOutput = 16u << 20;
constexpr Milliseconds kCloseLimit{2000};

// One stream of an answer.
class AnswerStream {
 public:
  explicit AnswerStream(std::string_view nonce) : marker_(fmt::format("\n{} done ", nonce)) {}

  void Append(std::string_view more) {
    // An end that is there by halves begins at most this far back.
    const std::size_t again = marker_.size();
    const std::size_t from = text_.size() > again ? text_.size() - again : 0;
    text_ += more;
    if (begin_ == std::string::npos) begin_ = text_.find(marker_, from);
  }

  // Of the ending line, once the whole of it arrived; -1: not a number.
  std::optional<int> FindExitCode() const {
    if (begin_ == std::string::npos) return std::nullopt;
    const std::size_t digits = begin_ + marker_.size();
    const std::size_t newline = text_.find('\n', digits);
    if (newline == std::string::npos) return std::nullopt;
    const std::string_view number = std::string_view(text_).substr(digits, newline - digits);
    return ParseNumber<int>(number).value_or(-1);
  }

  std::size_t size() const { return text_.size(); }
  // Without the ending line.
  std::string Take() { return std::move(text_.erase(std::min(begin_, text_.size()))); }

 private:
  std::string marker_;
  std::string text_ = {};
  std::size_t begin_ = std::string::npos;  // of the ending line
};

}  // namespace

std::string BuildAnsweredScript(std::string_view script, std::string_view nonce, ScriptShell in) {
  const bool sub = in == ScriptShell::kSub;
  return fmt::format("{}{}\n{}\n{} </dev/null\n{}", AssignForShell({{"ANSWER", nonce}}),
                     sub ? "(" : "{", script, sub ? ")" : "}", kEndAnswerSh);
}

Result<ShellAnswer> ReadShellAnswer(Channel& shell, std::string_view nonce, Deadline deadline) {
  AnswerStream out(nonce);
  AnswerStream err(nonce);
  for (;;) {
    auto output = shell.Read(deadline);
    if (!output) return Fail(std::move(output).error());
    out.Append(output->out);
    err.Append(output->err);
    const std::optional<int> code = out.FindExitCode();
    if (code && err.FindExitCode()) return ShellAnswer{.reply = {*code, out.Take(), err.Take()}};
    if (out.size() + err.size() > kMostOutput) {
      return Fail({.kind = ErrorKind::kTransport,
                   .message = "more than 16 MiB of output arrived; the rest was not read"});
    }
    if (output->exit_code) {
      return ShellAnswer{.reply = {*output->exit_code, out.Take(), err.Take()},
                         .shell_ended = true};
    }
  }
}

void CloseIdleShell(Channel& shell) {
  const Deadline deadline = std::chrono::steady_clock::now() + kCloseLimit;
  if (!shell.CloseInput()) return;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto output = shell.Read(deadline);
    if (!output || output->exit_code) return;
  }
}

}  // namespace reconciler
