#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"

namespace reconciler {

// What one code means: a file of schema/diagnosis/, whose schema describes each member.
struct CatalogueEntry {
  std::string code = {};
  std::vector<std::string> reported_by = {};
  std::vector<std::string> severity = {};
  std::string symptom = {};
  std::string detected = {};
  std::string cause = {};
  std::string next_step = {};
  std::string impact = {};
  std::string overrides = {};
  std::vector<std::string> sources = {};
  std::string since = {};
  std::vector<std::string> related = {};
};

// All codes that the program can report, sorted.
std::vector<std::string> ListCodes();

// Precondition: `code` is one of ListCodes().
CatalogueEntry GetCatalogueEntry(std::string_view code);

}  // namespace reconciler
