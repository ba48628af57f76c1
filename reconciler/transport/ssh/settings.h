#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// What ssh's configuration files set for one address, as it is written there: a path may begin with
// "~/" and hold tokens. Empty and 0: not set.
struct SshSettings {
  std::string host = {};  // HostName
  int port = 0;
  std::string user = {};
  std::string host_key_alias = {};
  std::vector<std::string> identities = {};   // IdentityFile lines, in order
  std::vector<std::string> known_hosts = {};  // "none" is no file
  std::vector<std::string> global_known_hosts = {};
  std::string identity_agent = {};  // a socket, "none", "SSH_AUTH_SOCK", or a variable as "$NAME"
  std::string proxy_command = {};   // also what ProxyJump means
  std::map<std::string, std::string> algorithms = {};  // by keyword: "ciphers", "macs", …
};

// How OpenSSH's client reads a configuration from its standard input, more than once.
inline constexpr std::string_view kConfigOnInput = "/proc/self/fd/0";

// The command that prints what OpenSSH's client would use for the node. `own_home`: it takes the
// user's configuration where it always does; else from its input.
std::vector<std::string> BuildClientArgv(const NodeSpec& node, bool own_home);

// Reads what that command printed. It prints all options: those that are as in `defaults`, which
// was printed without any file, are not set.
SshSettings ParseSshSettings(std::string_view printed, std::string_view defaults);

// Why that command refused its configuration, on one line. `config`: the file that it read from its
// input.
std::string FormatClientError(std::string_view said, const std::string& config);

// A configuration of the user's with the files that its Include lines name below `home`, where it
// names them by "~/" or without a folder: the client would look below the account's home.
std::string ResolveIncludes(std::string_view config, const std::string& home);

// Whether a configuration file has a keyword whose values libssh's parser does not return.
bool HasUnreportedKeyword(std::string_view config);

}  // namespace reconciler
