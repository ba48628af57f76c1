#pragma once

#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins {

// Every plugin, in the order in which their lines appear where no other order is requested.
const std::vector<Plugin>& GetAll();

}  // namespace reconciler::plugins
