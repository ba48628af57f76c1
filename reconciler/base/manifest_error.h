#pragma once

#include <string>

#include "reconciler/base/error.h"

namespace reconciler {

// An error at a place in the manifest.
Error MakeManifestError(SourceMark where, std::string message, std::string hint = {});

}  // namespace reconciler
