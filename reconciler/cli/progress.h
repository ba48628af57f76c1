#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace reconciler::cli {

// One line on stderr that is overwritten as work goes on. Only on a terminal that can do
// that: in a log or a pipe it writes nothing. Safe from several threads.
class Progress {
 public:
  Progress(std::string label, std::size_t total);
  ~Progress();
  void Step(std::string_view what);
  void Finish();  // takes the line away

 private:
  std::mutex mutex_;
  std::string label_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_ = false;
};

}  // namespace reconciler::cli
