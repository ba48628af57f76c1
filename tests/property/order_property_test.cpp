#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "reconciler/planning/order.h"

namespace reconciler {
namespace {

const std::vector<std::string> kNames = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

// Plugins in any order; each waits only for names that come later in kNames, so without a cycle.
std::vector<Plugin> AnyPlugins(std::size_t least) {
  const auto count = *rc::gen::inRange<std::size_t>(least, kNames.size() + 1);
  std::vector<Plugin> plugins;
  for (std::size_t i = 0; i < count; ++i) {
    Plugin plugin{.name = kNames[i]};
    for (std::size_t k = i + 1; k < count; ++k) {
      if (*rc::gen::inRange(0, 3) == 0) plugin.after.push_back(kNames[k]);
    }
    const auto at = *rc::gen::inRange<std::size_t>(0, plugins.size() + 1);
    plugins.insert(plugins.begin() + static_cast<std::ptrdiff_t>(at), plugin);
  }
  return plugins;
}

RC_GTEST_PROP(OrderPlugins, EachPluginStandsOnceAndInTheEarliestStageAfterWhatItWaitsFor, ()) {
  const std::vector<Plugin> plugins = AnyPlugins(0);
  const auto stages = OrderPlugins(plugins);
  RC_ASSERT(stages.has_value());
  std::map<std::string_view, std::size_t> stage_of;
  for (std::size_t stage = 0; stage < stages->size(); ++stage) {
    RC_ASSERT(!(*stages)[stage].empty());
    RC_ASSERT(std::is_sorted((*stages)[stage].begin(), (*stages)[stage].end()));
    for (const std::size_t index : (*stages)[stage]) {
      RC_ASSERT(stage_of.emplace(plugins[index].name, stage).second);
    }
  }
  RC_ASSERT(stage_of.size() == plugins.size());
  for (const Plugin& plugin : plugins) {
    std::size_t earliest = 0;
    for (const std::string_view earlier : plugin.after) {
      earliest = std::max(earliest, stage_of.at(earlier) + 1);
    }
    RC_ASSERT(stage_of.at(plugin.name) == earliest);
  }
}

RC_GTEST_PROP(OrderPlugins, AnyCycleIsRefused, ()) {
  std::vector<Plugin> plugins = AnyPlugins(2);
  // Close a ring through some of them, in the order in which they stand.
  const auto members = *rc::gen::inRange<std::size_t>(2, plugins.size() + 1);
  for (std::size_t i = 0; i < members; ++i) {
    plugins[i].after.push_back(plugins[(i + 1) % members].name);
  }
  const auto stages = OrderPlugins(plugins);
  RC_ASSERT(!stages.has_value());
  RC_ASSERT(stages.error().message.starts_with("plugins wait for each other: "));
}

}  // namespace
}  // namespace reconciler
