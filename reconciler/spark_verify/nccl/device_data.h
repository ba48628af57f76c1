#pragma once

#include <map>
#include <utility>
#include <vector>

#include "reconciler/spark_verify/nccl/communicator.h"
#include "reconciler/spark_verify/nccl/gpu.h"
#include "reconciler/spark_verify/nccl/test_data.h"

namespace reconciler::spark_verify {

// The two buffers on the GPU, and what is written into them and read back, by way of a little
// pinned memory: no kernels of our own are needed.
class DeviceData {
 public:
  DeviceData(Gpu& gpu, Communicator& communicator, int rank, int ranks)
      : gpu_(gpu), communicator_(communicator), rank_(rank), ranks_(ranks) {}

  // bytes: of each buffer. both: false leaves the send buffer out.
  Step Prepare(std::size_t bytes, bool both);
  CuPointer send() const { return send_; }
  CuPointer recv() const { return recv_; }

  // The receive buffer holds no numbers afterwards.
  Step Poison(std::size_t bytes);
  // This rank's values from its first on.
  Step Fill(CuPointer at, std::size_t count, DataType type);
  // Adds how many elements of the receive buffer are not what they must be.
  Step CountWrong(const Segment& segment, DataType type, std::uint64_t& wrong);

  Step Put(CuPointer at, float number);
  Step Get(CuPointer at, float& number, const std::string& what);

 private:
  const std::vector<std::byte>& GetTile(DataType type, int source);

  Gpu& gpu_;
  Communicator& communicator_;
  const int rank_;
  const int ranks_;
  CuPointer send_ = 0;
  CuPointer recv_ = 0;
  std::byte* staging_ = nullptr;  // pinned
  std::map<std::pair<DataType, int>, std::vector<std::byte>> tiles_ = {};
};

}  // namespace reconciler::spark_verify
