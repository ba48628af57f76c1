#pragma once

#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/transport/ssh/handles.h"

namespace reconciler {

// Where a node really is and who logs in there: its `access` laid over ~/.ssh/config, laid over
// /etc/ssh/ssh_config.
struct SshTarget {
  std::string place = {};    // "spark-2 (192.168.1.22)": how errors begin
  std::string address = {};  // as the manifest has it
  std::string host = {};     // what is connected to
  int port = 22;
  std::string user = {};
  std::string explicit_identity = {};  // access.identity; the others are not required to exist
  std::vector<std::string> identities = {};          // IdentityFile lines, in order
  std::vector<std::string> default_identities = {};  // tried last; none when the manifest names one
  std::string host_key_alias = {};                  // its name in known_hosts; empty: host and port
  std::string known_hosts = {};                     // keys are added to this one
  std::vector<std::string> other_known_hosts = {};  // only read
  std::vector<std::string> revoked_host_keys = {};  // a key in one of these files is refused
  std::string agent = {};                           // the socket of ssh-agent; empty: none
  std::string proxy_command = {};  // one shell command, tokens expanded; empty: a direct connection
};

// $HOME, else the home directory of the user's account. libssh and OpenSSH look at the account
// only; a $HOME that says otherwise is what the user meant.
std::string FindHomeDirectory();
std::string FindAccountHome();  // of the account alone

// The user who runs this program.
std::string FindAccountName();

// Reads the configuration, lays it into `session`, and says what came out of it. It may run
// commands of the configuration; see ReadClientSettings.
Result<SshTarget> ConfigureSession(ssh_session session, const NodeSpec& node);

// "~/" and the tokens %d %h %i %k %L %l %n %p %r %u %% of a path or a command.
std::string ExpandSshTokens(const std::string& text, const SshTarget& target);

}  // namespace reconciler
