#include "reconciler/apply/guard/end_notes.h"

#include <gtest/gtest.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Lines = std::vector<std::string>;

const std::string kKept =
    "/etc/hosts was changed by another program: its text is kept in /j/0/foreign";

Lines Read(const std::string& said) {
  EndNotes notes;
  notes.Read(said);
  return notes.List();
}

TEST(EndNotes, ARevertThatRestoredAllHasNone) {
  EXPECT_EQ(Read(""), Lines());
  EXPECT_EQ(Read("exit 1: as  timeout -k 2 30 networkctl reload\nreverted\n"), Lines());
}

TEST(EndNotes, WhatIsKeptElsewhereOrLostIsEachNamedOnce) {
  const Lines lost = {"/sys/class/net/enp1s0f1np1 is gone: there is nothing to restore",
                      "kernel settings that did not stay: /proc/sys/net/ipv4/conf/lo/arp_ignore:1",
                      "lost since the apply began: address dev lo 203.0.113.7/32",
                      "cannot restore /home/ada/.ssh/config"};
  Lines wanted = {kKept};
  wanted.insert(wanted.end(), lost.begin(), lost.end());
  const std::string said = Join(lost, "\n") + "\n" + kKept + "\nreverted\n";
  EXPECT_EQ(Read(said), wanted);
  EXPECT_EQ(Read(said + said), wanted);
}

TEST(EndNotes, WhatATryCouldNotRestoreTheNextOneMay) {
  EndNotes notes;
  notes.Read(kKept + "\ncannot set back: a\ncannot restore /b\nrevert-failed\n");
  notes.Read("cannot restore /b\nreverted\n");
  EXPECT_EQ(notes.List(), (Lines{kKept, "cannot restore /b"}));
}

// The next one may restore files below homes alone.
TEST(EndNotes, WhatIsGoneStaysSoWhereTheNextTryDoesNotLookForIt) {
  const std::string gone = "/sys/class/net/enp1s0f1np1 is gone: there is nothing to restore";
  EXPECT_EQ(Read(gone + "\ncannot restore /home/ada/x\nrevert-failed\nreverted\n"), Lines{gone});
}

TEST(EndNotes, WhatANodeSaysIsPrintableAndBounded) {
  EXPECT_EQ(Read("cannot restore /\x1b[31m\n"), Lines{"cannot restore /\\x1b[31m"});
  const Lines cut = Read("cannot restore /" + std::string(100000, 'a') + "\n");
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(CountColumns(cut[0]), 400u);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "cannot restore /" + std::to_string(i) + "\n";
  EXPECT_EQ(Read(many), (Lines{"cannot restore /0", "cannot restore /1", "cannot restore /2",
                               "cannot restore /3", "cannot restore /4",
                               "more is in revert.log, in the apply's journal"}));
}

TEST(ExplainFailedEnd, NamesWhatCouldNotBeReverted) {
  EXPECT_EQ(ExplainFailedEnd("exit 1: as  timeout -k 2 30 ip link\ncannot restore /etc/a\n"
                             "cannot restore /etc/a\ncannot set back: as  sysctl -w x=1\n"
                             "revert-failed\n"),
            "cannot restore /etc/a; cannot set back: as  sysctl -w x=1");
}

TEST(ExplainFailedEnd, WhatIsGoneIsNoReason) {
  EXPECT_EQ(ExplainFailedEnd("/sys/class/net/x is gone: there is nothing to restore\n"
                             "cannot remove spark-reconcile-guard-0-boot.service\nrevert-failed\n"),
            "cannot remove spark-reconcile-guard-0-boot.service");
}

TEST(ExplainFailedEnd, OtherwiseItIsTheLastLines) {
  EXPECT_EQ(ExplainFailedEnd(""), "");
  EXPECT_EQ(ExplainFailedEnd("revert-failed\n"), "revert-failed");
  EXPECT_EQ(ExplainFailedEnd("this plan was committed: nothing is reverted\n"),
            "this plan was committed: nothing is reverted");
  EXPECT_EQ(ExplainFailedEnd("1\n2\n3\n\n4\x1b\n5\nrevert-failed\n"), "2; 3; 4\\x1b; 5");
}

}  // namespace
}  // namespace reconciler
