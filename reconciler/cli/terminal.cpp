#include "reconciler/cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "reconciler/transport/posix.h"

namespace reconciler::cli {
namespace {

constexpr char kInterrupt = 0x03;           // Ctrl-C
constexpr std::size_t kLongestLine = 4096;  // of a terminal

// Signals that would end the program with the terminal left silent.
constexpr std::array kEnding = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
volatile std::sig_atomic_t received_signal = 0;  // 0: none

// While it lives such a signal arrives in WaitFor alone, and takes effect afterwards.
class DelayedSignals {
 public:
  DelayedSignals() {
    received_signal = 0;
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : kEnding) sigaddset(&ending, number);
    pthread_sigmask(SIG_BLOCK, &ending, &mask_);
    struct sigaction note = {};
    note.sa_handler = [](int number) { received_signal = number; };
    for (std::size_t i = 0; i < kEnding.size(); ++i) {
      sigaction(kEnding[i], nullptr, &before_[i]);
      const bool is_ignored = before_[i].sa_handler == SIG_IGN;  // as by nohup
      if (!is_ignored) sigaction(kEnding[i], &note, nullptr);
    }
  }
  ~DelayedSignals() {
    for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before_[i], nullptr);
    if (received_signal != 0) std::raise(received_signal);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  DelayedSignals(const DelayedSignals&) = delete;
  DelayedSignals& operator=(const DelayedSignals&) = delete;

  // Whether there is something to read; false: a signal came first.
  bool WaitFor(int fd) const {
    pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
    return ppoll(&one, 1, nullptr, &mask_) > 0;
  }

 private:
  std::array<struct sigaction, kEnding.size()> before_ = {};
  sigset_t mask_ = {};  // as it was
};

// While it lives the terminal shows nothing that is typed. A Ctrl-C is no signal but ends the line,
// so that it cannot end the program with the terminal left silent.
class SilentTerminal {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (tcgetattr(fd_, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    silent.c_lflag |= ICANON;  // whole lines
    silent.c_cc[VEOL] = kInterrupt;
    is_set_ = tcsetattr(fd_, TCSAFLUSH, &silent) == 0;
  }
  ~SilentTerminal() {
    if (!is_set_) return;
    tcflush(fd_, TCIFLUSH);  // TCSAFLUSH would also wait for whoever shows the output
    tcsetattr(fd_, TCSANOW, &before_);
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
std::optional<std::string> ReadLine(int fd, const DelayedSignals& delayed) {
  if (!delayed.WaitFor(fd)) return std::nullopt;
  std::array<char, kLongestLine> line = {};
  const ssize_t size = read(fd, line.data(), line.size());
  if (size <= 0 || line[static_cast<std::size_t>(size) - 1] != '\n') return std::nullopt;
  return std::string(line.data(), static_cast<std::size_t>(size) - 1);
}

void WriteText(int fd, const std::string& text) {
  if (write(fd, text.data(), text.size()) < 0) return;  // a terminal that is gone shows no prompt
}

// An environment variable that is set, and not empty.
bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

TerminalTraits FindTerminalTraits(int fd, bool no_colour) {
  constexpr std::size_t kLeastColumns = 60;  // what a layout can keep to
  if (isatty(fd) != 1) return {};
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) size = {};
  const bool is_dumb = !IsSet("TERM") || std::string_view(std::getenv("TERM")) == "dumb";
  return {.redraws = !is_dumb,
          .colours = !is_dumb && !no_colour && !IsSet("NO_COLOR"),
          .columns = size.ws_col == 0 ? 0 : std::max<std::size_t>(kLeastColumns, size.ws_col),
          .rows = size.ws_row};
}

Result<std::string> PromptPassword(const std::string& prompt, const std::string& hint) {
  const UniqueFd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal.Get() < 0) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "there is no terminal to type a password on",
                 .hint = "run it in a terminal, or " + hint});
  }
  const DelayedSignals delayed;  // until the terminal shows again what is typed
  const SilentTerminal silent(terminal.Get());
  if (!silent.IsSet()) {
    return Fail({.kind = ErrorKind::kUsage, .message = "the terminal cannot hide what is typed"});
  }
  WriteText(terminal.Get(), prompt);
  auto line = ReadLine(terminal.Get(), delayed);
  WriteText(terminal.Get(), "\n");
  if (!line || line->empty()) {
    return Fail({.kind = ErrorKind::kUsage, .message = "no password was typed"});
  }
  return std::move(*line);
}

}  // namespace reconciler::cli
