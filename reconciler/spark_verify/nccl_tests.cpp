#include "reconciler/spark_verify/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reconciler/spark_verify/counters.h"

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kStaging = 8u << 20;
constexpr std::size_t kControl = 4096;
// Reading the counters of four ports takes milliseconds.
constexpr std::size_t kCountersFrom = 1u << 20;
constexpr int kLeastIterations = 2;
constexpr unsigned char kPoison = 0xff;  // no number in any type here

void* Pointer(CuPointer address) { return reinterpret_cast<void*>(address); }

int TypeOf(DataType type) { return type == DataType::kFloat ? kNcclFloat32 : kNcclBfloat16; }

double Microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

const char* CallOf(Collective collective) {
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
  for (const NcclTest& test : TestsOf(options_)) {
    const Layout layout = LayoutOf(test.collective, test.type, test.size.bytes, options_.rank,
                                   options_.ranks, test.in_place);
    most = std::max<std::size_t>(most, layout.bytes);
    both = both || !test.in_place;
  }
  if (auto step = gpu_.Allocate(control_, kControl); !step) return step;
  if (auto step = gpu_.Allocate(recv_, most); !step) return step;
  if (both) {
    if (auto step = gpu_.Allocate(send_, most); !step) return step;
  }
  void* staging = nullptr;
  auto step = gpu_.Call("cuMemAllocHost", gpu_.cuda().host_alloc, &staging, kStaging);
  if (!step) return step;
  staging_ = static_cast<std::byte*>(staging);
  events_.resize(static_cast<std::size_t>(options_.iterations) + 1);
  for (CuEvent& event : events_) {
    step = gpu_.Call("cuEventCreate", gpu_.cuda().event_create, &event, 0u);
    if (!step) return step;
  }
  return {};
}

Step NcclTests::Connect() { return Barrier(); }

Step NcclTests::Run() {
  for (const NcclTest& test : TestsOf(options_)) {
    if (auto step = RunTest(test); !step) return step;
  }
  return {};
}

