#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

// How long the controller waits for a rank's next message. A rank has deadlines of its own, which
// come first unless the rank was stopped or killed.
struct NcclLimits {
  std::chrono::milliseconds start{20'000};  // until its libraries are loaded
  std::chrono::milliseconds init{22'000};   // until all ranks have found each other
  std::chrono::milliseconds connect{17'000};
  std::chrono::milliseconds test{32'000};  // one collective of one size
  // The whole run, whatever is said in it: messages alone renew the other waits for ever.
  std::chrono::milliseconds total{600'000};
  std::chrono::milliseconds abort{900};  // NCCL's own abort took up to 0.6 s mid-run
};

// Where rank 0 waits, or why the others should not go there.
using CheckRoot = std::function<Result<std::string>(std::string_view unique_id)>;

// The controller's part of the conversation with the ranks of one run, without the channels: what
// was heard goes in, with its time; what has to be said comes out. The first error of any rank
// makes all of them abort.
class NcclCoordinator {
 public:
  using Clock = std::chrono::steady_clock;

  // `now`: when the ranks were started.
  NcclCoordinator(const std::vector<NodeName>& ranks, const NcclLimits& limits, CheckRoot check,
                  Clock::time_point now);

  void Receive(std::size_t rank, const std::string& line, Clock::time_point now);
  // The process or the connection ended; nothing is heard of the rank any more.
  void RecordEnd(std::size_t rank, NcclFate fate, Error why, Clock::time_point now);
  // Lets time pass: whose next message is overdue is not waited for any longer.
  void Tick(Clock::time_point now);

  // What is to be written to the rank now; once.
  std::string PopMessage(std::size_t rank);
  // Whether nothing more is to be heard of the rank.
  bool IsOver(std::size_t rank) const;
  bool IsOver() const;
  // Over without a last message.
  bool IsSilent(std::size_t rank) const { return run_.ranks[rank].order == 0; }
  NcclRun TakeRun() { return std::move(run_); }

 private:
  struct State {
    std::string pending = {};
    Clock::time_point since = {};  // of the wait for its next message
    std::chrono::milliseconds limit{0};
    bool ready = false;  // has said what this phase waits for
  };

  void Settle(std::size_t rank, NcclFate fate, Clock::time_point now);
  void EnterPhase(std::size_t rank, std::string phase, std::chrono::milliseconds limit,
                  Clock::time_point now);
  void ReceiveId(const std::string& unique_id, Clock::time_point now);
  void Advance(Clock::time_point now);
  void Abort(Clock::time_point now);
  double ComputeSeconds(Clock::time_point now) const;  // since the start

  NcclRun run_;
  NcclLimits limits_;
  CheckRoot check_;
  std::vector<State> states_;
  std::string unique_id_ = {};
  bool id_sent_ = false;
  bool started_ = false;  // "go" was said
  int fates_ = 0;
  Clock::time_point began_;
  std::optional<Clock::time_point> aborted_ = std::nullopt;
  bool given_up_ = false;
};

}  // namespace reconciler
