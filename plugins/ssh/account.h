#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::ssh {

inline constexpr std::string_view kKeyFile = "id_ed25519_spark";  // in ~/.ssh
inline constexpr std::string_view kPublicKeyFile = "id_ed25519_spark.pub";

// Facts about the mesh user's account. Mode and owner are text: "0700 nvidia".
inline constexpr std::string_view kGroupKey = "ssh.group";          // the user's primary group
inline constexpr std::string_view kDirectoryKey = "ssh.directory";  // ~/.ssh
inline constexpr std::string_view kPrivateKey = "ssh.private_key";  // never its content

RunProbe MakeAccountProbe(const std::string& user);
void ParseAccount(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::ssh
