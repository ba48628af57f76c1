#pragma once

#include <mutex>
#include <string>
#include <thread>

namespace reconciler::spark_verify {

// Where events go, once everything that libraries print to stdout and stderr becomes log events.
class RankOutput {
 public:
  // Takes file descriptors 1 and 2 for itself, and begins to forward.
  RankOutput();
  RankOutput(const RankOutput&) = delete;
  ~RankOutput() = delete;  // lives until _exit: libraries' threads print until then

  // A whole line. False: it could not be written, as no one reads or another thread is stuck in it.
  bool Say(const std::string& line);
  // What was printed until now has been said when this returns; nothing is forwarded after it.
  void Drain();
  int fd() const { return events_; }

 private:
  void Forward(int from);

  int events_;
  std::mutex writing_;
  std::thread forwarder_;
};

}  // namespace reconciler::spark_verify
