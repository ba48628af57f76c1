#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/spark_verify/communicator.h"
#include "reconciler/spark_verify/nccl_gpu.h"
#include "reconciler/spark_verify/nccl_options.h"
#include "reconciler/spark_verify/nccl_plan.h"
#include "reconciler/spark_verify/rank_output.h"
#include "reconciler/spark_verify/test_data.h"

namespace reconciler::spark_verify {

// Runs the tests of one rank and says each result.
class NcclTests {
 public:
  NcclTests(const NcclOptions& options, Gpu& gpu, Communicator& communicator,
            Supervisor& supervisor, RankOutput& output, Clock::time_point end)
      : options_(options),
        gpu_(gpu),
        communicator_(communicator),
        supervisor_(supervisor),
        output_(output),
        end_(end) {}

  // Buffers and events.
  Step Prepare();
  // A first all_reduce of one element, which opens the connections of that kind.
  Step Connect();
  Step Run();

 private:
  struct Place {
    CuPointer send = 0;  // of this rank's data
    CuPointer recv = 0;
  };

  Step RunTest(const NcclTest& test);
  Step Once(const NcclTest& test, const Layout& layout, const Place& place,
            const std::string& what);
  int Begin(const NcclTest& test, const Layout& layout, const Place& place);
  int Exchange(const NcclTest& test, const Layout& layout, const Place& place);
  tl::expected<int, NcclFailure> WarmUp(const NcclTest& test, const Layout& layout,
                                        const Place& place, const std::string& what);
  Step Measure(const NcclTest& test, const Layout& layout, const Place& place,
               const std::string& what, NcclResult& result);
  Step Check(const NcclTest& test, const Layout& layout, const Place& place,
             const std::string& what, NcclResult& result);
  Step Fill(CuPointer at, std::size_t count, DataType type);
  Step CheckSegment(const Segment& segment, DataType type, std::uint64_t& wrong);
  tl::expected<double, NcclFailure> AgreeMax(double value);
  Step Barrier();
  const std::vector<std::byte>& TileOf(DataType type, int source);

  const NcclOptions& options_;
  Gpu& gpu_;
  Communicator& communicator_;
  Supervisor& supervisor_;
  RankOutput& output_;
  Clock::time_point end_;
  CuPointer send_ = 0;
  CuPointer recv_ = 0;
  CuPointer control_ = 0;
  std::byte* staging_ = nullptr;  // pinned
  std::vector<CuEvent> events_ = {};
  std::map<std::pair<DataType, int>, std::vector<std::byte>> tiles_ = {};
};

}  // namespace reconciler::spark_verify
