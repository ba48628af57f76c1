#pragma once

#include <string>

#include "reconciler/base/error.h"

namespace reconciler {

// An error at a place in the manifest. `code`: of the catalogue, whose file says what it means.
Error MakeManifestError(std::string code, SourceMark where, std::string message,
                        std::string hint = {});

}  // namespace reconciler
