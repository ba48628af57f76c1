#include "reconciler/planning/diff.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

Resource Text(std::string desired, Observed<ResourceState> observed) {
  return {.kind = "sysctl",
          .name = "net.core.rmem_max",
          .node = "spark-1",
          .desired = ResourceState(std::move(desired)),
          .observed = std::move(observed),
          .apply = {RunCommand{{"sysctl", "-w", "x"}}}};
}

Resource File(Observed<ResourceState> observed) {
  return {.kind = "file",
          .name = "/etc/x",
          .node = "spark-1",
          .desired = ResourceState(FileState{"a\nb\n", 0600}),
          .observed = std::move(observed)};
}

TEST(Diff, AgreementIsNoChange) {
  EXPECT_EQ(Diff(Text("1", ResourceState("1")), "sysctl"), std::nullopt);
  EXPECT_EQ(Diff(File(ResourceState(FileState{"a\nb\n", 0600})), "p"), std::nullopt);
  Resource gone = File(Absent{});
  gone.desired = Absent{};
  EXPECT_EQ(Diff(gone, "p"), std::nullopt);
}

TEST(Diff, WhatIsAdoptedIsShownSoAndForeignTextIsNot) {
  Resource theirs = File(ResourceState(FileState{"theirs\n", 0600}));
  theirs.desired = Absent{};
  theirs.adopts = true;
  const auto removal = Diff(theirs, "p");
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->change, ChangeKind::kAdopt);
  EXPECT_EQ(removal->diff, "");
  EXPECT_EQ(removal->actions, std::vector<Action>{RemoveFile{"/etc/x"}});
  EXPECT_EQ(removal->before, (FileState{"theirs\n", 0600}));
  Resource ours = File(Absent{});
  ours.adopts = true;
  EXPECT_EQ(Diff(ours, "p")->change, ChangeKind::kAdopt);
  theirs.blocked.why = "why";
  EXPECT_EQ(Diff(theirs, "p")->change, ChangeKind::kBlocked);
}

TEST(Diff, UnknownObservationBlocksInsteadOfChanging) {
  const auto change = Diff(Text("1", Unknown{"systemctl gave no answer in 5 s"}), "memlock");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_EQ(change->detail, "unknown: systemctl gave no answer in 5 s");
  EXPECT_TRUE(change->actions.empty());
  EXPECT_TRUE(change->triggers.empty());
}

TEST(Diff, UnsupportedBlocksToo) {
  const auto change = Diff(Text("1", Unsupported{"integrated GPU"}), "gpudirect");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_EQ(change->detail, "not supported: integrated GPU");
}

TEST(Diff, UnknownBlocksAlsoWhatIsKnownOnlyAfterApply) {
  Resource resource = File(Unknown{"permission denied"});
  resource.desired = KnownAfterApply{"public key of spark-2"};
  EXPECT_EQ(Diff(resource, "ssh")->change, ChangeKind::kBlocked);
}

TEST(Diff, ADifferenceThatMustNotBeChangedIsBlockedWithItsReason) {
  Resource resource = Text("2", ResourceState("1"));
  resource.blocked = {"sysctl-no-such-key", "this kernel has no such key"};
  const auto change = Diff(resource, "sysctl");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_EQ(change->code, "sysctl-no-such-key");
  EXPECT_EQ(change->detail, "this kernel has no such key");
  resource.observed = ResourceState("2");
  EXPECT_EQ(Diff(resource, "sysctl"), std::nullopt);
}

TEST(Diff, WhatAnotherOwnerConfiguresTooDoesNotHoldWhateverItsStateIs) {
  Resource link = Text("1", ResourceState("1"));
  link.contested = true;
  link.blocked.why = "cx7-a connects it automatically";
  const auto change = Diff(link, "netplan");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_EQ(change->detail, link.blocked.why);
  Resource gone = Text("1", Absent{});
  gone.desired = Absent{};
  gone.contested = true;
  EXPECT_EQ(Diff(gone, "netplan"), std::nullopt);
}

TEST(Diff, AValueShowsBeforeAndAfter) {
  const auto change = Diff(Text("2", ResourceState("1")), "sysctl");
  EXPECT_EQ(change->change, ChangeKind::kModify);
  EXPECT_EQ(change->detail, "1 → 2");
  EXPECT_EQ(change->actions.size(), 1u);
  EXPECT_EQ(Diff(Text("2", Absent{}), "sysctl")->detail, "2");
}

TEST(Diff, AFileIsWrittenWholeAndItsDifferenceIsSaidInWords) {
  const auto added = Diff(File(Absent{}), "p");
  EXPECT_EQ(added->change, ChangeKind::kAdd);
  EXPECT_EQ(added->detail, "(0600, 2 lines)");
  EXPECT_EQ(added->actions, (std::vector<Action>{WriteFile{"/etc/x", {"a\nb\n", 0600}}}));

  const auto changed = Diff(File(ResourceState(FileState{"a\n", 0644, "nvidia", "root"})), "p");
  EXPECT_EQ(changed->detail, "(mode 0644 → 0600, owner nvidia:root → root:root, +1 -0 lines)");
  EXPECT_EQ(changed->diff,
            "@@ -1 +1 @@\n-(1 line that is not ours)\n+(2 lines that are not ours)\n");
}

