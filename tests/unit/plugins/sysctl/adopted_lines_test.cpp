#include "plugins/sysctl/adopted_lines.h"

#include <gmock/gmock.h>

#include "plugins/sysctl/sysctl.h"
#include "reconciler/base/digest.h"
#include "tests/unit/plugins/pair_scenario.h"

// Lines of drop-ins that win over ours, and that the manifest's `adopt` names.
namespace reconciler::plugins::sysctl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kPath = "/etc/sysctl.d/90-tuning.conf";
const std::string kText = "# mine\nnet.core.rmem_max=1\nvm.swappiness=1\n-net/core/rmem_max = 2";

struct LinesCase : test::PairScenario {
  LinesCase() {
    fabric.ports.clear();
    facts.sysctl.keys["net.core.rmem_max"] = "268435456";
    AddFile(kPath, kText);
    SetManifest({});
  }

  void SetManifest(std::vector<Value> entries) {
    cluster.settings =
        test::Map({{"sysctl", test::Map({{"net.core.rmem_max", test::Number(268435456)}})},
                   {"adopt", test::List(std::move(entries))}});
  }

  void Adopt(const std::string& text = kText, const std::string& key = "net/core/rmem_max") {
    SetManifest({test::Map(
        {{"lines", test::Text(kPath)},
         {"match", test::List({test::Text(key)})},
         {"nodes", test::Map({{"spark-1", test::Text(ComputeSha256Hex(text).substr(0, 12))}})}})});
  }

  std::vector<Diagnostic> Diagnose() const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    const AdoptOffers offers(cluster, Get().adoptable(cluster, fabric, all));
    return Get().diagnose({cluster, fabric, cluster.nodes[0], facts, all, false, &offers});
  }

  std::vector<AdoptableFile> Offers() const {
    const ClusterFacts all{.nodes = {{facts.node, facts}}};
    return Get().adoptable(cluster, fabric, all);
  }
};

TEST(SysctlAdoptLines, TheLinesOfTheKeysAreRemovedAndTheRestOfTheFileStays) {
  LinesCase one;
  one.Adopt();
  const Resource resource = one.Find(Get(), kPath);
  const auto change = Diff(resource, "sysctl");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kAdopt);
  EXPECT_EQ(change->detail,
            "without 2 lines that win over /etc/sysctl.d/60-spark-reconcile.conf: "
            "net.core.rmem_max");
  EXPECT_EQ(change->diff, "");
  EXPECT_EQ(change->owner, OtherOwner{.name = kPath});
  FileState rest = *Known(FindFile(one.facts, kPath));
  rest.content = "# mine\nvm.swappiness=1\n";
  EXPECT_THAT(change->actions, ElementsAre(Action(WriteFile{kPath, rest})));
  EXPECT_THAT(resource.settles, ElementsAre("net.core.rmem_max"));
  EXPECT_THAT(resource.needs, ElementsAre("spark-1/file//etc/sysctl.d/60-spark-reconcile.conf"));
}

TEST(SysctlAdoptLines, AFileWithoutSuchLinesHoldsWhateverItSays) {
  LinesCase one;
  one.Adopt();
  one.AddFile(kPath, "vm.swappiness=2\n");
  EXPECT_EQ(one.Detail(Get(), kPath), "holds");
  one.facts.files[kPath] = Absent{};
  EXPECT_EQ(one.Detail(Get(), kPath), "holds");
}

TEST(SysctlAdoptLines, AFileThatWasChangedIsNotAdopted) {
  LinesCase one;
  one.Adopt("another text");
  EXPECT_EQ(one.Detail(Get(), kPath),
            "blocked: is not adopted: its SHA-256 begins with " +
                ComputeSha256Hex(kText).substr(0, 12) + ", and the manifest has " +
                ComputeSha256Hex("another text").substr(0, 12) +
                ": read what it says now; to adopt that, write " +
                ComputeSha256Hex(kText).substr(0, 12) + " into the manifest");
}

TEST(SysctlAdoptLines, AKeyThatNothingOfOursSetsIsNotAdopted) {
  LinesCase one;
  one.Adopt(kText, "vm.swappiness");
  EXPECT_EQ(one.Detail(Get(), kPath),
            "blocked: is not adopted: our file does not set vm.swappiness: remove it from match");
}

// Otherwise no file would set the key.
TEST(SysctlAdoptLines, AKeyThatTheManifestDoesNotSetIsRefused) {
  LinesCase one;
  const auto check = [&](const std::string& key) {
    one.Adopt(kText, key);
    std::vector<std::string> messages;
    for (const Error& error : Get().check(one.cluster, one.fabric)) {
      messages.push_back(error.message);
    }
    return messages;
  };
  EXPECT_THAT(check("net.core.rmem_max"), IsEmpty());
  EXPECT_THAT(check("vm.swappiness"),
              ElementsAre("adopt: wanted keys in match that the manifest sets, found "
                          "'vm.swappiness', which it does not set on spark-1"));
  EXPECT_THAT(
      check("no..such"),
      ElementsAre("adopt: wanted keys like 'net.core.rmem_max' in match, found 'no..such'"));
}

