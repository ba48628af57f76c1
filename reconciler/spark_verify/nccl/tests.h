#pragma once

#include <string>
#include <vector>

#include "reconciler/spark_verify/nccl/communicator.h"
#include "reconciler/spark_verify/nccl/device_data.h"
#include "reconciler/spark_verify/nccl/gpu.h"
#include "reconciler/spark_verify/nccl/plan.h"
#include "reconciler/spark_verify/nccl/rank_output.h"
#include "reconciler/spark_verify/nccl/test_data.h"
#include "reconciler/spark_verify/protocol/nccl_options.h"

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
  Step RunOnce(const NcclTest& test, const Layout& layout, const Place& place,
               const std::string& what);
  int Begin(const NcclTest& test, const Layout& layout, const Place& place);
  int Exchange(const NcclTest& test, const Layout& layout, const Place& place);
  tl::expected<Batch, NcclFailure> WarmUp(const NcclTest& test, const Layout& layout,
                                          const Place& place, const std::string& what);
  Step Measure(const NcclTest& test, const Layout& layout, const Place& place,
               const std::string& what, const Batch& batch, NcclResult& result);
  Step RunBatch(const NcclTest& test, const Layout& layout, const Place& place,
                const std::string& what, const Batch& batch);
  Step Mark(std::size_t number);
  Step ReadTimes(const Batch& batch, NcclResult& result);
  Step Check(const NcclTest& test, const Layout& layout, const Place& place,
             const std::string& what, NcclResult& result);
  tl::expected<double, NcclFailure> AgreeMax(double value, const std::string& what);
  Step WaitAtBarrier(const std::string& what);

  const NcclOptions& options_;
  Gpu& gpu_;
  Communicator& communicator_;
  Supervisor& supervisor_;
  RankOutput& output_;
  Clock::time_point end_;
  DeviceData data_{gpu_, communicator_, options_.rank, options_.ranks};
  CuPointer control_ = 0;             // a number that all ranks agree about
  std::vector<CuEvent> events_ = {};  // one more than iterations at most
};

}  // namespace reconciler::spark_verify
