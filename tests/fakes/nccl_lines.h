#pragma once

#include <string>
#include <vector>

#include "tests/fakes/nccl_net.h"

namespace fakes {

// What NCCL prints while it begins, and when it opens its channels.
void LogInit(const Interface& interface, int rank, int ranks);
void LogInitDone(int rank, int ranks);
void LogChannels(int rank, int ranks);
// Whether RDMA would be used: FAKE_NCCL_HCAS, as NCCL_IB_HCA and NCCL_NET leave them.
std::vector<std::string> UsedHcas();

}  // namespace fakes