TEST(SysctlAdoptLines, AWarningAboutAFileThatIsReadEvenLaterStays) {
  LinesCase one;
  one.Adopt();
  EXPECT_THAT(one.Find(Get(), kPath).settles, ElementsAre("net.core.rmem_max"));
  one.AddFile("/etc/sysctl.d/95-later.conf", "net.core.rmem_max = 3\n");
  EXPECT_THAT(one.Find(Get(), kPath).settles, IsEmpty());
}

TEST(SysctlAdoptLines, AFileThatIsReadBeforeOursIsNotAdopted) {
  LinesCase one;
  constexpr const char* kEarly = "/etc/sysctl.d/10-early.conf";
  one.AddFile(kEarly, kText);
  one.SetManifest({test::Map(
      {{"lines", test::Text(kEarly)},
       {"match", test::List({test::Text("net.core.rmem_max")})},
       {"nodes", test::Map({{"spark-1", test::Text(ComputeSha256Hex(kText).substr(0, 12))}})}})});
  EXPECT_EQ(one.Detail(Get(), kEarly),
            "blocked: is not adopted: it is read before /etc/sysctl.d/60-spark-reconcile.conf, so "
            "that its lines do not win");
}

// Debian and Ubuntu read it by a link that sorts after ours.
TEST(SysctlAdoptLines, SysctlConfIsAdoptedWhereALinkBringsItToEffect) {
  LinesCase one;
  constexpr const char* kMain = "/etc/sysctl.conf";
  one.facts.files.erase(kPath);
  one.AddFile(kMain, kText);
  EXPECT_THAT(one.Diagnose(), IsEmpty());
  one.facts.files["/etc/sysctl.d/99-sysctl.conf"] = Unknown{"is a symbolic link"};
  const std::string entry =
      "{lines: /etc/sysctl.conf, match: [net.core.rmem_max], nodes: {spark-1: \"" +
      ComputeSha256Hex(kText).substr(0, 12) + "\"}}";
  ASSERT_EQ(one.Diagnose().size(), 1u);
  EXPECT_EQ(one.Diagnose()[0].next_step,
            "add " + entry + " to adopt, or remove net.core.rmem_max from /etc/sysctl.conf");
  one.SetManifest({test::Map(
      {{"lines", test::Text(kMain)},
       {"match", test::List({test::Text("net.core.rmem_max")})},
       {"nodes", test::Map({{"spark-1", test::Text(ComputeSha256Hex(kText).substr(0, 12))}})}})});
  EXPECT_EQ(one.Detail(Get(), kMain),
            "without 2 lines that win over /etc/sysctl.d/60-spark-reconcile.conf: "
            "net.core.rmem_max");
  EXPECT_THAT(one.Find(Get(), kMain).settles, ElementsAre("net.core.rmem_max"));
  one.facts.files.erase("/etc/sysctl.d/99-sysctl.conf");
  EXPECT_EQ(one.Detail(Get(), kMain),
            "blocked: is not adopted: nothing reads it at boot: there is no "
            "/etc/sysctl.d/99-sysctl.conf");
}

TEST(SysctlAdoptLines, NodesWithOneFileAreOneEntry) {
  LinesCase one;
  one.cluster.settings = test::Map({{"sysctl", test::Map({{"net.core.rmem_max", test::Number(3)},
                                                          {"vm.swappiness", test::Number(3)}})}});
  NodeFacts other = one.facts;
  other.node = "spark-2";
  const std::string text = "vm.swappiness=9\n";
  other.files[kPath] = FileState{.content = text};
  const ClusterFacts all{.nodes = {{"spark-1", one.facts}, {"spark-2", other}}};
  std::vector<std::string> entries;
  std::vector<std::string> advice;
  const std::vector<AdoptableFile> files = Get().adoptable(one.cluster, one.fabric, all);
  for (const AdoptableFile& file : files) entries.push_back(file.entry);
  const AdoptOffers offers(one.cluster, files);
  for (const NodeSpec& node : one.cluster.nodes) {
    const PluginInput input{one.cluster, one.fabric, node,   all.nodes.at(node.name),
                            all,         false,      &offers};
    for (const Diagnostic& warning : Get().diagnose(input)) {
      advice.push_back(warning.next_step.substr(0, warning.next_step.find(" to adopt")));
    }
  }
  const std::string entry =
      "lines: /etc/sysctl.d/90-tuning.conf, match: [net.core.rmem_max, vm.swappiness]";
  EXPECT_THAT(entries, ElementsAre(entry, entry));
  EXPECT_THAT(advice, testing::Each("add {" + entry + ", nodes: {spark-1: \"" +
                                    ComputeSha256Hex(kText).substr(0, 12) + "\", spark-2: \"" +
                                    ComputeSha256Hex(text).substr(0, 12) + "\"}}"));
  EXPECT_EQ(advice.size(), 3u);
}

