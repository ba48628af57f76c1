#include "reconciler/cli/apply/apply_display.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <ctime>

#include "reconciler/cli/apply/interrupt.h"
#include "reconciler/cli/files.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/transport/posix.h"

namespace reconciler::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenDrawings{250};
constexpr std::size_t kUsualTerminalColumns = 80;  // of a terminal that does not say
constexpr std::size_t kUsualTerminalRows = 24;

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDetail:
      return spdlog::level::debug;
    case LogLevel::kTransport:
      return spdlog::level::trace;
  }
  return spdlog::level::info;
}

Result<std::shared_ptr<spdlog::logger>> OpenLogFile(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    auto logger = std::make_shared<spdlog::logger>("spark-reconcile", std::move(sink));
    logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    return logger;
  } catch (const spdlog::spdlog_ex&) {
    return Fail(MakeWriteError(path, errno));
  }
}

}  // namespace

Result<std::unique_ptr<ApplyDisplay>> ApplyDisplay::Open(const ApplyFlags& flags, bool no_colour) {
  const TerminalTraits terminal = FindTerminalTraits(STDERR_FILENO, no_colour);
  const Mode mode = flags.progress == "none"                       ? Mode::kNone
                    : flags.progress == "live" && terminal.redraws ? Mode::kLive
                                                                   : Mode::kPlain;
  std::unique_ptr<ApplyDisplay> display(new ApplyDisplay(mode, flags.verbosity, terminal.colours));
  if (!flags.log_file.empty()) {
    auto file = OpenLogFile(flags.log_file);
    if (!file) return Fail(file.error());
    display->file_ = std::move(*file);
  }
  return display;
}

void ApplyDisplay::Begin(const Plan& plan) {
  const std::lock_guard lock(mutex_);
  progress_.emplace(plan);
  began_ = std::chrono::steady_clock::now();
  if (!is_live_) return;
  Draw();
  clock_ = std::jthread([this](const std::stop_token& stop) {
    std::condition_variable_any wait;
    std::unique_lock shared(mutex_);
    while (!wait.wait_for(shared, stop, kBetweenDrawings, [&] { return stop.stop_requested(); })) {
      Draw();
    }
  });
}

void ApplyDisplay::BeginChanging() {
  const std::lock_guard lock(mutex_);
  if (progress_) progress_->BeginChanging();
}

void ApplyDisplay::Note(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (!progress_) return;
  progress_->Note(event, FindSeconds());
  if (const auto line = progress_->FormatLogLine(event)) LogLocked(*line);
}

void ApplyDisplay::Log(const LogLine& line) {
  const std::lock_guard lock(mutex_);
  LogLocked(line);
}

void ApplyDisplay::PrintAbove(const std::function<void()>& print) {
  const std::lock_guard lock(mutex_);
  Erase();
  print();
}

void ApplyDisplay::End() {
  clock_ = {};  // ends it
  const std::lock_guard lock(mutex_);
  if (is_live_ && progress_) Draw();
  drawn_ = 0;
  progress_.reset();
}

bool ApplyDisplay::Shows(LogLevel level) const {
  switch (level) {
    case LogLevel::kError:
      return true;
    case LogLevel::kInfo:
      return mode_ == Mode::kPlain;
    case LogLevel::kDetail:
      return verbosity_ >= 1;
    case LogLevel::kTransport:
      return verbosity_ >= 2;
  }
  return false;
}

double ApplyDisplay::FindSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void ApplyDisplay::LogLocked(const LogLine& line) {
  if (file_ != nullptr) file_->log(ToSpdlog(line.level), "{}", line.text);
  if (!Shows(line.level)) return;
  Erase();
  const bool red = colours_ && line.level == LogLevel::kError;
  fmt::print(stderr, "{}{:%H:%M:%S} {}{}\n", red ? "\033[31m" : "",
             fmt::localtime(std::time(nullptr)), line.text, red ? "\033[0m" : "");
  std::fflush(stderr);
}

void ApplyDisplay::Draw() {
  if (!progress_) return;
  const TerminalTraits terminal = FindTerminalTraits(STDERR_FILENO, /*no_colour=*/true);
  if (!terminal.redraws) return;  // it is gone
  Erase();
  const std::size_t columns = terminal.columns == 0 ? kUsualTerminalColumns : terminal.columns;
  const std::size_t rows = terminal.rows == 0 ? kUsualTerminalRows : terminal.rows;
  const auto lines = progress_->Draw(FindSeconds(), columns - 1, rows - 1);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  fmt::print(stderr, "{}", text);
  std::fflush(stderr);
  drawn_ = lines.size();
}

// A line about an interrupt came below what was drawn: that stays, and is drawn again below it.
void ApplyDisplay::Erase() {
  if (IsInterrupted() && !interrupted_) drawn_ = 0;
  interrupted_ = IsInterrupted();
  if (drawn_ > 0) fmt::print(stderr, "\r\033[{}A\033[J", drawn_);
  drawn_ = 0;
}

}  // namespace reconciler::cli
