#include "plugins/nccl/leftovers/adopted_lines.h"

#include <gmock/gmock.h>

#include "reconciler/base/digest.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

// Lines about NCCL in files of others, which the manifest's `adopt` names.
namespace reconciler::plugins::nccl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kProfileScript = "/etc/profile.d/cluster.sh";
constexpr const char* kText =
    "# mine\nexport NCCL_IB_HCA=mlx5_0\n  NCCL_NET_GDR_LEVEL=\"5\"\nexport EDITOR='vi -e'\n";

struct AdoptedLinesCase : NcclScenario {
  explicit AdoptedLinesCase(const std::string& text = kText, const char* path = kProfileScript)
      : path_(path), text_(text) {
    AddFile(path, text);
    std::vector<NcclSetting> found;
    std::vector<NcclSetting> others;
    int number = 0;
    for (const std::string& line : SplitLines(text)) {
      ++number;
      for (NcclSetting& one : ParseLine(path, number, line)) found.push_back(std::move(one));
      for (NcclSetting& one : ParseOtherLine(path, number, line)) others.push_back(std::move(one));
    }
    facts.nccl.settings = std::move(found);
    facts.nccl.others = std::move(others);
  }

  AdoptedLinesCase& Adopt(const std::string& text, bool managed = true) {
    const Value entry = test::Map(
        {{"lines", test::Text(path_)},
         {"match", test::List({test::Text("NCCL_IB_HCA"), test::Text("NCCL_NET_GDR_LEVEL"),
                               test::Text("UCX_NET_DEVICES")})},
         {"nodes", test::Map({{"spark-1", test::Text(ComputeSha256Hex(text).substr(0, 12))}})}});
    std::vector<std::pair<std::string, Value>> settings = {{"adopt", test::List({entry})}};
    if (managed) settings.emplace_back("nccl", test::Map({}));
    cluster.settings = test::Map(std::move(settings));
    return *this;
  }
  AdoptedLinesCase& Adopt() { return Adopt(text_); }

  Resource Lines() {
    for (const Resource& one : Wanted()) {
      if (one.name == path_) return one;
    }
    return {.name = "none"};
  }

  std::string Detail() {
    const auto change = Diff(Lines(), "nccl");
    if (!change) return "holds";
    return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
  }

  std::vector<std::string> Offers() {
    all.nodes[facts.node] = facts;
    std::vector<std::string> lines;
    for (const AdoptableFile& file : Get().adoptable(cluster, fabric, all)) {
      lines.push_back(file.node + " " + file.entry + " " + file.digest.substr(0, kShownDigits));
    }
    return lines;
  }

  // The next step of each warning, where what `adopt` could name was collected.
  std::vector<std::string> NextSteps() {
    all.nodes[facts.node] = facts;
    const AdoptOffers offers(cluster, Get().adoptable(cluster, fabric, all));
    std::vector<std::string> steps;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all, false, &offers})) {
      if (one.severity == Severity::kWarns) steps.push_back(one.next_step);
    }
    return steps;
  }

 private:
  std::string path_;
  std::string text_;
};

TEST(NcclAdoptLines, TheLinesOfTheVariablesAreRemovedAndTheRestOfTheFileStays) {
  AdoptedLinesCase one;
  const auto change = Diff(one.Adopt().Lines(), "nccl");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kAdopt);
  EXPECT_EQ(change->detail, "without 2 lines about NCCL: NCCL_IB_HCA, NCCL_NET_GDR_LEVEL");
  EXPECT_EQ(change->diff, "");
  EXPECT_EQ(change->owner, OtherOwner{.name = kProfileScript});
  FileState rest = *Known(FindFile(one.facts, kProfileScript));
  rest.content = "# mine\nexport EDITOR='vi -e'\n";
  EXPECT_THAT(change->actions, ElementsAre(Action(WriteFile{kProfileScript, rest})));
}

TEST(NcclAdoptLines, TheWarningsAboutTheLinesAreSettled) {
  AdoptedLinesCase one;
  EXPECT_THAT(one.Adopt().Lines().settles,
              ElementsAre("/etc/profile.d/cluster.sh:2 NCCL_IB_HCA=mlx5_0",
                          "/etc/profile.d/cluster.sh:3 NCCL_NET_GDR_LEVEL=5"));
}

