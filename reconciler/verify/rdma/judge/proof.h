#pragma once

#include <optional>

#include "reconciler/verify/rdma/judge/causes.h"
#include "reconciler/verify/rdma/judge/counters.h"

namespace reconciler {

// Bytes prove which rail carried the data: what the HCAs counted during a transfer, which is
// RDMA alone and each function's own. Why it is not proven that this rail did; nullopt: it is.
// `fails` of the answer: another HCA did. Otherwise no counter shows it.
struct Unproven {
  bool fails = false;
  std::string measured = {};
  Cause cause = {};
};
std::optional<Unproven> FindUnproven(const Transfer& transfer, const RailWrite& rail,
                                     const CounterScopes& scopes);

// Counters that are there and count no RDMA: which HCA carried the data is not shown, and nothing
// more is wrong.
std::optional<Cause> FindUncounted(const Transfer& transfer, const RailWrite& rail,
                                   const CounterScopes& scopes);

// Something else wrote over the same HCA at the same time, by its counters of bytes.
std::optional<Cause> FindBusy(const Transfer& transfer, const RailWrite& rail,
                              const CounterScopes& scopes);

}  // namespace reconciler
