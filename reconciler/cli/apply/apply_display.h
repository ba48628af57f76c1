#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "reconciler/base/result.h"
#include "reconciler/cli/apply/apply_flags.h"
#include "reconciler/progress/apply_progress.h"

namespace spdlog {
class logger;
}

namespace reconciler::cli {

// What an apply shows on stderr while it runs, and its log file. Live: lines that are redrawn below
// everything else, with a clock. Safe from several threads.
class ApplyDisplay {
 public:
  // An error: the log file cannot be written.
  static Result<std::unique_ptr<ApplyDisplay>> Open(const ApplyFlags& flags, bool no_colour);
  ~ApplyDisplay() { End(); }
  ApplyDisplay(const ApplyDisplay&) = delete;
  ApplyDisplay& operator=(const ApplyDisplay&) = delete;

  void Begin(const Plan& plan);  // it is carried out from now on
  void BeginChanging();
  void Note(const Event& event);
  void Log(const LogLine& line);
  // Whatever else is printed in the meantime, so that it stands above the live lines.
  void PrintAbove(const std::function<void()>& print);
  void End();  // the live lines stay as they are then

  // Whether other lines that are overwritten may be shown now.
  bool AllowsProgress() const { return is_live_ && !progress_; }

 private:
  enum class Mode { kLive, kPlain, kNone };

  ApplyDisplay(Mode mode, int verbosity, bool colours)
      : mode_(mode), verbosity_(verbosity), colours_(colours), is_live_(mode == Mode::kLive) {}

  bool Shows(LogLevel level) const;
  double FindSeconds() const;
  void LogLocked(const LogLine& line);
  void Draw();
  void Erase();

  std::mutex mutex_ = {};
  Mode mode_;
  int verbosity_;
  bool colours_;
  bool is_live_;
  std::shared_ptr<spdlog::logger> file_ = nullptr;  // null: none
  std::optional<ApplyProgress> progress_ = std::nullopt;
  std::chrono::steady_clock::time_point began_ = {};
  std::size_t drawn_ = 0;     // lines that stand on the terminal and are overwritten
  bool interrupted_ = false;  // a line about it stands below those
  std::jthread clock_ = {};
};

}  // namespace reconciler::cli
