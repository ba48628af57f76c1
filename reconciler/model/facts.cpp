#include "reconciler/model/facts.h"

namespace reconciler {
namespace {

template <class T>
Observed<T> Lookup(const std::map<std::string, Observed<T>>& map, const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return Unknown{"not asked for"};
  return found->second;
}

}  // namespace

Observed<FileState> FileOf(const NodeFacts& facts, const std::string& path) {
  return Lookup(facts.files, path);
}

Observed<std::string> ValueOf(const NodeFacts& facts, const std::string& key) {
  return Lookup(facts.values, key);
}

}  // namespace reconciler
