#include "reconciler/catalogue/catalogue.h"

#include <stdexcept>

#include "reconciler/yaml/yaml_document.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

std::vector<std::string> ReadList(const Value& entry, std::string_view key) {
  std::vector<std::string> texts;
  const Value* list = entry.Find(key);
  if (list == nullptr) return texts;
  for (const Value& one : list->List()) texts.push_back(one.ScalarText());
  return texts;
}

}  // namespace

std::vector<std::string> ListCodes() {
  const std::vector<std::string_view> codes = ListEmbeddedDiagnoses();
  return {codes.begin(), codes.end()};
}

CatalogueEntry GetCatalogueEntry(std::string_view code) {
  const auto entry = ParseYaml(FindEmbeddedDiagnosis(code), std::string(code) + ".yaml");
  // The tests parse every entry of this build.
  if (!entry || !entry->IsMap()) throw std::logic_error("no entry of the catalogue");
  return {.code = entry->GetText("code"),
          .reported_by = ReadList(*entry, "reported_by"),
          .severity = ReadList(*entry, "severity"),
          .symptom = entry->GetText("symptom"),
          .detected = entry->GetText("detected"),
          .cause = entry->GetText("cause"),
          .next_step = entry->GetText("next_step"),
          .impact = entry->GetText("impact"),
          .overrides = entry->GetText("overrides"),
          .sources = ReadList(*entry, "sources"),
          .since = entry->GetText("since"),
          .related = ReadList(*entry, "related")};
}

}  // namespace reconciler
