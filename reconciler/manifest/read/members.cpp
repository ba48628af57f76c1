#include "reconciler/manifest/read/members.h"

namespace reconciler {

std::string ReadText(const Value& map, std::string_view key, std::string otherwise) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsString() != nullptr ? *value->AsString() : otherwise;
}

int ReadNumber(const Value& map, std::string_view key, int otherwise) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsInteger() != nullptr ? static_cast<int>(*value->AsInteger())
                                                           : otherwise;
}

}  // namespace reconciler
