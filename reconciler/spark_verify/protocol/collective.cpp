#include "reconciler/spark_verify/protocol/collective.h"

namespace reconciler::spark_verify {

std::string_view ToString(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllToAll:
      return "alltoall";
    case Collective::kSendRecv:
      return "sendrecv";
  }
  return {};
}

std::string_view ToString(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return "float";
    case DataType::kBfloat16:
      return "bfloat16";
  }
  return {};
}

std::size_t GetElementSize(DataType type) { return type == DataType::kFloat ? 4 : 2; }

double ComputeBusFactor(Collective collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * others;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return others;
    case Collective::kSendRecv:
      return 1;
  }
  return 0;
}

}  // namespace reconciler::spark_verify
