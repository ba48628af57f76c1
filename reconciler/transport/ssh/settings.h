#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

inline constexpr const char* kGlobalConfig = "/etc/ssh/ssh_config";
// What distributions have it include.
inline constexpr const char* kIncludedConfigs = "/etc/ssh/ssh_config.d/*.conf";

// The files that `included` matches, then kGlobalConfig: the order in which they count on Debian
// and Ubuntu, where the Include line is its first.
std::vector<std::string> ListSystemConfigs(const std::string& included = kIncludedConfigs);

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
  std::vector<std::string> revoked_host_keys = {};
  std::string identity_agent = {};  // a socket, "none", "SSH_AUTH_SOCK", or a variable as "$NAME"
  std::string proxy_command = {};   // also what ProxyJump means
  std::map<std::string, std::string> algorithms = {};  // by keyword: "ciphers", "macs", …
};

// The command that prints what OpenSSH's client would use for the node. `own_home`: it takes the
// user's configuration where it always does; else from its input.
std::vector<std::string> BuildClientArgv(const NodeSpec& node, bool own_home);

// What the end of `ssh -F none -G localhost` says of the program `ssh`.
enum class ClientKind {
  kOpenSsh,
  kAnother,  // or one that knows no -G: OpenSSH's before 6.8; or a wrapper that failed on its own
  kFailed,   // it may be OpenSSH's
};
ClientKind JudgeClient(const ScriptReply& ended);

// Reads what BuildClientArgv's command printed. It prints all options: those that are as in
// `defaults`, which was printed without any file, are not set.
SshSettings ParseSshSettings(std::string_view printed, std::string_view defaults);

// Why that command refused its configuration, on one line. `config`: the file that it read from its
// input.
std::string FormatClientError(std::string_view said, const std::string& config);

// A configuration of the user's with the files that its Include lines name below `home`, where it
// names them by "~/" or without a folder: the client would look below the account's home.
std::string ResolveIncludes(std::string_view config, const std::string& home);

// Whether a configuration file of the system's has a keyword of whose values libssh's parser
// returns none, or only the first; or includes a file that ListSystemConfigs may not list.
bool HasUnreportedKeyword(std::string_view config);

}  // namespace reconciler
