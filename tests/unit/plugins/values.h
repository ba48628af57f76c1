#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/value.h"

// Manifest sections built by hand, for tests that need no loader.
namespace reconciler::plugins::test {

inline Value Text(std::string text) {
  Value value;
  value.data = std::move(text);
  return value;
}

inline Value Flag(bool flag) {
  Value value;
  value.data = flag;
  return value;
}

inline Value Number(std::int64_t number) {
  Value value;
  value.data = number;
  return value;
}

inline Value List(std::vector<Value> items) {
  Value value;
  value.data = std::move(items);
  return value;
}

inline Value Map(std::vector<std::pair<std::string, Value>> members) {
  std::vector<Member> list;
  for (auto& [key, value] : members) list.push_back({.key = key, .value = std::move(value)});
  Value value;
  value.data = std::move(list);
  return value;
}

inline Value At(int line, Value value) {
  value.position = {.line = line, .column = 5};
  return value;
}

}  // namespace reconciler::plugins::test
