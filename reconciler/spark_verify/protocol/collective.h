#pragma once

#include <cstddef>
#include <string_view>

namespace reconciler::spark_verify {

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSendRecv };
enum class DataType { kFloat, kBfloat16 };

inline constexpr Collective kCollectives[] = {Collective::kAllReduce, Collective::kAllGather,
                                              Collective::kReduceScatter, Collective::kAllToAll,
                                              Collective::kSendRecv};

std::string_view ToString(Collective collective);  // all_reduce, …, alltoall, sendrecv
std::string_view ToString(DataType type);          // float, bfloat16
std::size_t GetElementSize(DataType type);

// NCCL's own: bus bandwidth = algorithm bandwidth × this.
double ComputeBusFactor(Collective collective, int ranks);

}  // namespace reconciler::spark_verify
