#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// One variable that programs on a node should find in their environment.
struct EnvVariable {
  std::string name;
  std::string value;
  std::string why;  // one line
  bool operator==(const EnvVariable&) const = default;
};

using Environment = std::vector<EnvVariable>;

// Whether systemd, docker and an unquoted shell word all take the value for what it is. Every value
// of an Environment is plain.
bool IsPlainValue(std::string_view value);

// For shells: "export NAME='value'", each with its reason above it.
std::string FormatShell(const Environment& environment);
// For EnvironmentFile= and for `docker run --env-file`.
std::string FormatEnvironmentFile(const Environment& environment);
// One flag per line, without a blank or a quote in any of them, so that `docker run $(…) IMAGE`
// takes them all: the variables, and what a container needs for RDMA.
std::string FormatDockerFlags(const Environment& environment);

}  // namespace reconciler
