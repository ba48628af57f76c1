#include "reconciler/planning/plan_compare.h"

#include <gtest/gtest.h>

#include "tests/support/plan_values.h"

namespace reconciler {
namespace {

TEST(FindNotReverted, SeesWhatStaysChangedAndForgivesWhatDeclaresNoRevert) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  EXPECT_TRUE(FindNotReverted(MakePlanWith({Named("/a")}), MakePlanWith({Named("/a")})).empty());
  EXPECT_EQ(FormatErrors(
                FindNotReverted(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({moved}))),
            "spark-1: file /a is not as it was before: 1 → 2\n"
            "spark-1: file /b is not as it was before: it matches the manifest\n");
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({}), MakePlanWith({Named("/new")}))),
            "spark-1: file /new is not as it was before: 1 → 2\n");
  Change key = Named("key");
  key.actions = {RunCommand{{"ssh-keygen"}}};
  EXPECT_TRUE(FindNotReverted(MakePlanWith({key}), MakePlanWith({})).empty());
}

TEST(FindNotReverted, OfANodeThatCannotBeReadNothingElseIsSaid) {
  Plan fresh = MakePlanWith({});
  fresh.nodes = {{.name = "spark-1", .unreachable = "sudo wants a password"},
                 {.name = "spark-2", .unreachable = "off"}};
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({Named("/a"), Named("/b")}), fresh)),
            "spark-1: could not be read, so that nothing is known of its state: sudo wants a "
            "password\n");
}

TEST(FindNotReverted, WhatCannotBeReadIsNotSaidToDiffer) {
  Change unread = Named("/a");
  unread.fingerprint = "unknown";
  Block(unread, "plan-state-unknown", "unknown: permission denied");
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({Named("/a")}), MakePlanWith({unread}))),
            "spark-1: file /a could not be read, so that its state is not known: permission "
            "denied\n");
}

TEST(HasNewProblem, IsSoForABlockedChangeOrAWarningThatWasNotSaidOfThatNode) {
  const auto saying = [](Severity severity, const std::string& subject, const NodeName& node,
                         const std::string& message = "m") {
    Plan plan = MakePlanWith({});
    plan.diagnostics = {{.severity = severity,
                         .code = "p-gid",
                         .message = message,
                         .subject = subject,
                         .nodes = {node}}};
    return plan;
  };
  const Plan before = saying(Severity::kWarns, "a", "spark-1");
  EXPECT_FALSE(HasNewProblem(before, before));
  EXPECT_FALSE(HasNewProblem(before, saying(Severity::kWarns, "a", "spark-1", "other value")));
  EXPECT_FALSE(HasNewProblem(before, saying(Severity::kInforms, "b", "spark-1")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kWarns, "b", "spark-1")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kWarns, "a", "spark-2")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kBlocks, "a", "spark-1")));
  Change blocked = Named("/a");
  Block(blocked, "plan-state-unknown", "unknown: gone");
  EXPECT_TRUE(HasNewProblem(MakePlanWith({Named("/a")}), MakePlanWith({blocked})));
  EXPECT_FALSE(HasNewProblem(MakePlanWith({blocked}), MakePlanWith({blocked})));
}

TEST(FindStale, OtherDriftDoesNotMakeAPlanStale) {
  EXPECT_TRUE(
      FindStale(MakePlanWith({Named("/a")}), MakePlanWith({Named("/a"), Named("/b")})).empty());
}

TEST(FindStale, NamesTheFactThatMoved) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  moved.detail = "3 → 2";
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({moved}))),
            "spark-1: file /a moved since the plan was made: planned '1 → 2', now '3 → 2'\n"
            "  hint: make a new plan and review it\n");
  EXPECT_EQ(FormatErrors(
                FindStale(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({Named("/b")}))),
            "spark-1: file /a moved since the plan was made: planned '1 → 2', now it matches the "
            "manifest\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, DoesNotSetTwoEqualTextsAgainstEachOther) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  EXPECT_EQ(
      FormatErrors(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({moved}))),
      "spark-1: file /a moved since the plan was made: planned '1 → 2', now the same, but from "
      "another state than the one that was reviewed\n"
      "  hint: make a new plan and review it\n");
}

TEST(FindStale, SaysInOneLineThatNothingIsLeft) {
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({}))),
            "nothing is left of this plan: all of it matches the manifest\n"
            "  hint: it was applied already, or the same was done by hand\n");
}

TEST(FindStale, ANodeThatCannotBeReadNowIsSaidOnce) {
  Plan fresh = MakePlanWith({});
  fresh.nodes = {{.name = "spark-1", .unreachable = "no answer within 10 s"}};
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a"), Named("/b")}), fresh)),
            "spark-1: cannot be read now: no answer within 10 s\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, AnApplySinceThenMakesAPlanStaleAlsoWhenAllOfItWasReverted) {
  Plan saved = MakePlanWith({Named("/a")});
  saved.nodes = {{.name = "spark-1", .generation = 3}, {.name = "spark-2", .generation = 3}};
  Plan fresh = saved;
  EXPECT_TRUE(FindStale(saved, fresh).empty());
  fresh.nodes[1].generation = 4;  // the plan changes nothing there
  EXPECT_TRUE(FindStale(saved, fresh).empty());
  fresh.nodes[0].generation = 5;
  EXPECT_EQ(FormatErrors(FindStale(saved, fresh)),
            "spark-1: applied to since the plan was made: generation 3 then, 5 now\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, SeesAnEditedManifest) {
  Plan fresh = MakePlanWith({Named("/a")});
  fresh.spec_digest = "e";
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a")}), fresh)[0].message,
            "cluster.yaml changed since the plan was made");
}

TEST(FindStale, SeesThatOtherStepsAreNeededNow) {
  Change other = Named("/a");
  other.actions = {RemoveFile{"/a"}};
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({other}))[0].message,
            "file /a moved since the plan was made: planned '1 → 2', now other steps are needed");
}

}  // namespace
}  // namespace reconciler
