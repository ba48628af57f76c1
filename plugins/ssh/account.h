#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::ssh {

inline constexpr std::string_view kKeyFile = "id_ed25519_spark";  // in ~/.ssh
inline constexpr std::string_view kPublicKeyFile = "id_ed25519_spark.pub";

RunProbe MakeAccountProbe(const std::string& user);
void ParseAccount(const ProbeReply& reply, NodeFacts& facts);

// "0700", and "0700 nvidia", which Diff compares.
std::string FormatMode(FileMode mode);
std::string FormatAccess(const FileAccess& access);

}  // namespace reconciler::plugins::ssh
