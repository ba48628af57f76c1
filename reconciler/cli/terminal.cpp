#include "reconciler/cli/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "reconciler/transport/posix.h"

namespace reconciler::cli {
namespace {

constexpr char kInterrupt = 0x03;           // Ctrl-C
constexpr std::size_t kLongestLine = 4096;  // of a terminal

// While it lives the terminal shows nothing that is typed. A Ctrl-C is no signal but ends the line,
// so that it cannot end the program with the terminal left silent.
class SilentTerminal {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (tcgetattr(fd_, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    silent.c_cc[VEOL] = kInterrupt;
    is_set_ = tcsetattr(fd_, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (is_set_) tcsetattr(fd_, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  bool IsSet() const { return is_set_; }

 private:
  int fd_;
  termios before_ = {};
  bool is_set_ = false;
};

// nullopt: the input was ended instead.
std::optional<std::string> ReadLine(int fd) {
  std::array<char, kLongestLine> line = {};
  const ssize_t size = read(fd, line.data(), line.size());
  if (size <= 0 || line[static_cast<std::size_t>(size) - 1] != '\n') return std::nullopt;
  return std::string(line.data(), static_cast<std::size_t>(size) - 1);
}

void WriteText(int fd, const std::string& text) {
  if (write(fd, text.data(), text.size()) < 0) return;  // a terminal that is gone shows no prompt
}

}  // namespace

Result<std::string> PromptPassword(const std::string& prompt) {
  const UniqueFd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal.Get() < 0) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "there is no terminal to type a password on",
                 .hint = "run it in a terminal, or add the key with ssh-copy-id"});
  }
  const SilentTerminal silent(terminal.Get());
  if (!silent.IsSet()) {
    return Fail({.kind = ErrorKind::kUsage, .message = "the terminal cannot hide what is typed"});
  }
  WriteText(terminal.Get(), prompt);
  auto line = ReadLine(terminal.Get());
  WriteText(terminal.Get(), "\n");
  if (!line) return Fail({.kind = ErrorKind::kUsage, .message = "no password was typed"});
  return std::move(*line);
}

}  // namespace reconciler::cli
