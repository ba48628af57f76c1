#include "reconciler/model/facts.h"

namespace reconciler {

Observed<FileState> FindFile(const NodeFacts& facts, const std::string& path) {
  return FindOrUnknown(facts.files, path);
}

}  // namespace reconciler
