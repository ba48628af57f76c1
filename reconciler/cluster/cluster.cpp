#include "reconciler/cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/manifest/load_remainder.h"
#include "reconciler/verify/report/section.h"
#include "reconciler/yaml/source_text.h"

namespace reconciler {
namespace {

// A part of the manifest that several nodes have is checked for each of them.
bool IsRepeated(const Errors& errors, const Error& error) {
  return std::any_of(errors.begin(), errors.end(), [&](const Error& one) {
    return one.where == error.where && one.message == error.message;
  });
}

// With the lines of `text` that they point at.
Errors CheckSections(const ClusterSpec& spec, const Fabric& fabric,
                     const std::vector<Plugin>& plugins, const std::string& text) {
  Errors errors;
  for (const Plugin& plugin : plugins) {
    if (plugin.check == nullptr) continue;
    for (Error& error : plugin.check(spec, fabric)) {
      if (!IsRepeated(errors, error)) errors.push_back(std::move(error));
    }
  }
  for (Error& error : CheckVerifySection(spec, fabric)) errors.push_back(std::move(error));
  const SourceText source(text);
  for (Error& error : errors) source.Attach(error);
  SortByPosition(errors);
  return errors;
}

// `errors` of a manifest that was refused, with what plugins and `verify` find in its other parts.
Errors AddOfRemainder(Errors errors, const std::string& text, const std::string& file,
                      const std::vector<Plugin>& plugins) {
  const auto rest = LoadRemainder(text, file);
  if (!rest) return errors;
  const auto fabric = ExpandFabric(*rest);
  if (!fabric) return errors;
  for (Error& error : CheckSections(*rest, *fabric, plugins, text)) {
    if (!IsRepeated(errors, error)) errors.push_back(std::move(error));
  }
  SortByPosition(errors);
  return errors;
}

}  // namespace

tl::expected<Cluster, Errors> BuildCluster(const std::string& text, const std::string& file,
                                           const std::vector<Plugin>& plugins,
                                           const PlanScope& scope) {
  auto spec = LoadClusterSpec(text, file);
  if (!spec) {
    return tl::unexpected(AddOfRemainder(std::move(spec).error(), text, file, plugins));
  }
  auto fabric = ExpandFabric(*spec);
  if (!fabric) return tl::unexpected(std::move(fabric).error());
  if (Errors errors = CheckSections(*spec, *fabric, plugins, text); !errors.empty()) {
    return tl::unexpected(std::move(errors));
  }
  if (const auto known = CheckScope(*spec, plugins, scope); !known) {
    return tl::unexpected(Errors{known.error()});
  }
  return Cluster{std::move(*spec), std::move(*fabric), text};
}

}  // namespace reconciler
