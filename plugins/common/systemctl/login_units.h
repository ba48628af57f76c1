#pragma once

#include <string_view>

namespace reconciler::plugins {

// What a login goes through: a file, a start or a stop of such a unit can cut it off.
bool CarriesLogin(std::string_view unit);

}  // namespace reconciler::plugins
