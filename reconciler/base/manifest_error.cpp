#include "reconciler/base/manifest_error.h"

#include <utility>

namespace reconciler {

Error MakeManifestError(std::string code, SourceMark where, std::string message, std::string hint) {
  return {.kind = ErrorKind::kManifest,
          .message = std::move(message),
          .where = std::move(where),
          .hint = std::move(hint),
          .code = std::move(code)};
}

}  // namespace reconciler
