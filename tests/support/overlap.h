#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace reconciler::test {

// Counts how many threads are in Pass at the same time. A pass is long enough for another thread
// that may come to come.
class Overlap {
 public:
  void Pass() {
    const int now = ++inside_;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --inside_;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<int> most_ = 0;
};

}  // namespace reconciler::test