TEST(SysctlAdoptLines, AKeyThatTheEntryLacksExtendsIt) {
  LinesCase one;
  one.cluster.settings = test::Map(
      {{"sysctl",
        test::Map({{"net.core.rmem_max", test::Number(3)}, {"vm.swappiness", test::Number(3)}})},
       {"adopt", test::List({test::At(
                     20, test::Map({{"lines", test::Text(kPath)},
                                    {"match", test::List({test::Text("net.core.rmem_max")})},
                                    {"nodes", test::Map({{"spark-1", test::Text("aa")}})}}))})}});
  std::vector<std::string> advice;
  for (const Diagnostic& warning : one.Diagnose()) advice.push_back(warning.next_step);
  EXPECT_THAT(advice,
              ElementsAre("remove net.core.rmem_max from /etc/sysctl.d/90-tuning.conf",
                          "extend the entry on line 20 of adopt to {lines: "
                          "/etc/sysctl.d/90-tuning.conf, match: [net.core.rmem_max, "
                          "vm.swappiness], nodes: {spark-1: \"" +
                              ComputeSha256Hex(kText).substr(0, 12) +
                              "\"}}, or remove vm.swappiness from /etc/sysctl.d/90-tuning.conf"));
}

TEST(SysctlAdoptLines, AFileThatCannotBeReadIsBlocked) {
  LinesCase one;
  one.Adopt();
  one.facts.files[kPath] = Unknown{"is a symbolic link"};
  EXPECT_EQ(one.Detail(Get(), kPath), "blocked: unknown: is a symbolic link");
}

TEST(SysctlAdoptLines, TheWarningSaysWhatToAddToAdopt) {
  LinesCase one;
  ASSERT_EQ(one.Diagnose().size(), 1u);
  EXPECT_EQ(one.Diagnose()[0].subject, "net.core.rmem_max");
  EXPECT_EQ(one.Diagnose()[0].next_step,
            "add {lines: /etc/sysctl.d/90-tuning.conf, match: [net.core.rmem_max], nodes: "
            "{spark-1: \"" +
                ComputeSha256Hex(kText).substr(0, 12) +
                "\"}} to adopt, or remove net.core.rmem_max from /etc/sysctl.d/90-tuning.conf");
  one.Adopt("another text");
  EXPECT_EQ(one.Diagnose()[0].next_step,
            "remove net.core.rmem_max from /etc/sysctl.d/90-tuning.conf");
}

TEST(SysctlAdoptLines, AllKeysOfAFileAreOneEntryWhicheverOfThemIsWarnedOf) {
  LinesCase one;
  one.cluster.settings = test::Map({{"sysctl", test::Map({{"net.core.rmem_max", test::Number(3)},
                                                          {"vm.swappiness", test::Number(3)}})}});
  const std::vector<Diagnostic> said = one.Diagnose();
  ASSERT_EQ(said.size(), 2u);
  for (const Diagnostic& warning : said) {
    EXPECT_THAT(warning.next_step,
                testing::HasSubstr("match: [net.core.rmem_max, vm.swappiness], nodes"));
  }
}

TEST(SysctlAdoptLines, DiscoverCanNameThemWithTheFilesDigest) {
  LinesCase one;
  ASSERT_EQ(one.Offers().size(), 1u);
  EXPECT_EQ(one.Offers()[0].entry,
            "lines: /etc/sysctl.d/90-tuning.conf, match: [net.core.rmem_max]");
  EXPECT_EQ(one.Offers()[0].digest, ComputeSha256Hex(kText));
  one.facts.files.erase(kPath);
  one.AddFile("/usr/lib/sysctl.d/90-tuning.conf", kText);  // of a package
  EXPECT_THAT(one.Offers(), IsEmpty());
  EXPECT_EQ(one.Diagnose()[0].next_step,
            "remove net.core.rmem_max from /usr/lib/sysctl.d/90-tuning.conf");
}

TEST(SysctlAdoptLines, TheFileIsReadThatAnEntryNames) {
  LinesCase one;
  one.Adopt();
  std::vector<std::string> paths;
  for (const Read& read : Get().probe(one.cluster, one.fabric, one.cluster.nodes[0])) {
    if (const auto* file = std::get_if<ReadFile>(&read)) paths.push_back(file->path);
  }
  EXPECT_THAT(paths, testing::Contains(kPath));
}

}  // namespace
}  // namespace reconciler::plugins::sysctl
