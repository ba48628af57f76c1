#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// 16 random hex digits: "$2" of a shell, by which its processes are found again.
std::string MakeShellToken();

// What sshd hands to the login shell, whichever that is: one line. LC_ALL=C, so that sudo's
// refusals come in the language that FindSudoRefusal knows.
std::string BuildRemoteShellCommand(const Access& access, std::string_view token);

// The same for this machine; `is_root`: sudo would change nothing and may not be installed.
std::vector<std::string> BuildLocalShellArgv(const Access& access, bool is_root,
                                             std::string_view token);

// What is written to either of them before any script: the password, where there is one.
std::string BuildShellInput(const Access& access, bool is_root);

// A script that kills every process in the sessions of the shells that carry `token`. Sessions and
// not process groups: `timeout` and sudo's own terminal put what they run into groups of their own.
std::string BuildEndShellScript(std::string_view token);

}  // namespace reconciler
