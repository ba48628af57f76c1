#include "reconciler/base/error.h"

#include <gtest/gtest.h>

#include "reconciler/base/manifest_error.h"

namespace reconciler {
namespace {

TEST(FormatError, ShowsPlaceContextLineCaretAndHint) {
  const Error error{.kind = ErrorKind::kManifest,
                    .message = "unknown key 'mut' in fabric, did you mean 'mtu'?",
                    .where = SourceMark{"cluster.yaml", {14, 3}},
                    .source_line = "  mut: 9000",
                    .context = {"spark-1", "fabric"},
                    .hint = "see docs/manifest.md"};
  EXPECT_EQ(FormatError(error),
            "cluster.yaml:14:3: spark-1: fabric: unknown key 'mut' in fabric, did you mean 'mtu'?\n"
            "      mut: 9000\n"
            "      ^\n"
            "  hint: see docs/manifest.md\n");
}

TEST(FormatError, LeavesOutWhatHasNothingToSay) {
  EXPECT_EQ(FormatError({.message = "no such node"}), "no such node\n");
  EXPECT_EQ(FormatError({.message = "m", .where = SourceMark{"f", {3, 0}}}), "f:3: m\n");
  EXPECT_EQ(FormatError({.message = "m", .where = SourceMark{"f", {}}}), "f: m\n");
}

TEST(FormatError, KeepsTabsSoThatTheCaretLinesUp) {
  const Error error{.message = "m", .where = SourceMark{"f", {1, 3}}, .source_line = "\ta: b"};
  EXPECT_EQ(FormatError(error), "f:1:3: m\n    \ta: b\n    \t ^\n");
}

TEST(MakeManifestError, IsOfTheManifestAtItsPlace) {
  const Error error =
      MakeManifestError("manifest-x", {"cluster.yaml", {3, 5}}, "wanted 1, found 2", "write 1");
  EXPECT_EQ(error.kind, ErrorKind::kManifest);
  EXPECT_EQ(error.code, "manifest-x");
  EXPECT_EQ(FormatError(error), "cluster.yaml:3:5: wanted 1, found 2\n  hint: write 1\n");
}

TEST(AddContext, PutsTheOuterCircleFirst) {
  const Error error = AddContext(AddContext({.message = "m"}, "inner"), "outer");
  EXPECT_EQ(FormatError(error), "outer: inner: m\n");
}

}  // namespace
}  // namespace reconciler
