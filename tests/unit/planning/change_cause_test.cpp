#include "reconciler/planning/change_cause.h"

#include <gtest/gtest.h>

#include "reconciler/base/digest.h"

namespace reconciler {
namespace {

// One value and one file of spark-1, applied in generation 3 by the manifest "then".
class CauseTest : public testing::Test {
 protected:
  CauseTest() {
    cluster_.name = "lab";
    cluster_.digest = "then";
    facts_.ledger = Ledger{.cluster = "lab",
                           .generation = 4,
                           .manifest_digest = "then",
                           .entries = {{.kind = "sysctl", .name = "a.b", .generation = 3},
                                       {.kind = "file", .name = "/x", .generation = 3}}};
    Value().applied = "2";
    File().digest = ComputeSha256Hex("2");
  }

  Ledger& GetLedger() { return std::get<Ledger>(facts_.ledger); }
  LedgerEntry& Value() { return GetLedger().entries[0]; }
  LedgerEntry& File() { return GetLedger().entries[1]; }

  ChangeCause Find(const Resource& resource) const {
    return FindChangeCause(resource, facts_, cluster_);
  }

  // Of a value that is `observed`; "": not there.
  CauseKind FindOfValue(const std::string& observed, const std::string& desired) const {
    Resource resource{.kind = "sysctl", .name = "a.b", .node = "spark-1"};
    if (!desired.empty()) resource.desired = ResourceState(desired);
    if (!observed.empty()) resource.observed = ResourceState(observed);
    return Find(resource).kind;
  }

  // Of a file with that text; "": no file.
  CauseKind FindOfFile(const std::string& observed, const std::string& desired) const {
    Resource resource{.kind = "file", .name = "/x", .node = "spark-1"};
    if (!desired.empty()) resource.desired = ResourceState(FileState{desired});
    if (!observed.empty()) resource.observed = ResourceState(FileState{observed});
    return Find(resource).kind;
  }

  ClusterSpec cluster_;
  NodeFacts facts_;
};

TEST_F(CauseTest, WithoutALedgerOfThisClusterItIsTheFirstApply) {
  GetLedger().cluster = "attic";
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kFirstApply);
  facts_.ledger = Absent{};
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kFirstApply);
  facts_.ledger = Unknown{"no"};
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kUnknown);
}

TEST_F(CauseTest, WhatTheLedgerDoesNotHaveIsNew) {
  GetLedger().entries.clear();
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kNew);
  EXPECT_EQ(FindOfFile("", "2"), CauseKind::kNew);
}

TEST_F(CauseTest, WhatIsNotAsItWasAppliedHasDrifted) {
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kDrifted);
  EXPECT_EQ(FindOfValue("", "2"), CauseKind::kDrifted);
  EXPECT_EQ(FindOfFile("1", "2"), CauseKind::kDrifted);
  EXPECT_EQ(FindOfFile("", "2"), CauseKind::kDrifted);
  // The content is as it was, so that the mode or the owner is not.
  EXPECT_EQ(FindOfFile("2", "2"), CauseKind::kDrifted);
  cluster_.digest = "now";
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kDrifted);
  EXPECT_EQ(FindOfFile("1", "2"), CauseKind::kDrifted);
}

TEST_F(CauseTest, WhatIsAsItWasAppliedWasChangedInTheManifest) {
  cluster_.digest = "now";
  EXPECT_EQ(FindOfValue("2", "3"), CauseKind::kManifestChanged);
  EXPECT_EQ(FindOfValue("2", ""), CauseKind::kManifestChanged);
  EXPECT_EQ(FindOfFile("2", "3"), CauseKind::kManifestChanged);
  EXPECT_EQ(FindOfFile("2", ""), CauseKind::kManifestChanged);
}

TEST_F(CauseTest, TheSameManifestMayLeadToAnotherStateOfWhatNoOneTouched) {
  EXPECT_EQ(FindOfValue("2", "3"), CauseKind::kDesiredChanged);
  EXPECT_EQ(FindOfFile("2", "3"), CauseKind::kDesiredChanged);
}

TEST_F(CauseTest, BothCanBe) {
  cluster_.digest = "now";
  EXPECT_EQ(FindOfValue("1", "3"), CauseKind::kDriftedAndChanged);
  EXPECT_EQ(FindOfFile("1", "3"), CauseKind::kDriftedAndChanged);
  cluster_.digest = "then";
  EXPECT_EQ(FindOfValue("1", "3"), CauseKind::kDrifted);
}

TEST_F(CauseTest, WhatWasMadeToBeAbsentAndIsThereAgainHasDrifted) {
  cluster_.digest = "now";
  Value().applied = "";
  File().digest = "";
  File().original = {WriteFile{.path = "/x"}};
  EXPECT_EQ(FindOfValue("1", ""), CauseKind::kDrifted);
  EXPECT_EQ(FindOfFile("1", ""), CauseKind::kDrifted);
}

TEST_F(CauseTest, WhereTheValueWasNotKeptTheManifestDecides) {
  Value().applied.reset();
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kDrifted);
  cluster_.digest = "now";
  EXPECT_EQ(FindOfValue("1", "2"), CauseKind::kUnknown);
}

TEST_F(CauseTest, TheLinesOfOthersInASharedFileAreNoDriftOfOurs) {
  File().shared = true;
  EXPECT_EQ(FindOfFile("1", "3"), CauseKind::kDrifted);
  cluster_.digest = "now";
  EXPECT_EQ(FindOfFile("1", "3"), CauseKind::kUnknown);
  EXPECT_EQ(FindOfFile("2", "3"), CauseKind::kManifestChanged);
}

TEST_F(CauseTest, OfAStateThatIsNotKnownNothingIsSaid) {
  Resource resource{.kind = "sysctl",
                    .name = "a.b",
                    .node = "spark-1",
                    .desired = ResourceState("2"),
                    .observed = Unknown{"no"}};
  EXPECT_EQ(Find(resource).kind, CauseKind::kUnknown);
  resource.desired = KnownAfterApply{"it"};
  resource.observed = ResourceState("2");
  EXPECT_EQ(Find(resource).kind, CauseKind::kUnknown);
  resource.observed = ResourceState("1");
  EXPECT_EQ(Find(resource), (ChangeCause{CauseKind::kDrifted, 3, "2"}));
}

}  // namespace
}  // namespace reconciler
