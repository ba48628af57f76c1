#include "reconciler/cli/environment.h"

#include "plugins/registry.h"

namespace reconciler::cli {

Result<Environment> CollectEnvironment(const PluginInput& input) {
  Environment all;
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.environment == nullptr) continue;
    auto wanted = plugin.environment(input);
    if (!wanted) return Fail(AddContext(wanted.error(), input.node.name));
    all.insert(all.end(), wanted->begin(), wanted->end());
  }
  return all;
}

}  // namespace reconciler::cli
