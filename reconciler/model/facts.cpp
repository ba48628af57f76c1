#include "reconciler/model/facts.h"

namespace reconciler {
namespace {

template <class T>
Observed<T> FindOrUnknown(const std::map<std::string, Observed<T>>& map, const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return Unknown{"not asked for"};
  return found->second;
}

}  // namespace

Observed<FileState> FindFile(const NodeFacts& facts, const std::string& path) {
  return FindOrUnknown(facts.files, path);
}

Observed<std::string> FindValue(const NodeFacts& facts, const std::string& key) {
  return FindOrUnknown(facts.values, key);
}

}  // namespace reconciler
