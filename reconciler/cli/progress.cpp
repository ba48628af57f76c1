#include "reconciler/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "reconciler/base/text.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

constexpr std::size_t kUsualColumns = 80;  // of a terminal that does not say
constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::string label, std::size_t total)
    : label_(std::move(label)), total_(total) {}

Progress::~Progress() { Finish(); }

void Progress::Step(std::string_view what) {
  const std::lock_guard lock(mutex_);
  ++done_;
  const TerminalTraits terminal = FindTerminalTraits(STDERR_FILENO, /*no_colour=*/true);
  if (!terminal.redraws) return;
  const std::string line =
      fmt::format("[{}/{}] {}: {}", done_, total_, label_, MakePrintable(what));
  fmt::print(stderr, "{}{}", kEraseLine,
             ShortenTo(line, (terminal.columns == 0 ? kUsualColumns : terminal.columns) - 1));
  std::fflush(stderr);
  shown_ = true;
}

void Progress::Finish() {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  fmt::print(stderr, "{}", kEraseLine);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace reconciler::cli
