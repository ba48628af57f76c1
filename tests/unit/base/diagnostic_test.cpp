#include "reconciler/base/diagnostic.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(Diagnostic, SaysHowBadItIsWhereItHoldsItsCodeTheManifestsLineAndTheNextStep) {
  const Diagnostic warning{.severity = Severity::kWarns,
                           .code = "sysctl-overridden-at-boot",
                           .message = "the next boot sets a to 1 and not to 2",
                           .next_step = "remove a from /etc/b",
                           .where = {"dir/cluster.yaml", {18, 3}},
                           .nodes = {"spark-1", "spark-2"}};
  EXPECT_EQ(FormatDiagnostic(warning),
            "warning: spark-1, spark-2: the next boot sets a to 1 and not to 2 "
            "[sysctl-overridden-at-boot]  cluster.yaml:18\n"
            "  next step: remove a from /etc/b\n");
}

TEST(Diagnostic, WithTheColumnItsPlaceIsThatOfAnError) {
  Diagnostic note{.code = "p-c", .message = "m", .where = {"dir/cluster.yaml", {18, 3}}};
  EXPECT_EQ(FormatDiagnostic(note, PlaceForm::kColumn), "note: m [p-c]  dir/cluster.yaml:18:3\n");
  note.where.position.column = 0;
  EXPECT_EQ(FormatDiagnostic(note, PlaceForm::kColumn), "note: m [p-c]  cluster.yaml:18\n");
  note.where.position.line = 0;
  EXPECT_EQ(FormatDiagnostic(note, PlaceForm::kColumn), "note: m [p-c]\n");
  note.where = {"a\nb", {1, 1}};
  EXPECT_EQ(FormatDiagnostic(note, PlaceForm::kColumn), "note: m [p-c]  a\\x0ab:1:1\n");
}

TEST(Diagnostic, WordReportsWhatItBlocks) {
  Diagnostic one{.severity = Severity::kBlocks, .code = "p-c", .message = "m"};
  EXPECT_EQ(FormatDiagnostic(one), "error: m [p-c]\n");
  one.change = "file//etc/x";
  EXPECT_EQ(FormatDiagnostic(one), "blocked: m [p-c]\n");
  EXPECT_EQ(FormatDiagnostic({.code = "p-c", .message = "m"}), "note: m [p-c]\n");
}

TEST(Diagnostic, TextFromANodeCannotReachTheTerminalRaw) {
  EXPECT_EQ(FormatDiagnostic({.code = "p-c", .message = "a\033[2J", .next_step = "b\nc"}),
            "note: a\\x1b[2J [p-c]\n  next step: b\\x0ac\n");
}

}  // namespace
}  // namespace reconciler