// Otherwise the variables would have no value at all.
TEST(NcclAdoptLines, TheLinesStayWhereOurFilesAreBlocked) {
  AdoptedLinesCase one;
  EXPECT_THAT(one.Adopt().Lines().needs,
              ElementsAre("spark-1/file//etc/profile.d/60-spark-reconcile-nccl.sh",
                          "spark-1/file//etc/spark-reconcile/nccl.env"));
}

TEST(NcclAdoptLines, AFileWithoutSuchLinesHoldsWhateverItSays) {
  AdoptedLinesCase one("echo hello\n");
  EXPECT_EQ(one.Adopt("another text").Detail(), "holds");
  one.facts.files[kProfileScript] = Absent{};
  EXPECT_EQ(one.Detail(), "holds");
}

TEST(NcclAdoptLines, AFileThatWasChangedIsNotAdopted) {
  const std::string now = ComputeSha256Hex(kText).substr(0, 12);
  EXPECT_EQ(AdoptedLinesCase().Adopt("another text").Detail(),
            "blocked: is not adopted: its SHA-256 begins with " + now + ", and the manifest has " +
                ComputeSha256Hex("another text").substr(0, 12) +
                ": read what it says now; to adopt that, write " + now + " into the manifest");
}

// Its other lines may not mean the same without the removed ones.
TEST(NcclAdoptLines, AScriptThatIsMoreThanAssignmentsIsNotAdopted) {
  const auto judge = [](const std::string& text, const char* path = kProfileScript) {
    return AdoptedLinesCase(text, path).Adopt().Detail();
  };
  const std::string by_hand = ": change the file by hand, and remove the entry from adopt";
  const std::string is_no_assignment =
      " is no plain assignment, and may depend on what is removed" + by_hand;
  EXPECT_EQ(judge("if true; then\n  export NCCL_IB_HCA=a\nfi\n"),
            "blocked: is not adopted: line 1" + is_no_assignment);
  EXPECT_EQ(judge("NCCL_IB_HCA=a\nexport NCCL_IB_HCA\n"),
            "blocked: is not adopted: line 2" + is_no_assignment);
  EXPECT_EQ(judge("NCCL_IB_HCA=a\nPATH=$PATH:/opt/bin\n"),
            "blocked: is not adopted: line 2" + is_no_assignment);
  EXPECT_EQ(judge("NCCL_IB_HCA=a\nEDITOR=\\\nvi\n"),
            "blocked: is not adopted: line 2 goes on in the next one" + by_hand);
  EXPECT_EQ(judge("NCCL_IB_HCA=a\nPATH=$PATH:/opt/bin\n", "/etc/environment.d/9-nccl.conf"),
            "without 1 line about NCCL: NCCL_IB_HCA");
}

// A line that stays would win as before, and the plan would say nothing of it.
TEST(NcclAdoptLines, AFileWhoseOtherLinesSetTheVariableTooIsNotAdopted) {
  const std::string text = "NCCL_IB_HCA=mlx5_0\nNCCL_IB_HCA=mlx5_1 # mine\n";
  AdoptedLinesCase one(text, "/etc/environment");
  EXPECT_THAT(one.Offers(), IsEmpty());
  EXPECT_EQ(one.Adopt().Detail(),
            "blocked: is not adopted: line 2 sets NCCL_IB_HCA, and is no plain assignment: change "
            "the file by hand, and remove the entry from adopt");
}

// environment.d has values of several lines, and one of these may look like an assignment.
TEST(NcclAdoptLines, AnEnvironmentFileWithAQuoteThatIsOpenAtALinesEndIsNotAdopted) {
  const auto judge = [](const std::string& text) {
    return AdoptedLinesCase(text, "/etc/environment.d/9-nccl.conf").Adopt().Detail();
  };
  const std::string is_open =
      "has a quote that may end in another one: change the file by hand, and remove the entry "
      "from adopt";
  EXPECT_EQ(judge("MOTD=\"a\nNCCL_IB_HCA=b\nc\"\n"), "blocked: is not adopted: line 1 " + is_open);
  EXPECT_EQ(judge("MOTD='a\nNCCL_IB_HCA=b\nc'\n"), "blocked: is not adopted: line 1 " + is_open);
  EXPECT_EQ(judge("# it's mine\nMOTD=\"a b\"\nNCCL_IB_HCA=b\n"),
            "without 1 line about NCCL: NCCL_IB_HCA");
}

