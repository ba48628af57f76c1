#pragma once

#include <string>

#include "reconciler/apply/history.h"

namespace reconciler {

// The part of a generation's document that is known before anything is planned: the manifest, which
// is `text` and was read from `file`, the repository that the file lies in, and who applies it now.
// Never fails: an apply does not wait for what git does.
GenerationInfo MakeGenerationInfo(const ClusterSpec& cluster, const std::string& text,
                                  const std::string& file);

}  // namespace reconciler
