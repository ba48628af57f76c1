#pragma once

#include "reconciler/base/result.h"
#include "reconciler/transport/ssh/handles.h"
#include "reconciler/transport/ssh/settings.h"

namespace reconciler {

std::string GetSessionOption(ssh_session session, ssh_options_e option);
void SetSessionOption(ssh_session session, ssh_options_e option, const std::string& value);

// User and port of the manifest. false: the user is not one that libssh takes.
bool SetAccess(ssh_session session, const Access& access);

// What is set before any file is read.
void PrepareSession(ssh_session session);

Error MakeUnsupportedError(const NodeSpec& node, const std::string& what);

// What libssh's own parser reads, into `session` too: for machines without OpenSSH's client. It
// compares `Host` patterns with the HostName that it read last, reads IdentityFile lines in
// ~/.ssh/config alone, RevokedHostKeys in no included file but those of ListSystemConfigs, and
// refuses what it does not know of `Match`.
Result<SshSettings> ReadLibsshSettings(ssh_session session, const NodeSpec& node);

}  // namespace reconciler
