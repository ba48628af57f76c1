#include "reconciler/base/json/document.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace reconciler {

nlohmann::ordered_json AddHead(nlohmann::ordered_json document, const DocumentHead& head) {
  nlohmann::ordered_json whole = {
      {"format", document.at("format")}, {"program", head.program}, {"time", head.time}};
  for (auto& [key, value] : document.items()) whole[key] = std::move(value);
  return whole;
}

}  // namespace reconciler
