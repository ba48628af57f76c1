#include "reconciler/spark_verify/write/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "reconciler/base/number.h"

namespace reconciler::spark_verify {
namespace {

// CUDA's context, NCCL's communicator and its connections took 0.9 to 1.3 GiB on an H100.
constexpr std::uint64_t kNcclOwn = std::uint64_t{3} << 29;
constexpr std::uint64_t kShareUnified = 4;  // of what may be used at all
constexpr std::uint64_t kShareOwn = 2;

std::uint64_t SubtractDownToZero(std::uint64_t value, std::uint64_t kept) {
  return value > kept ? value - kept : 0;
}

// Of a line like "MemAvailable:   115000000 kB" with this name; nullopt: another line, or no
// number.
std::optional<std::uint64_t> ParseBytes(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const auto kib = ConsumeNumber<std::uint64_t>(line);
  return kib ? std::optional(*kib << 10) : std::nullopt;
}

}  // namespace

HostMemory ParseMemory(const std::string& meminfo) {
  HostMemory memory;
  std::uint64_t swap_total = 0;
  std::uint64_t swap_free = 0;
  for (std::string_view rest = meminfo; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    memory.available = ParseBytes(line, "MemAvailable:").value_or(memory.available);
    swap_total = ParseBytes(line, "SwapTotal:").value_or(swap_total);
    swap_free = ParseBytes(line, "SwapFree:").value_or(swap_free);
  }
  memory.swap_used = SubtractDownToZero(swap_total, swap_free);
  return memory;
}

std::uint64_t ComputeMaxBytes(const NcclHello& hello, const NcclOptions& options) {
  const std::uint64_t fits =
      hello.integrated ? SubtractDownToZero(hello.mem_available, options.reserve) / kShareUnified
                       : SubtractDownToZero(hello.gpu_free, kNcclOwn) / kShareOwn;
  return std::min<std::uint64_t>(fits, options.memory_limit);
}

std::string FindMemoryRefusal(const NcclHello& hello, const NcclOptions& options) {
  const auto largest =
      std::max_element(options.sizes.begin(), options.sizes.end(),
                       [](const NcclSize& a, const NcclSize& b) { return a.bytes < b.bytes; });
  if (largest == options.sizes.end() || largest->bytes <= hello.max_bytes) return "";
  if (!hello.integrated) {
    return fmt::format(
        "wanted room for {} bytes, found {} bytes of the GPU's memory free, enough "
        "for {}",
        largest->bytes, hello.gpu_free, hello.max_bytes);
  }
  return fmt::format(
      "wanted room for {} bytes, found {} bytes of memory available, which with {} "
      "kept free is enough for {}",
      largest->bytes, hello.mem_available, options.reserve, hello.max_bytes);
}

}  // namespace reconciler::spark_verify
