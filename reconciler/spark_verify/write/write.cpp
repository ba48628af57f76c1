#include "reconciler/spark_verify/write/write.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "reconciler/spark_verify/io/line_reader.h"
#include "reconciler/spark_verify/io/read_counters.h"
#include "reconciler/spark_verify/protocol/counters.h"
#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/spark_verify/write/last_resort.h"
#include "reconciler/spark_verify/write/rail.h"

namespace reconciler::spark_verify {
namespace {

constexpr int kFailed = 1;

// An HCA acknowledges a write every few microseconds. What is silent for longer is soft-RoCE,
// which needs the core that polls.
constexpr std::chrono::microseconds kSpin{500};
constexpr std::chrono::microseconds kNap{200};

// What ends a run early. code "peer": the other end said so itself, and nothing is to be added.
using Step = tl::expected<void, RunError>;

RunError MakeRunError(std::string code, std::string hca, const Error& error) {
  return {
      .code = std::move(code), .hca = std::move(hca), .text = error.message, .hint = error.hint};
}

class WriteRun {
 public:
  explicit WriteRun(const WriteOptions& options)
      : options_(options), end_(Clock::now() + std::chrono::milliseconds(options.limit_ms)) {}

  Step Run();

 private:
  Step Open();
  Step Expect(Event event);
  Step CheckInput();
  Step Connect();
  Step PingPong(std::size_t rail);
  Step AwaitMailbox(std::size_t rail, std::uint64_t value);
  Step MeasureLatencies();
  Step Send();
  Step PumpUntil(Clock::time_point until, bool posting);
  Step SendFinalPattern();
  Step Check();
  void Say(const std::string& line) { WriteAll(STDOUT_FILENO, line); }
  tl::unexpected<RunError> FailLate(const std::string& wanted) const;

  const WriteOptions& options_;
  const Clock::time_point end_;
  LineReader lines_{STDIN_FILENO};
  Result<Verbs> verbs_ = LoadVerbs();
  std::vector<std::unique_ptr<Rail>> rails_ = {};
  Ready peer_ = {};
  Message last_ = {};
  std::vector<RailSent> sent_ = {};
  Counters before_ = {};
};

tl::unexpected<RunError> WriteRun::FailLate(const std::string& wanted) const {
  return tl::unexpected<RunError>(
      {.code = "deadline",
       .text =
           fmt::format("wanted {} within {} ms, found the time over", wanted, options_.limit_ms)});
}

Step WriteRun::Open() {
  if (!verbs_) return tl::unexpected(MakeRunError("no-libibverbs", "", verbs_.error()));
  before_ = ReadCounters("");
  Ready ready{.size = options_.size, .latency = options_.latency, .send = options_.send};
  for (const RailOption& option : options_.rails) {
    auto rail = Rail::Open(*verbs_, option, options_);
    if (!rail) return tl::unexpected(MakeRunError("open", option.hca, rail.error()));
    ready.rails.push_back((*rail)->ready());
    rails_.push_back(std::move(*rail));
  }
  Say(FormatReady(ready));
  return {};
}

Step WriteRun::Expect(Event event) {
  const auto line = lines_.Next(end_);
  if (!line && lines_.AtEnd()) {
    return tl::unexpected<RunError>({.code = "controller-gone", .text = "the input ended"});
  }
  if (!line) return FailLate(fmt::format("the peer's line '{}'", ToString(event)));
  auto message = ParseMessage(*line);
  if (!message) return tl::unexpected(MakeRunError("protocol", "", message.error()));
  last_ = std::move(*message);
  if (last_.event == Event::kError) return tl::unexpected<RunError>({.code = "peer"});
  if (last_.event == event) return {};
  return tl::unexpected<RunError>({.code = "protocol",
                                   .text = fmt::format("wanted the peer's line '{}', found '{}'",
                                                       ToString(event), ToString(last_.event))});
}

// While data flows: the end of input and an error of the peer end it. A peer that has sent all of
// its own says so early.
Step WriteRun::CheckInput() {
  if (const auto line = lines_.Next(Clock::now())) {
    auto message = ParseMessage(*line);
    if (!message) return tl::unexpected(MakeRunError("protocol", "", message.error()));
    last_ = std::move(*message);
    if (last_.event == Event::kError) return tl::unexpected<RunError>({.code = "peer"});
  }
  if (lines_.AtEnd()) {
    return tl::unexpected<RunError>({.code = "controller-gone", .text = "the input ended"});
  }
  return {};
}

Step WriteRun::Connect() {
  if (auto step = Expect(Event::kReady); !step) return step;
  peer_ = last_.ready;
  if (peer_.rails.size() != rails_.size() || peer_.size != options_.size) {
    return tl::unexpected<RunError>(
        {.code = "protocol",
         .text =
             fmt::format("wanted {} rails and messages of {} bytes at the peer, found {} and {}",
                         rails_.size(), options_.size, peer_.rails.size(), peer_.size)});
  }
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    if (auto done = rails_[i]->Connect(peer_.rails[i]); !done) {
      return tl::unexpected(MakeRunError("connect", rails_[i]->ready().hca, done.error()));
    }
    sent_.push_back({.hca = rails_[i]->ready().hca, .path_mtu = rails_[i]->path_mtu()});
  }
  Say(FormatConnected());
  return Expect(Event::kConnected);
}

Step WriteRun::AwaitMailbox(std::size_t rail, std::uint64_t value) {
  Rail& own = *rails_[rail];
  for (std::size_t spins = 0; own.Mailbox() != value; ++spins) {
    if (auto done = own.Pump(false); !done) {
      return tl::unexpected(MakeRunError("transfer", own.ready().hca, done.error()));
    }
    if (spins % 256 != 255) continue;
    sched_yield();
    if (Clock::now() > end_) return FailLate(fmt::format("a ping back on {}", own.ready().hca));
    if (auto step = CheckInput(); !step) return step;
  }
  return {};
}

// Values count up from 1 in the order of the writes, so that none is mistaken for one before.
Step WriteRun::PingPong(std::size_t rail) {
  Rail& own = *rails_[rail];
  const bool leads = options_.latency > 0;
  const std::size_t rounds = std::max(options_.latency, peer_.latency);
  std::vector<double> halves;  // µs
  for (std::size_t round = 1; round <= rounds; ++round) {
    const auto began = Clock::now();
    if (!leads) {
      if (auto step = AwaitMailbox(rail, round); !step) return step;
    }
    // The send queue has room again before its depth is used up.
    while (own.in_flight() >= options_.depth) {
      if (auto done = own.Pump(false); !done) {
        return tl::unexpected(MakeRunError("transfer", own.ready().hca, done.error()));
      }
      if (Clock::now() > end_) return FailLate(fmt::format("room on {}", own.ready().hca));
    }
    if (auto done = own.Ping(round); !done) {
      return tl::unexpected(MakeRunError("transfer", own.ready().hca, done.error()));
    }
    if (!leads) continue;
    if (auto step = AwaitMailbox(rail, round); !step) return step;
    halves.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count() / 2);
  }
  if (!halves.empty()) {
    std::nth_element(halves.begin(), halves.begin() + halves.size() / 2, halves.end());
    sent_[rail].latency_us = halves[halves.size() / 2];
  }
  return {};
}

