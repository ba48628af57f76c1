#include "reconciler/spark_verify/nccl/rank_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <tuple>

#include "reconciler/spark_verify/io/line_reader.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler::spark_verify {
namespace {

// NCCL at INFO prints some hundred lines; a library that prints for ever must not fill the
// controller.
constexpr int kMostLines = 5000;
constexpr std::size_t kLongest = 2000;  // bytes of a line
// Half a second for whoever is writing.
constexpr int kTries = 500;
constexpr std::chrono::milliseconds kBetween(1);

int EventsFd() {
  const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  return fd;
}

}  // namespace

RankOutput::RankOutput() : events_(EventsFd()) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  std::fflush(stdout);
  dup2(ends[1], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  // A library that crashes takes what is buffered with it.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  forwarder_ = std::thread([this, from = ends[0]] { Forward(from); });
}

bool RankOutput::Say(const std::string& line) {
  // Not a timed mutex: ThreadSanitizer of GCC 12 does not know those.
  std::unique_lock lock(writing_, std::try_to_lock);
  for (int i = 0; !lock.owns_lock() && i < kTries; ++i) {
    std::this_thread::sleep_for(kBetween);
    std::ignore = lock.try_lock();
  }
  return lock.owns_lock() && WriteAll(events_, line);
}

void RankOutput::Forward(int from) {
  LineReader lines(from);
  for (int count = 0;; ++count) {
    const auto line = lines.Next(Clock::now() + std::chrono::hours(1));
    if (!line && lines.AtEnd()) return;
    if (!line || line->empty() || count > kMostLines) continue;
    Say(FormatLog(count == kMostLines ? "(more lines follow and are left out)"
                                      : line->substr(0, kLongest)));
  }
}

void RankOutput::Drain() {
  if (!forwarder_.joinable()) return;
  std::fflush(stdout);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  forwarder_.join();
}

}  // namespace reconciler::spark_verify
