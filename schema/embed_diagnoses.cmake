# Writes OUTPUT: the functions about diagnoses of schema/embedded.h, over the files below FOLDER.
file(GLOB files ${FOLDER}/*/*.yaml)
foreach(file IN LISTS files)
  get_filename_component(code ${file} NAME_WE)
  if(DEFINED file_of_${code})
    message(FATAL_ERROR "wanted one file for ${code}, found ${file_of_${code}} and ${file}")
  endif()
  set(file_of_${code} ${file})
  list(APPEND codes ${code})
endforeach()
list(SORT codes)

set(text [[#include "schema/embedded.h"

namespace reconciler {
namespace {

struct Diagnosis {
  std::string_view code;
  std::string_view text;
  std::string_view overrides;
};

constexpr Diagnosis kDiagnoses[] = {
]])
foreach(code IN LISTS codes)
  file(READ ${file_of_${code}} content)
  set(overrides "")
  if(content MATCHES "\noverrides: ([a-z]+)\n")
    set(overrides ${CMAKE_MATCH_1})
  endif()
  string(APPEND text "    {\"${code}\", R\"embedded(${content})embedded\", \"${overrides}\"},\n")
endforeach()
string(APPEND text [[
};

}  // namespace

std::string_view FindEmbeddedDiagnosis(std::string_view code) {
  for (const Diagnosis& one : kDiagnoses) {
    if (one.code == code) return one.text;
  }
  return {};
}

std::string_view FindEmbeddedOverride(std::string_view code) {
  for (const Diagnosis& one : kDiagnoses) {
    if (one.code == code) return one.overrides;
  }
  return {};
}

std::vector<std::string_view> ListEmbeddedDiagnoses() {
  std::vector<std::string_view> codes;
  for (const Diagnosis& one : kDiagnoses) codes.push_back(one.code);
  return codes;
}

}  // namespace reconciler
]])
file(WRITE ${OUTPUT} "${text}")
