#include "reconciler/spec/load.h"

#include <algorithm>
#include <utility>

#include "reconciler/spec/build_spec.h"
#include "reconciler/spec/cross_check.h"
#include "reconciler/spec/problems.h"
#include "reconciler/spec/schema_check.h"
#include "reconciler/spec/source_text.h"
#include "reconciler/spec/yaml_document.h"

namespace reconciler {
namespace {

bool StandsBefore(const Error& a, const Error& b) {
  const Position& left = a.where->position;
  const Position& right = b.where->position;
  return std::pair(left.line, left.column) < std::pair(right.line, right.column);
}

}  // namespace

tl::expected<ClusterSpec, Errors> LoadClusterSpec(std::string_view yaml, const std::string& file) {
  Result<Value> document = ParseYaml(yaml, file);
  if (!document) return tl::unexpected<Errors>({std::move(document).error()});
  Problems problems(file);
  CheckSchema(*document, ClusterSchema(), problems);
  CrossCheck(*document, problems);
  if (!problems.Empty()) {
    Errors errors = problems.Take();
    std::stable_sort(errors.begin(), errors.end(), StandsBefore);
    const SourceText source(yaml);
    for (Error& error : errors) source.Attach(error);
    return tl::unexpected<Errors>(std::move(errors));
  }
  FillDefaults(*document, ClusterSchema());
  return BuildClusterSpec(*std::move(document), file);
}

}  // namespace reconciler
