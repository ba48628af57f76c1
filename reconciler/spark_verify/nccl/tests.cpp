#include "reconciler/spark_verify/nccl/tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reconciler/spark_verify/io/read_counters.h"
#include "reconciler/spark_verify/protocol/counters.h"

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kControl = 4096;
// Reading the counters of four ports takes milliseconds.
constexpr std::size_t kCountersFrom = 1u << 20;
constexpr int kLeastIterations = 2;

void* Pointer(CuPointer address) { return reinterpret_cast<void*>(address); }

int ToNcclType(DataType type) { return type == DataType::kFloat ? kNcclFloat32 : kNcclBfloat16; }

double ConvertToMicroseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

const char* NameCall(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "ncclAllReduce";
    case Collective::kAllGather:
      return "ncclAllGather";
    case Collective::kReduceScatter:
      return "ncclReduceScatter";
    case Collective::kAllToAll:
    case Collective::kSendRecv:
      return "ncclGroupEnd";
  }
  return "";
}

}  // namespace

Step NcclTests::Prepare() {
  std::size_t most = 0;
  bool both = false;
  for (const NcclTest& test : ListTests(options_)) {
    const Layout layout = MakeLayout(test.collective, test.type, test.size.bytes, options_.rank,
                                     options_.ranks, test.in_place);
    most = std::max<std::size_t>(most, layout.bytes);
    both = both || !test.in_place;
  }
  auto step = gpu_.Allocate(control_, kControl);
  if (step) step = data_.Prepare(most, both);
  if (!step) return step;
  events_.resize(static_cast<std::size_t>(options_.iterations) + 1);
  for (CuEvent& event : events_) {
    step = gpu_.Call("cuEventCreate", gpu_.cuda().event_create, &event, 0u);
    if (!step) return step;
  }
  return {};
}

Step NcclTests::Connect() { return WaitAtBarrier("a first all_reduce of 4 bytes"); }

Step NcclTests::Run() {
  for (const NcclTest& test : ListTests(options_)) {
    if (auto step = RunTest(test); !step) return step;
  }
  return {};
}

// Sends and receives between all at once, as NCCL's own tests have it.
int NcclTests::Exchange(const NcclTest& test, const Layout& layout, const Place& place) {
  const Nccl& nccl = communicator_.nccl();
  const int type = ToNcclType(test.type);
  const std::size_t block = layout.count * GetElementSize(test.type);
  const bool ring = test.collective == Collective::kSendRecv;
  int result = nccl.group_start();
  const auto also = [&result](int next) {
    if (result == kNcclSuccess || result == kNcclInProgress) result = next;
  };
  for (int peer = 0; peer < options_.ranks; ++peer) {
    const std::size_t at = ring ? 0 : static_cast<std::size_t>(peer) * block;
    if (!ring || peer == (options_.rank + 1) % options_.ranks) {
      also(nccl.send(Pointer(place.send + at), layout.count, type, peer, communicator_.handle(),
                     gpu_.stream()));
    }
    if (!ring || peer == (options_.rank + options_.ranks - 1) % options_.ranks) {
      also(nccl.recv(Pointer(place.recv + at), layout.count, type, peer, communicator_.handle(),
                     gpu_.stream()));
    }
  }
  also(nccl.group_end());
  return result;
}

int NcclTests::Begin(const NcclTest& test, const Layout& layout, const Place& place) {
  const Nccl& nccl = communicator_.nccl();
  const NcclComm comm = communicator_.handle();
  const int type = ToNcclType(test.type);
  const void* from = Pointer(place.send);
  void* to = Pointer(place.recv);
  switch (test.collective) {
    case Collective::kAllReduce:
      return nccl.all_reduce(from, to, layout.count, type, kNcclSum, comm, gpu_.stream());
    case Collective::kAllGather:
      return nccl.all_gather(from, to, layout.count, type, comm, gpu_.stream());
    case Collective::kReduceScatter:
      return nccl.reduce_scatter(from, to, layout.count, type, kNcclSum, comm, gpu_.stream());
    case Collective::kAllToAll:
    case Collective::kSendRecv:
      return Exchange(test, layout, place);
  }
  return kNcclSuccess;
}

Step NcclTests::RunOnce(const NcclTest& test, const Layout& layout, const Place& place,
                        const std::string& what) {
  return communicator_.Launch(NameCall(test.collective), what,
                              [&] { return Begin(test, layout, place); });
}

// The largest of all ranks' values, the same on all of them. Also a barrier.
tl::expected<double, NcclFailure> NcclTests::AgreeMax(double value, const std::string& what) {
  auto number = static_cast<float>(value);
  auto step = data_.Put(control_, number);
  if (!step) return tl::unexpected(step.error());
  step = communicator_.Launch("ncclAllReduce", what, [&] {
    return communicator_.nccl().all_reduce(Pointer(control_), Pointer(control_), 1, kNcclFloat32,
                                           kNcclMax, communicator_.handle(), gpu_.stream());
  });
  if (step) step = data_.Get(control_, number, what);
  if (!step) return tl::unexpected(step.error());
  return number;
}

Step NcclTests::WaitAtBarrier(const std::string& what) {
  const auto agreed = AgreeMax(0, what);
  return agreed ? Step() : Step(tl::unexpected(agreed.error()));
}

