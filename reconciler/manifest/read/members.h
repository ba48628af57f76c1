#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/value.h"

namespace reconciler {

// The member `key` of a map; `otherwise` where there is none of that type.
std::string ReadText(const Value& map, std::string_view key, std::string otherwise);
int ReadNumber(const Value& map, std::string_view key, int otherwise);

}  // namespace reconciler
