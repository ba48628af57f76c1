#include "reconciler/cli/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "reconciler/transport/posix.h"

namespace reconciler::cli {
namespace {

constexpr char kInterrupt = 0x03;  // Ctrl-C
constexpr char kEnd = 0x04;        // Ctrl-D
constexpr char kDelete = 0x7f;

// While it lives the terminal shows nothing that is typed, and hands on each key at once: a Ctrl-C
// is read as one, so that it cannot end the program with the terminal left silent.
class SilentTerminal {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (tcgetattr(fd_, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
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
  std::string line;
  char key = 0;
  while (read(fd, &key, 1) == 1) {
    if (key == '\n' || key == '\r') return line;
    if (key == kInterrupt || key == kEnd) break;
    if (key == kDelete || key == '\b') {
      if (!line.empty()) line.pop_back();
    } else {
      line.push_back(key);
    }
  }
  return std::nullopt;
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