Step WriteRun::MeasureLatencies() {
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    if (auto step = PingPong(rail); !step) return step;
  }
  return PumpUntil(Clock::now(), false);
}

// Posts until then (or not at all), and afterwards waits for all that is in flight.
Step WriteRun::PumpUntil(Clock::time_point until, bool posting) {
  auto last = Clock::now();  // of what was acknowledged
  for (std::size_t turns = 0;; ++turns) {
    std::size_t in_flight = 0;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    for (const auto& rail : rails_) {
      before += rail->completed();
      if (auto done = rail->Pump(posting); !done) {
        return tl::unexpected(MakeRunError("transfer", rail->ready().hca, done.error()));
      }
      after += rail->completed();
      in_flight += rail->in_flight();
    }
    const auto now = Clock::now();
    if (now >= until && (posting || in_flight == 0)) return {};
    if (now > end_) return FailLate("all writes acknowledged");
    if (after != before) {
      last = now;
    } else if (now - last < kSpin) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
    if (turns % 1024 != 0) continue;
    if (auto step = CheckInput(); !step) return step;
  }
}

Step WriteRun::Send() {
  const auto completed = [this] {
    std::vector<std::uint64_t> counts;
    for (const auto& rail : rails_) counts.push_back(rail->completed());
    return counts;
  };
  using std::chrono::milliseconds;
  auto step = PumpUntil(Clock::now() + milliseconds(options_.warm_up_ms), true);
  if (!step) return step;
  const auto began = Clock::now();
  const auto before = completed();
  step = PumpUntil(began + milliseconds(options_.milliseconds), true);
  if (!step) return step;
  const std::chrono::duration<double> seconds = Clock::now() - began;
  const auto after = completed();
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    sent_[i].bytes = (after[i] - before[i]) * options_.size;
    sent_[i].seconds = seconds.count();
  }
  return PumpUntil(Clock::now(), false);
}

// The first pattern filled the peer's memory many times over; this one it has not seen yet.
Step WriteRun::SendFinalPattern() {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    sent_[i].final_seed = rails_[i]->ready().queue_pairs.front().first_packet + 1;
    rails_[i]->FillSource(sent_[i].final_seed);
    if (auto done = rails_[i]->PostOnce(); !done) {
      return tl::unexpected(MakeRunError("transfer", rails_[i]->ready().hca, done.error()));
    }
  }
  return PumpUntil(Clock::now(), false);
}

Step WriteRun::Check() {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; peer_.send && i < last_.sent.size() && i < rails_.size(); ++i) {
    const auto right = rails_[i]->Verify(last_.sent[i].final_seed);
    if (!right) return tl::unexpected(MakeRunError("data", rails_[i]->ready().hca, right.error()));
    bytes += *right;
  }
  Say(FormatChecked(bytes));
  return {};
}

Step WriteRun::Run() {
  if (auto step = Open(); !step) return step;
  if (auto step = Connect(); !step) return step;
  last_ = {};
  if (auto step = MeasureLatencies(); !step) return step;
  if (options_.send) {
    for (const auto& rail : rails_) rail->FillSource(1);
    if (auto step = Send(); !step) return step;
    if (auto step = SendFinalPattern(); !step) return step;
  }
  for (std::size_t i = 0; i < rails_.size(); ++i) sent_[i].total_bytes = rails_[i]->written_bytes();
  Say(FormatSent(sent_));
  if (last_.event != Event::kSent) {
    if (auto step = Expect(Event::kSent); !step) return step;
  }
  if (auto step = Check(); !step) return step;
  if (auto step = Expect(Event::kChecked); !step) return step;
  Say(FormatEnd(ComputeGrowth(before_, ReadCounters(""))));
  return {};
}

}  // namespace

int RunWrite(const WriteOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  ArmLastResort(options.limit_ms);
  WriteRun run(options);
  const Step step = run.Run();
  if (step) return 0;
  if (step.error().code != "peer") WriteAll(STDOUT_FILENO, FormatErrorLine(step.error()));
  return kFailed;
}

}  // namespace reconciler::spark_verify
