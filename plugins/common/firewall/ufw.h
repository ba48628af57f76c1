#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/ipv4.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// What UFW does is read from its files, of IPv4: whether it is on comes from facts/rdma.
std::vector<Read> ListUfwReads();

enum class UfwVerdict {
  kAllows,          // by a rule, or because nothing is denied by default, or ufw is off or absent
  kDropsByDefault,  // no rule allows it
  kDropsByRule,     // a rule denies it, or a part of the senders
};

struct UfwAnswer {
  UfwVerdict verdict = UfwVerdict::kAllows;
  std::string rule = {};  // that denies it, as ufw's file has it
};

// Whether what `from` sends to any TCP port of the node's address `to` comes in over `interface`;
// nullopt: that address is not known. Rules for single ports say nothing of it. Unknown where a
// file could not be read.
Observed<UfwAnswer> JudgeUfw(const NodeFacts& facts, const Ipv4Prefix& from,
                             std::optional<Ipv4Address> to, const std::string& interface);

}  // namespace reconciler::plugins
