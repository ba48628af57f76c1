#pragma once

#include <string>

#include "reconciler/model/environment.h"

namespace reconciler {

// What a container needs for RDMA and GPUs besides the variables, for launchers other than docker
// (FormatDockerFlags). Flags stand one per line, without quotes, for `podman run $(…) IMAGE` and
// `enroot start $(…) IMAGE`.
std::string FormatPodmanFlags(const Environment& environment);
std::string FormatEnrootFlags(const Environment& environment);

// A file that `docker compose -f compose.yaml -f FILE` lays over one's own, for a service `app`.
std::string FormatCompose(const Environment& environment);

}  // namespace reconciler