TEST(NcclAdoptLines, OneEntryIsOfferedForAllLinesThatShouldNotBeThere) {
  AdoptedLinesCase one;
  const std::string digest = ComputeSha256Hex(kText).substr(0, 12);
  EXPECT_THAT(one.Offers(), ElementsAre("spark-1 lines: /etc/profile.d/cluster.sh, match: "
                                        "[NCCL_IB_HCA, NCCL_NET_GDR_LEVEL] " +
                                        digest));
  const std::string step =
      "add {lines: /etc/profile.d/cluster.sh, match: [NCCL_IB_HCA, "
      "NCCL_NET_GDR_LEVEL], nodes: {spark-1: \"" +
      digest + "\"}} to adopt, or remove it there";
  EXPECT_THAT(one.NextSteps(), ElementsAre(step, step));
}

// A guide for another machine sets the variables of all libraries in one file.
TEST(NcclAdoptLines, LinesOfOtherLibrariesAreTakenOverLikeThoseOfNccl) {
  const std::string text = "export UCX_NET_DEVICES=enp1s0f0np0\n";
  AdoptedLinesCase one(text);
  const std::string entry = "lines: /etc/profile.d/cluster.sh, match: [UCX_NET_DEVICES]";
  const std::string digest = ComputeSha256Hex(text).substr(0, 12);
  EXPECT_THAT(one.Offers(), ElementsAre("spark-1 " + entry + " " + digest));
  EXPECT_THAT(one.NextSteps(), ElementsAre("add {" + entry + ", nodes: {spark-1: \"" + digest +
                                           "\"}} to adopt, or remove it there"));
  EXPECT_EQ(one.Adopt().Detail(), "without 1 line about NCCL: UCX_NET_DEVICES");
  EXPECT_THAT(one.Lines().settles,
              ElementsAre("/etc/profile.d/cluster.sh:1 UCX_NET_DEVICES=enp1s0f0np0"));
  AdoptedLinesCase twice("UCX_NET_DEVICES=all\nUCX_NET_DEVICES=all # mine\n", "/etc/environment");
  EXPECT_EQ(twice.Adopt().Detail(),
            "blocked: is not adopted: line 2 sets UCX_NET_DEVICES, and is no plain assignment: "
            "change the file by hand, and remove the entry from adopt");
  EXPECT_THAT(AdoptedLinesCase("export UCX_NET_DEVICES=mlx5_9:1\n").NextSteps(),
              ElementsAre(testing::EndsWith(" to adopt, or correct it there, or remove it")));
}

TEST(NcclAdoptLines, WhatCannotBeAdoptedIsToBeRemovedByHand) {
  AdoptedLinesCase script("if true; then\n  export NCCL_IB_HCA=mlx5_0\nfi\n");
  EXPECT_THAT(script.Offers(), IsEmpty());
  EXPECT_THAT(script.NextSteps(), ElementsAre("remove it there"));
  AdoptedLinesCase home(kText, "/root/.bashrc");
  EXPECT_THAT(home.Offers(), IsEmpty());
  EXPECT_THAT(home.NextSteps(), ElementsAre("remove it there", "remove it there"));
}

TEST(NcclAdoptLines, OnlyFilesOfTheWholeNodeAreTakenOver) {
  for (const char* path : {"/etc/nccl.conf", "/etc/environment", "/etc/environment.d/9-nccl.conf",
                           "/etc/profile.d/nccl.sh"}) {
    EXPECT_TRUE(CanHaveLinesAdopted(path)) << path;
  }
  for (const char* path :
       {"/etc/profile", "/etc/bash.bashrc", "/home/nvidia/.nccl.conf", "/etc/profile.d/nccl.csh",
        "/etc/profile.d/../nccl.sh", "/etc/profile.d/60-spark-reconcile-nccl.sh"}) {
    EXPECT_FALSE(CanHaveLinesAdopted(path)) << path;
  }
}

TEST(NcclAdoptLines, AnEntryForANodeWithoutManagedVariablesIsRefused) {
  AdoptedLinesCase one;
  EXPECT_THAT(one.Adopt().Check(), IsEmpty());
  const Errors errors = one.Adopt(kText, false).Check();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_EQ(errors[0].code, "nccl-adopt-unmanaged");
  EXPECT_EQ(errors[0].message,
            "adopt: /etc/profile.d/cluster.sh: wanted nccl in the manifest, whose variables these "
            "lines are about, found none for spark-1");
  EXPECT_EQ(errors[0].hint, "write `nccl: {}`, or remove the entry");
}

}  // namespace
}  // namespace reconciler::plugins::nccl
