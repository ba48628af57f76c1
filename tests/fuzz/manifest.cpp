// The text of a manifest, up to the fabric and its drawings.
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/cluster/cluster.h"
#include "reconciler/cluster/validation.h"
#include "reconciler/model/json/json.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {

void Run(std::string_view input) {
  const auto cluster = BuildCluster(std::string(input), "cluster.yaml", plugins::GetAll());
  if (!cluster) {
    Must(!cluster.error().empty(), "a manifest that is refused has an error");
    for (const Error& error : cluster.error()) CheckError(error);
  }
  Must(IsPlainText(Dump(ToJson("cluster.yaml", cluster))), "a validation is plain text");
}

}  // namespace reconciler::fuzz
