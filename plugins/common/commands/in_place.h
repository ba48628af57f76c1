#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// A probe whose script runs in the shell that gathers, and not in a process of its own: a process
// takes a node longer than all that most scripts do. `script` ends with `return`, never with
// `exit`; it leaves the folder as it is, which is /, and sets every variable that it reads. It has
// its own arguments, `set --` included. Gathering knows it by the name of the function. Where it
// has looked a user up, `looked_up` is the name and `entry` the line of the user database.
RunProbe MakeInPlaceProbe(std::string id, std::string_view script,
                          const std::vector<std::string>& arguments = {},
                          int limit_s = RunProbe().time_limit_s);

}  // namespace reconciler::plugins
