#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::nccl {

inline constexpr std::string_view kShellFile = "/etc/profile.d/60-spark-reconcile-nccl.sh";
inline constexpr std::string_view kServiceFile = "/etc/spark-reconcile/nccl.env";

// Finds the lines about NCCL in nccl.conf, profiles, environment files and units, and those by
// which UCX, Open MPI and Gloo choose interfaces. `users`: those of ListLoginUsers.
RunProbe MakeSettingsProbe(const std::vector<std::string>& users);
// Fills NcclFacts::settings and ::others. Only the variables are kept: the rest of a unit's line
// may be a secret.
void StoreSettings(const CommandReply& reply, NodeFacts& facts);

// What one line of such a file sets of NCCL, and of the other libraries.
std::vector<NcclSetting> ParseLine(const std::string& path, int line, std::string_view text);
std::vector<NcclSetting> ParseOtherLine(const std::string& path, int line, std::string_view text);

// Whether it is a variable by which UCX, Open MPI, Gloo or TensorPipe choose interfaces or HCAs.
bool IsOfOtherLibrary(std::string_view name);

// "/etc/environment:3 NCCL_DEBUG=INFO": the line as the subject of what the plan says of it.
std::string FormatSubject(const NcclSetting& setting);

// What whoever wrote a line of nccl.conf probably meant: as a shell would read it.
NcclSetting ReadAsMeant(const NcclSetting& setting);

}  // namespace reconciler::plugins::nccl
