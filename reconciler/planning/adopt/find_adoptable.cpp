#include "reconciler/planning/adopt/find_adoptable.h"

#include <utility>

namespace reconciler {

std::vector<AdoptableFile> FindAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                         const ClusterFacts& facts,
                                         const std::vector<Plugin>& plugins) {
  std::vector<AdoptableFile> found;
  for (const Plugin& plugin : plugins) {
    if (plugin.adoptable == nullptr) continue;
    for (AdoptableFile& file : plugin.adoptable(cluster, fabric, facts)) {
      found.push_back(std::move(file));
    }
  }
  return found;
}

}  // namespace reconciler
