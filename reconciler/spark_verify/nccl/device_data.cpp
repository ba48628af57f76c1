#include "reconciler/spark_verify/nccl/device_data.h"

#include <algorithm>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kStaging = 8u << 20;
constexpr unsigned char kPoison = 0xff;  // no number in any type here

}  // namespace

Step DeviceData::Prepare(std::size_t bytes, bool both) {
  auto step = gpu_.Allocate(recv_, bytes);
  if (step && both) step = gpu_.Allocate(send_, bytes);
  if (!step) return step;
  void* staging = nullptr;
  step = gpu_.Call("cuMemAllocHost", gpu_.cuda().host_alloc, &staging, kStaging);
  staging_ = static_cast<std::byte*>(staging);
  return step;
}

Step DeviceData::Poison(std::size_t bytes) {
  return gpu_.Call("cuMemsetD8Async", gpu_.cuda().set_bytes, recv_, kPoison, bytes, gpu_.stream());
}

Step DeviceData::Put(CuPointer at, float number) {
  std::memcpy(staging_, &number, sizeof number);
  return gpu_.Call("cuMemcpyHtoDAsync", gpu_.cuda().to_device, at, staging_, sizeof number,
                   gpu_.stream());
}

Step DeviceData::Get(CuPointer at, float& number, const std::string& what) {
  auto step = gpu_.Call("cuMemcpyDtoHAsync", gpu_.cuda().to_host, staging_, at, sizeof number,
                        gpu_.stream());
  if (step) step = communicator_.AwaitStream(what);
  if (step) std::memcpy(&number, staging_, sizeof number);
  return step;
}

const std::vector<std::byte>& DeviceData::GetTile(DataType type, int source) {
  auto& tile = tiles_[{type, source}];
  if (tile.empty()) tile = MakeTile(type, source, ranks_);
  return tile;
}

// This rank's values from their first on: one tile from the host, then copies of what is there.
Step DeviceData::Fill(CuPointer at, std::size_t count, DataType type) {
  const auto& tile = GetTile(type, rank_);
  const std::size_t bytes = count * GetElementSize(type);
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

Step DeviceData::CountWrong(const Segment& segment, DataType type, std::uint64_t& wrong) {
  const std::size_t each = GetElementSize(type);
  const std::size_t chunk = kStaging / each;
  const auto& tile = GetTile(type, segment.source);
  for (std::size_t done = 0; done < segment.count; done += chunk) {
    const std::size_t count = std::min(chunk, segment.count - done);
    auto step = gpu_.Call("cuMemcpyDtoHAsync", gpu_.cuda().to_host, staging_,
                          recv_ + (segment.at + done) * each, count * each, gpu_.stream());
    if (step) step = communicator_.AwaitStream("the result in the host's memory");
    if (!step) return step;
    wrong += spark_verify::CountWrong({staging_, count * each}, type, tile, segment.from + done);
  }
  return {};
}

}  // namespace reconciler::spark_verify
