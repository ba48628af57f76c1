#include "reconciler/manifest/load.h"

#include <algorithm>
#include <utility>

#include "reconciler/manifest/build_spec.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/yaml/manifest_errors.h"
#include "reconciler/yaml/source_text.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler {
namespace {

bool IsBefore(const Error& a, const Error& b) {
  const Position& left = a.where->position;
  const Position& right = b.where->position;
  return std::pair(left.line, left.column) < std::pair(right.line, right.column);
}

}  // namespace

void SortByPosition(Errors& errors) { std::stable_sort(errors.begin(), errors.end(), IsBefore); }

tl::expected<ClusterSpec, Errors> LoadClusterSpec(std::string_view yaml, const std::string& file) {
  Result<Value> document = ParseYaml(yaml, file);
  if (!document) return tl::unexpected<Errors>({std::move(document).error()});
  ManifestErrors found(file);
  if (document->IsNull()) {
    found.Add("manifest-not-yaml", document->position, "the file is empty",
              "spark-reconcile init writes one to begin with");
    return tl::unexpected<Errors>(found.TakeErrors());
  }
  CheckSchema(*document, GetClusterSchema(), found);
  CrossCheck(*document, found);
  if (!found.Empty()) {
    Errors errors = found.TakeErrors();
    SortByPosition(errors);
    const SourceText source(yaml);
    for (Error& error : errors) source.Attach(error);
    return tl::unexpected<Errors>(std::move(errors));
  }
  FillDefaults(*document, GetClusterSchema());
  return BuildClusterSpec(*std::move(document), file);
}

}  // namespace reconciler