// Sends and receives between all at once, as NCCL's own tests have it.
int NcclTests::Exchange(const NcclTest& test, const Layout& layout, const Place& place) {
  const Nccl& nccl = communicator_.nccl();
  const int type = TypeOf(test.type);
  const std::size_t block = layout.count * BytesOf(test.type);
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
  const int type = TypeOf(test.type);
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

Step NcclTests::Once(const NcclTest& test, const Layout& layout, const Place& place,
                     const std::string& what) {
  return communicator_.Launch(CallOf(test.collective), what,
                              [&] { return Begin(test, layout, place); });
}

// The largest of all ranks' values, the same on all of them. Also a barrier.
tl::expected<double, NcclFailure> NcclTests::AgreeMax(double value) {
  const std::string what = "an all_reduce of 4 bytes";
  auto number = static_cast<float>(value);
  std::memcpy(staging_, &number, sizeof number);
  auto step = gpu_.Call("cuMemcpyHtoDAsync", gpu_.cuda().to_device, control_, staging_,
                        sizeof number, gpu_.stream());
  if (!step) return tl::unexpected(step.error());
  step = communicator_.Launch("ncclAllReduce", what, [&] {
    return communicator_.nccl().all_reduce(Pointer(control_), Pointer(control_), 1, kNcclFloat32,
                                           kNcclMax, communicator_.handle(), gpu_.stream());
  });
  if (!step) return tl::unexpected(step.error());
  step = gpu_.Call("cuMemcpyDtoHAsync", gpu_.cuda().to_host, staging_, control_, sizeof number,
                   gpu_.stream());
  if (!step) return tl::unexpected(step.error());
  step = communicator_.AwaitStream(what);
  if (!step) return tl::unexpected(step.error());
  std::memcpy(&number, staging_, sizeof number);
  return number;
}

Step NcclTests::Barrier() {
  const auto agreed = AgreeMax(0);
  return agreed ? Step() : Step(tl::unexpected(agreed.error()));
}

// Returns how many iterations all ranks will measure. The first one opens connections and is slow.
tl::expected<int, NcclFailure> NcclTests::WarmUp(const NcclTest& test, const Layout& layout,
                                                 const Place& place, const std::string& what) {
  const double budget = options_.budget_ms * 1e3;  // µs
  int left = options_.warm_up;
  int round = 1;
  double slowest = 0;
  while (left > 0) {
    const auto began = Clock::now();
    for (int i = 0; i < round; ++i) {
      if (auto step = Once(test, layout, place, what); !step) return tl::unexpected(step.error());
    }
    if (auto step = communicator_.AwaitStream(what); !step) return tl::unexpected(step.error());
    const auto agreed = AgreeMax(Microseconds(Clock::now() - began) / round);
    if (!agreed) return tl::unexpected(agreed.error());
    slowest = std::max(*agreed, 1.0);
    left -= round;
    round = left;
    // A quarter of the budget at most goes to what is not measured.
    if (budget > 0) round = std::min(round, static_cast<int>(budget / 4 / slowest));
    if (round == 0) break;
  }
  if (budget == 0) return options_.iterations;
  return std::clamp(static_cast<int>(budget / slowest), kLeastIterations, options_.iterations);
}

Step NcclTests::Measure(const NcclTest& test, const Layout& layout, const Place& place,
                        const std::string& what, NcclResult& result) {
  const bool counted = layout.bytes >= kCountersFrom;
  const auto iterations = static_cast<std::size_t>(result.iterations);
  const Cuda& cuda = gpu_.cuda();
  Counters before;
  if (counted) {
    if (auto step = Barrier(); !step) return step;
    before = ReadCounters("");
  }
  if (auto step = Barrier(); !step) return step;
  const auto began = Clock::now();
  auto step = gpu_.Call("cuEventRecord", cuda.event_record, events_[0], gpu_.stream());
  for (std::size_t i = 0; step && i < iterations; ++i) {
    step = Once(test, layout, place, what);
    if (!step) return step;
    step = gpu_.Call("cuEventRecord", cuda.event_record, events_[i + 1], gpu_.stream());
  }
  if (step) step = communicator_.AwaitStream(what);
  if (!step) return step;
  result.wall_us = Microseconds(Clock::now() - began) / static_cast<double>(iterations);
  if (counted) {
    if (step = Barrier(); !step) return step;
    result.counters = Growth(before, ReadCounters(""));
  }
  std::vector<double> times;
  for (std::size_t i = 0; i < iterations; ++i) {
    float ms = 0;
    step = gpu_.Call("cuEventElapsedTime", cuda.event_elapsed, &ms, events_[i], events_[i + 1]);
    if (!step) return step;
    times.push_back(ms * 1e3);
  }
  const Times summary = Summarise(std::move(times));
  result.time_us = summary.mean;
  result.p50_us = summary.p50;
  result.p95_us = summary.p95;
  return {};
}

const std::vector<std::byte>& NcclTests::TileOf(DataType type, int source) {
  auto& tile = tiles_[{type, source}];
  if (tile.empty()) tile = Tile(type, source, options_.ranks);
  return tile;
}

// This rank's values from their first on: one tile from the host, then copies of what is there.
Step NcclTests::Fill(CuPointer at, std::size_t count, DataType type) {
  const auto& tile = TileOf(type, options_.rank);
  const std::size_t bytes = count * BytesOf(type);
  std::size_t filled = std::min(bytes, tile.size());
  std::memcpy(staging_, tile.data(), filled);
  auto step =
      gpu_.Call("cuMemcpyHtoDAsync", gpu_.cuda().to_device, at, staging_, filled, gpu_.stream());
  while (step && filled < bytes) {
    const std::size_t more = std::min(filled, bytes - filled);
    step = gpu_.Call("cuMemcpyDtoDAsync", gpu_.cuda().within_device, at + filled, at, more,
                     gpu_.stream());
    filled += more;
  }
  if (step) step = communicator_.AwaitStream("the test's data in the GPU's memory");
  return step;
}

Step NcclTests::CheckSegment(const Segment& segment, DataType type, std::uint64_t& wrong) {
  const std::size_t each = BytesOf(type);
  const std::size_t chunk = kStaging / each;
  const auto& tile = TileOf(type, segment.source);
  for (std::size_t done = 0; done < segment.count; done += chunk) {
    const std::size_t count = std::min(chunk, segment.count - done);
    auto step = gpu_.Call("cuMemcpyDtoHAsync", gpu_.cuda().to_host, staging_,
                          recv_ + (segment.at + done) * each, count * each, gpu_.stream());
    if (step) step = communicator_.AwaitStream("the result in the host's memory");
    if (!step) return step;
    wrong += CountWrong({staging_, count * each}, type, tile, segment.from + done);
  }
  return {};
}

// Once more with data that are known, into memory that holds none of them.
Step NcclTests::Check(const NcclTest& test, const Layout& layout, const Place& place,
                      const std::string& what, NcclResult& result) {
  auto step = gpu_.Call("cuMemsetD8Async", gpu_.cuda().set_bytes, recv_, kPoison,
                        static_cast<std::size_t>(layout.bytes), gpu_.stream());
  if (step) step = Fill(place.send, layout.send_count, test.type);
  if (step) step = Once(test, layout, place, what);
  if (step) step = communicator_.AwaitStream(what);
  for (std::size_t i = 0; step && i < layout.results.size(); ++i) {
    step = CheckSegment(layout.results[i], test.type, result.wrong);
  }
  return step;
}

Step NcclTests::RunTest(const NcclTest& test) {
  const int limit = test.size.deadline_ms > 0 ? test.size.deadline_ms : options_.size_ms;
  supervisor_.Begin(Describe(test),
                    std::min(end_, Clock::now() + std::chrono::milliseconds(limit)));
  const std::string what =
      fmt::format("{} of {} bytes", ToString(test.collective), test.size.bytes);
  const Layout layout = LayoutOf(test.collective, test.type, test.size.bytes, options_.rank,
                                 options_.ranks, test.in_place);
  const std::size_t each = BytesOf(test.type);
  const Place place{.send = (test.in_place ? recv_ : send_) + layout.send_at * each,
                    .recv = recv_ + layout.recv_at * each};
  NcclResult result{.collective = test.collective,
                    .bytes = layout.bytes,
                    .type = test.type,
                    .in_place = test.in_place};
  const auto iterations = WarmUp(test, layout, place, what);
  if (!iterations) return tl::unexpected(iterations.error());
  result.iterations = *iterations;
  auto step = Measure(test, layout, place, what, result);
  if (step) step = Check(test, layout, place, what, result);
  if (!step) return step;
  if (result.time_us > 0) result.algbw = static_cast<double>(layout.bytes) * 1e-3 / result.time_us;
  result.busbw = result.algbw * BusFactor(test.collective, options_.ranks);
  output_.Say(ResultLine(result));
  return {};
}

}  // namespace reconciler::spark_verify
