#pragma once

#include <optional>
#include <string_view>

namespace reconciler::plugins::ssh {

// NVIDIA's script for two Sparks makes one key pair, copies its private key to every node, and
// offers it to every host by these lines at the end of ~/.ssh/config:
//   Host *
//     IdentityFile ~/.ssh/id_ed25519_shared
// Returns the number of the second line, from 1; nullopt: no section for all hosts has it.
std::optional<int> FindSharedKeyLine(std::string_view config);

}  // namespace reconciler::plugins::ssh
