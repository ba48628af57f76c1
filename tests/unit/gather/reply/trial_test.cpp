#include "reconciler/gather/reply/trial.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconciler/base/mark.h"

namespace reconciler {
namespace {

const std::vector<TrialFile> kTried = {{"/etc/netplan/a.yaml", {"/run/netplan/a.yaml"}}};

Change Touching(const NodeName& node, std::vector<Action> actions) {
  return {.kind = "file", .node = node, .actions = std::move(actions)};
}

TEST(ListTrials, EachFileOfAPlanIsListedOncePerNode) {
  const WriteFile write{"/etc/netplan/a.yaml", {"x"}, {"/run/netplan/a.yaml"}};
  Change blocked = Touching("spark-3", {write});
  blocked.change = ChangeKind::kBlocked;
  Plan plan;
  plan.stages = {
      {.changes = {
           Touching("spark-1", {write, RunCommand{{"netplan", "generate"}}}),
           Touching("spark-1", {RemoveFile{"/etc/netplan/a.yaml", {"/run/netplan/a.yaml"}},
                                RemoveFile{"/etc/hosts"}}),
           Touching("spark-2", {RemoveFile{"/etc/sysctl.d/b.conf", {"/run/sysctl.d/b.conf"}}}),
           blocked}}};
  const Trials trials = ListTrials(plan);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials.at("spark-1"), kTried);
  EXPECT_EQ(trials.at("spark-2"),
            (std::vector<TrialFile>{{"/etc/sysctl.d/b.conf", "/run/sysctl.d/b.conf"}}));
}

ProbeReply ReplyWith(Observed<FileState> committed, Observed<FileState> tried) {
  ProbeReply reply;
  reply.files["/etc/netplan/a.yaml"] = std::move(committed);
  reply.files["/run/netplan/a.yaml"] = std::move(tried);
  return reply;
}

TEST(ShowTrial, AFileOnTrialReadsAsIfItWereCommitted) {
  ProbeReply reply = ReplyWith(FileState{"old"}, FileState{"new"});
  ShowTrial(kTried, reply);
  EXPECT_EQ(Known(reply.files.at("/etc/netplan/a.yaml"))->content, "new");
}

TEST(ShowTrial, AnEmptyFileOnTrialReadsAsARemoval) {
  ProbeReply reply = ReplyWith(FileState{"old"}, FileState{""});
  ShowTrial(kTried, reply);
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.files.at("/etc/netplan/a.yaml")));
}

TEST(ShowTrial, WhatIsOnTrialAndCannotBeReadIsNotTakenForTheOldFile) {
  ProbeReply reply = ReplyWith(FileState{"old"}, Unknown{"a symbolic link"});
  ShowTrial(kTried, reply);
  EXPECT_TRUE(std::holds_alternative<Unknown>(reply.files.at("/etc/netplan/a.yaml")));
}

TEST(ShowTrial, AllThatItMustKnowIsRead) {
  const std::vector<Read> reads = ListReads(kTried);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(std::get<ReadFile>(reads[0]).path, "/run/netplan/a.yaml");
}

Observed<FileState> AnyObserved() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Absent{};
    case 1:
      return Unknown{"why"};
    case 2:
      return FileState{""};
    default:
      return FileState{*rc::gen::arbitrary<std::string>()};
  }
}

RC_GTEST_PROP(ShowTrial, WithoutATrialEveryFileReadsAsItIs, ()) {
  ProbeReply reply = ReplyWith(AnyObserved(), Absent{});
  const auto before = reply.files;
  ShowTrial(kTried, reply);
  RC_ASSERT(reply.files == before);
}

RC_GTEST_PROP(ShowTrial, TheTrialsOwnPlaceIsSeenByNoOne, ()) {
  ProbeReply reply = ReplyWith(AnyObserved(), AnyObserved());
  ShowTrial(kTried, reply);
  RC_ASSERT(std::holds_alternative<Absent>(reply.files.at("/run/netplan/a.yaml")));
}

RC_GTEST_PROP(ShowTrial, ShowingItTwiceIsShowingItOnce, ()) {
  ProbeReply reply = ReplyWith(AnyObserved(), AnyObserved());
  ShowTrial(kTried, reply);
  const auto once = reply.files;
  ShowTrial(kTried, reply);
  RC_ASSERT(reply.files == once);
}

TEST(HideTrials, OursBelowRunIsNobodysConfiguration) {
  ClusterSpec cluster;
  cluster.name = "lab";
  const auto owned = [](const char* by) { return FileState{FormatOwnedFile(by, "x\n")}; };
  ProbeReply reply = ReplyWith(owned("lab"), owned("lab"));
  reply.files["/run/netplan/other.yaml"] = owned("other");
  reply.files["/run/netplan/foreign.yaml"] = FileState{"x\n"};
  HideTrials(cluster, reply);
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.files["/run/netplan/a.yaml"]));
  for (const char* path :
       {"/etc/netplan/a.yaml", "/run/netplan/other.yaml", "/run/netplan/foreign.yaml"}) {
    EXPECT_NE(Known(reply.files[path]), nullptr) << path;
  }
}

}  // namespace
}  // namespace reconciler