TEST(Diff, TheTimeOfAFileIsNoDifferenceAndNewTextHasNone) {
  Resource resource = File(ResourceState(FileState{"a\n"}));
  FileState before = std::get<FileState>(std::get<ResourceState>(resource.desired));
  before.mtime = "2026-11-21 09:15:02.123456789 +0000";
  resource.observed = ResourceState(before);
  EXPECT_FALSE(Diff(resource, "p").has_value());
  FileState after = before;
  after.content = "b\n";
  resource.desired = ResourceState(after);
  const auto change = Diff(resource, "p");
  EXPECT_EQ(std::get<WriteFile>(change->actions.at(0)).state.mtime, "");
  EXPECT_EQ(change->before->mtime, before.mtime);
}

TEST(Diff, AFileThatMustGoIsRemoved) {
  Resource resource = File(ResourceState(FileState{"a\n"}));
  resource.desired = Absent{};
  const auto change = Diff(resource, "p");
  EXPECT_EQ(change->change, ChangeKind::kRemove);
  EXPECT_EQ(change->actions, (std::vector<Action>{RemoveFile{"/etc/x"}}));
  EXPECT_EQ(change->diff, "@@ -1 +0,0 @@\n-(1 line that is not ours)\n");
}

TEST(Diff, WhatIsKnownAfterApplyHoldsOtherwiseWhereItIsAsItShallBeWithoutThat) {
  const ResourceState off("off");
  Resource resource{.observed = ResourceState("off")};
  const auto holds = [&](decltype(KnownAfterApply::otherwise) otherwise) {
    resource.desired = KnownAfterApply{"it", std::move(otherwise)};
    return HoldsOtherwise(resource);
  };
  EXPECT_TRUE(holds(off));
  EXPECT_FALSE(holds(ResourceState("on")));
  EXPECT_FALSE(holds(Absent{}));
  EXPECT_FALSE(holds(std::nullopt)) << "not known";
  EXPECT_TRUE(holds(KnownAfterApply::LeftAsIs{}));
  resource.observed = Absent{};
  EXPECT_TRUE(holds(Absent{}));
  EXPECT_TRUE(holds(KnownAfterApply::LeftAsIs{}));
  EXPECT_FALSE(holds(off));
  resource.observed = Unknown{"systemctl failed"};
  EXPECT_FALSE(holds(off));
  resource.desired = ResourceState("off");
  EXPECT_FALSE(HoldsOtherwise(resource));
}

TEST(Diff, WhatIsKnownAfterApplyIsPlannedWithoutActions) {
  Resource resource = File(Absent{});
  resource.desired = KnownAfterApply{"public key of spark-2"};
  const auto change = Diff(resource, "ssh");
  EXPECT_TRUE(change->deferred);
  EXPECT_EQ(change->change, ChangeKind::kAdd);
  EXPECT_EQ(change->detail, "known after apply: public key of spark-2");
  EXPECT_TRUE(change->actions.empty());
}

TEST(ComputeFingerprint, MovesWithEveryPartOfWhatWasObserved) {
  const Observed<ResourceState> file = ResourceState(FileState{"a", 0644, "root", "root"});
  for (const Observed<ResourceState>& other :
       {Observed<ResourceState>(ResourceState(FileState{"b", 0644, "root", "root"})),
        Observed<ResourceState>(ResourceState(FileState{"a", 0600, "root", "root"})),
        Observed<ResourceState>(ResourceState(FileState{"a", 0644, "x", "root"})),
        Observed<ResourceState>(ResourceState("a")), Observed<ResourceState>(Absent{})}) {
    EXPECT_NE(ComputeFingerprint(file), ComputeFingerprint(other));
  }
}

Resource Link(std::string observed) {
  Resource link = Text("up", ResourceState(std::move(observed)));
  link.apply.clear();
  link.triggers = {RunCommand{.argv = {"reload"}, .id = "reload"}};
  link.prune_commands = PruneCommands{.after = {RunCommand{{"restore"}}}};
  return link;
}

TEST(MakeHeld, IsWhatItsTriggersAloneBringAbout) {
  const auto held = MakeHeld(Link("up"), "netplan");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->plugin, "netplan");
  EXPECT_EQ(held->triggers, Link("up").triggers);
  EXPECT_EQ(held->prune_commands.after, std::vector<RunCommand>{RunCommand{{"restore"}}});
  EXPECT_EQ(MakeHeld(Link("down"), "netplan"), std::nullopt);  // that is a change
  EXPECT_EQ(MakeHeld(Text("1", ResourceState("1")), "sysctl"), std::nullopt);
  EXPECT_EQ(MakeHeld(File(ResourceState(FileState{"a\nb\n", 0600})), "p"), std::nullopt);
  Resource blocked = Link("up");
  blocked.blocked.why = "another file configures it as well";
  EXPECT_EQ(MakeHeld(blocked, "netplan"), std::nullopt);
}

}  // namespace
}  // namespace reconciler
