#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconciler/base/text.h"
#include "reconciler/manifest/load.h"
#include "tests/support/manifest_text.h"

namespace reconciler {
namespace {

// A manifest after a few slips: pieces of YAML punctuation put over or between its bytes.
std::string Broken() {
  test::ManifestText manifest;
  manifest.access = "access: {user: nvidia, port: 2222}\n";
  manifest.rest =
      "sysctl: {net.core.rmem_max: 1}\nmemlock: 64\nssh: {mesh: true}\n"
      "units:\n  - {name: a.service, drop_ins: {1.conf: \"x\"}, nodes: [spark-1]}\n";
  std::string text = manifest.Yaml();
  const auto pieces = rc::gen::elementOf(std::vector<std::string>{
      "[",  "]",   "{",   "}",  ":", ": ", "- ",    "\n", "\t", "\"",   "'", "&a ",
      "*a", "!x ", "|\n", "? ", "#", "%",  "---\n", "1",  "~",  "\x80", "é", std::string(1, '\0'),
      ",",  "\\",  "x"});
  const int slips = *rc::gen::inRange(1, 5);
  for (int i = 0; i < slips; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text.replace(at, *rc::gen::inRange<std::size_t>(0, 3), *pieces);
  }
  return text;
}

RC_GTEST_PROP(LoadClusterSpec, BrokenTextGivesErrorsWithPlacesInOrderAndNeverACrash, ()) {
  const std::string text = Broken();
  const auto spec = LoadClusterSpec(text, "cluster.yaml");
  if (spec) return;
  RC_ASSERT(!spec.error().empty());
  const int lines = static_cast<int>(SplitLines(text).size());
  int last = 0;
  for (const Error& error : spec.error()) {
    RC_ASSERT(error.where.has_value());
    const int line = error.where->position.line;
    RC_ASSERT(line >= 1);
    RC_ASSERT(line <= lines + 1);
    RC_ASSERT(line >= last);
    RC_ASSERT(error.message == MakePrintable(error.message));
    last = line;
  }
}

}  // namespace
}  // namespace reconciler
