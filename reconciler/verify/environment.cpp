#include "reconciler/verify/environment.h"

namespace reconciler {

Result<Environment> CollectEnvironment(const PluginInput& input,
                                       const std::vector<Plugin>& plugins) {
  Environment all;
  for (const Plugin& plugin : plugins) {
    if (plugin.environment == nullptr) continue;
    auto wanted = plugin.environment(input);
    if (!wanted) return Fail(AddContext(wanted.error(), input.node.name));
    all.insert(all.end(), wanted->begin(), wanted->end());
  }
  return all;
}

}  // namespace reconciler
