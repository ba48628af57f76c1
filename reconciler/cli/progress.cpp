#include "reconciler/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "reconciler/base/text.h"

namespace reconciler::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::string label, std::size_t total)
    : label_(std::move(label)), total_(total) {}

Progress::~Progress() { Finish(); }

void Progress::Step(std::string_view what) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (isatty(STDERR_FILENO) != 1) return;
  fmt::print(stderr, "{}[{}/{}] {}: {}", kEraseLine, done_, total_, label_, MakePrintable(what));
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