// Returns what all ranks will measure. The first iteration opens connections and is slow.
tl::expected<Batch, NcclFailure> NcclTests::WarmUp(const NcclTest& test, const Layout& layout,
                                                   const Place& place, const std::string& what) {
  const double budget = options_.budget_ms * 1e3;  // µs
  int left = options_.warm_up;
  int round = 1;
  double slowest = 0;
  while (left > 0) {
    const auto began = Clock::now();
    for (int i = 0; i < round; ++i) {
      if (auto step = RunOnce(test, layout, place, what); !step)
        return tl::unexpected(step.error());
    }
    if (auto step = communicator_.AwaitStream(what); !step) return tl::unexpected(step.error());
    const auto agreed = AgreeMax(ConvertToMicroseconds(Clock::now() - began) / round, what);
    if (!agreed) return tl::unexpected(agreed.error());
    slowest = std::max(*agreed, 1.0);
    left -= round;
    round = left;
    // A quarter of the budget at most goes to what is not measured.
    if (budget > 0) round = std::min(round, static_cast<int>(budget / 4 / slowest));
    if (round == 0) break;
  }
  if (budget == 0) return PlanBatch(options_.iterations, slowest);
  const int within =
      std::clamp(static_cast<int>(budget / slowest), kLeastIterations, options_.iterations);
  return PlanBatch(within, slowest);
}

Step NcclTests::Mark(std::size_t number) {
  return gpu_.Call("cuEventRecord", gpu_.cuda().event_record, events_[number], gpu_.stream());
}

// As NCCL's own tests have it: all iterations are put into the stream, and only then is anything
// waited for. Between two calls stands nothing but what a communicator that does not block demands.
Step NcclTests::RunBatch(const NcclTest& test, const Layout& layout, const Place& place,
                         const std::string& what, const Batch& batch) {
  std::size_t mark = 0;
  Step step;
  if (batch.lead) step = RunOnce(test, layout, place, what);
  if (step) step = Mark(mark);
  for (int i = 1; step && i <= batch.iterations; ++i) {
    step = RunOnce(test, layout, place, what);
    const bool marked = i % batch.apart == 0 || i == batch.iterations;
    if (step && marked) step = Mark(++mark);
  }
  return step ? communicator_.AwaitStream(what) : step;
}

// Iterations without an event between them share the time of all of them.
Step NcclTests::ReadTimes(const Batch& batch, NcclResult& result) {
  std::vector<double> times;
  std::size_t mark = 0;
  for (int done = 0; done < batch.iterations; done += batch.apart, ++mark) {
    const int shared = std::min(batch.apart, batch.iterations - done);
    float ms = 0;
    auto step = gpu_.Call("cuEventElapsedTime", gpu_.cuda().event_elapsed, &ms, events_[mark],
                          events_[mark + 1]);
    if (!step) return step;
    times.insert(times.end(), static_cast<std::size_t>(shared), ms * 1e3 / shared);
  }
  const Times summary = Summarize(std::move(times));
  result.time_us = summary.mean;
  result.p50_us = summary.p50;
  result.p95_us = summary.p95;
  return {};
}

Step NcclTests::Measure(const NcclTest& test, const Layout& layout, const Place& place,
                        const std::string& what, const Batch& batch, NcclResult& result) {
  const bool counted = layout.bytes >= kCountersFrom;
  Counters before;
  if (counted) {
    if (auto step = WaitAtBarrier(what); !step) return step;
    before = ReadCounters("");
  }
  if (auto step = WaitAtBarrier(what); !step) return step;
  const auto began = Clock::now();
  if (auto step = RunBatch(test, layout, place, what, batch); !step) return step;
  result.wall_us =
      ConvertToMicroseconds(Clock::now() - began) / (batch.iterations + (batch.lead ? 1 : 0));
  if (counted) {
    if (auto step = WaitAtBarrier(what); !step) return step;
    result.counters = ComputeGrowth(before, ReadCounters(""));
  }
  return ReadTimes(batch, result);
}

// Once more with data that are known, into memory that holds none of them.
Step NcclTests::Check(const NcclTest& test, const Layout& layout, const Place& place,
                      const std::string& what, NcclResult& result) {
  auto step = data_.Poison(layout.bytes);
  if (step) step = data_.Fill(place.send, layout.send_count, test.type);
  if (step) step = RunOnce(test, layout, place, what);
  if (step) step = communicator_.AwaitStream(what);
  for (std::size_t i = 0; step && i < layout.results.size(); ++i) {
    step = data_.CountWrong(layout.results[i], test.type, result.wrong);
  }
  return step;
}

Step NcclTests::RunTest(const NcclTest& test) {
  const int limit = test.size.limit_ms > 0 ? test.size.limit_ms : options_.size_ms;
  supervisor_.Begin(Describe(test),
                    std::min(end_, Clock::now() + std::chrono::milliseconds(limit)));
  const std::string what =
      fmt::format("{} of {} bytes", ToString(test.collective), test.size.bytes);
  const Layout layout = MakeLayout(test.collective, test.type, test.size.bytes, options_.rank,
                                   options_.ranks, test.in_place);
  const std::size_t each = GetElementSize(test.type);
  const Place place{.send = (test.in_place ? data_.recv() : data_.send()) + layout.send_at * each,
                    .recv = data_.recv() + layout.recv_at * each};
  NcclResult result{.collective = test.collective,
                    .bytes = layout.bytes,
                    .type = test.type,
                    .in_place = test.in_place};
  const auto batch = WarmUp(test, layout, place, what);
  if (!batch) return tl::unexpected(batch.error());
  result.iterations = batch->iterations;
  auto step = Measure(test, layout, place, what, *batch, result);
  if (step) step = Check(test, layout, place, what, result);
  if (!step) return step;
  if (result.time_us > 0) result.algbw = static_cast<double>(layout.bytes) * 1e-3 / result.time_us;
  result.busbw = result.algbw * ComputeBusFactor(test.collective, options_.ranks);
  output_.Say(FormatResult(result));
  return {};
}

}  // namespace reconciler::spark_verify
