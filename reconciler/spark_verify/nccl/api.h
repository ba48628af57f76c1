#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/nccl/cuda_api.h"
#include "reconciler/spark_verify/protocol/nccl_id.h"

namespace reconciler::spark_verify {

// The part of NCCL's interface that is used here, as nccl.h of 2.14 to 2.30 declares it. Enums are
// integers; ncclUniqueId is a struct of 128 chars that travels by value.
using NcclComm = struct NcclCommOpaque*;
struct NcclId {
  UniqueId bytes = {};
};
static_assert(sizeof(NcclId) == 128);

inline constexpr int kNcclSuccess = 0;
inline constexpr int kNcclInProgress = 7;
inline constexpr int kNcclFloat32 = 7;
inline constexpr int kNcclBfloat16 = 9;
inline constexpr int kNcclSum = 0;
inline constexpr int kNcclMax = 2;

// ncclConfig_t as 2.14 had it. Every NCCL since copies min(size, its own) bytes, requires the
// magic, and takes its defaults for what came after `version` (parseCommConfig in init.cc), so that
// the oldest form is the one that all of them read.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;  // 2.14.0
  int blocking = 0;
  int unset = -2147483647 - 1;  // padding in 2.14; NCCL_CONFIG_UNDEF_INT where it is a field
};
static_assert(sizeof(NcclConfig) == 24);

struct Nccl {
  std::string file = {};  // that the loader really took
  int (*version)(int*) = nullptr;
  int (*unique_id)(NcclId*) = nullptr;
  int (*init_rank)(NcclComm*, int, NcclId, int, NcclConfig*) = nullptr;
  int (*finalize)(NcclComm) = nullptr;
  int (*destroy)(NcclComm) = nullptr;
  int (*abort)(NcclComm) = nullptr;
  int (*async_error)(NcclComm, int*) = nullptr;
  const char* (*last_error)(NcclComm) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, NcclComm, CuStream) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, NcclComm, CuStream) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, NcclComm, CuStream) = nullptr;
  int (*send)(const void*, std::size_t, int, int, NcclComm, CuStream) = nullptr;
  int (*recv)(void*, std::size_t, int, int, NcclComm, CuStream) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
};

// Found no library, or one without a symbol (then `too_old`, and the message names its version).
struct NcclMissing {
  bool too_old = false;
  Error error = {};
};

// path: "" takes what the loader finds.
tl::expected<Nccl, NcclMissing> LoadNccl(const std::string& path);

std::string FormatNcclVersionNumber(int version);  // 22809: 2.28.9; 2708: 2.7.8
std::string_view NameNcclResult(int result);       // ncclRemoteError

}  // namespace reconciler::spark_verify
