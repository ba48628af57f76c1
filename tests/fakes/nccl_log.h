#pragma once

#include <string>

namespace fakes {

// What the fake says it is: FAKE_NCCL_VERSION, a code as NCCL's own (22809).
int NcclVersion();
std::string FormatNcclVersionNumber();

// As NCCL prints them: NCCL_DEBUG, NCCL_DEBUG_SUBSYS and NCCL_DEBUG_FILE decide whether and where.
void Info(const std::string& subsystem, const std::string& text);
void Warn(const std::string& place, const std::string& text);  // place: "bootstrap.cc:98"
void VersionLine();
std::string LastWarning();

}  // namespace fakes
