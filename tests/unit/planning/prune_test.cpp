#include "reconciler/planning/prune.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconciler/base/digest.h"
#include "reconciler/base/mark.h"

namespace reconciler {
namespace {

LedgerEntry FileEntry(const std::string& path, const std::string& written, Action original) {
  return {.kind = "file",
          .name = path,
          .plugin = "files",
          .generation = 3,
          .original = {std::move(original)},
          .digest = written.empty() ? "" : ComputeSha256Hex(written)};
}

LedgerEntry CommandEntry(const std::string& name, std::vector<std::string> argv) {
  return {.kind = "sysctl",
          .name = name,
          .plugin = "values",
          .generation = 3,
          .original = {RunCommand{std::move(argv)}}};
}

// A node, what its ledger holds, and what is required of it.
struct PruneCase {
  ClusterSpec cluster = {.name = "lab", .former_name = "attic"};
  NodeFacts facts = {.node = "spark-1", .session = {.interface = "enP7s7"}};
  Ledger ledger = {.cluster = "lab"};
  std::set<std::string> required = {};
  PlanScope scope = {};

  void Put(const std::string& path, const std::string& content) {
    facts.files[path] = FileState{content};
  }
  void LimitTo(std::int64_t most) {
    cluster.settings.data = std::vector<Member>{{.key = "max_prune", .value = {.data = most}}};
  }
  Prunes Run() {
    facts.ledger = ledger;
    return PruneNode(cluster, facts, required, scope);
  }
  Change RunForOne() {
    const Prunes prunes = Run();
    EXPECT_EQ(prunes.changes.size(), 1u);
    return prunes.changes.empty() ? Change() : prunes.changes.front();
  }
};

// Its commands bring it to effect: nothing of ours may set anything after them.
TEST(Prune, AFileOfOthersThatWeRemovedComesAgainAfterAllOfOursIsGone) {
  PruneCase one;
  one.Put("/etc/ours", "ours\n");
  one.facts.files["/etc/theirs"] = Absent{};
  one.ledger.entries = {FileEntry("/etc/ours", "ours\n", RemoveFile{"/etc/ours"}),
                        CommandEntry("net.a", {"sysctl", "-w", "net.a=0"}),
                        FileEntry("/etc/theirs", "", WriteFile{"/etc/theirs", FileState{"t\n"}})};
  const Prunes prunes = one.Run();
  ASSERT_EQ(prunes.changes.size(), 3u);
  EXPECT_EQ(prunes.changes[0].name, "net.a");
  EXPECT_EQ(prunes.changes[1].name, "/etc/ours");
  EXPECT_EQ(prunes.changes[2].name, "/etc/theirs");
  EXPECT_EQ(FindFileAction(prunes.changes[2].actions)->index(), 0u);
}

// Two cards: each has a p0, and no interface has the name that the profile has for it.
TEST(Prune, WhatTouchesAnInterfaceThatMayBeAPortOfTheFabricIsBlocked) {
  PruneCase one;
  one.cluster.nodes = {{.name = "spark-1", .hardware = "connectx5-workstation"}};
  for (const std::string slot : {"3", "4"}) {
    const std::string netdev = "enp" + slot + "s0f0np0";
    one.facts.links[netdev] = {.phys_port_name = "p0", .driver = "mlx5_core"};
    one.facts.network.pci["0000:0" + slot + ":00.0"] = netdev;
  }
  one.ledger.entries = {CommandEntry("mtu", {"ip", "link", "set", "dev", "enp3s0f0np0", "down"})};
  EXPECT_EQ(one.RunForOne().change, ChangeKind::kBlocked);
  EXPECT_EQ(one.RunForOne().code, "plan-port-unclear");
  EXPECT_EQ(one.RunForOne().detail,
            "left as it is until it is clear whether enp3s0f0np0 is a port of the fabric");
  one.scope.uninstall = true;
  EXPECT_NE(one.RunForOne().change, ChangeKind::kBlocked);
  one.scope.uninstall = false;
  one.ledger.entries = {CommandEntry("mtu", {"ip", "link", "set", "dev", "enp3s0f0np01", "down"})};
  EXPECT_NE(one.RunForOne().change, ChangeKind::kBlocked);
}

TEST(Prune, AFileThatWeMadeIsRemovedWhereItIsAsWeLeftIt) {
  PruneCase one;
  const std::string ours = SetBlock("", "lab", "hosts", "a\n");
  one.Put("/etc/a", ours);
  one.ledger.entries = {FileEntry("/etc/a", ours, RemoveFile{"/etc/a"})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.change, ChangeKind::kRemove);
  EXPECT_EQ(change.detail, "no longer in the manifest: removed");
  EXPECT_EQ(change.diff,
            "@@ -1,3 +0,0 @@\n-# BEGIN spark-reconcile lab hosts\n-a\n-# END spark-reconcile lab "
            "hosts\n");
  EXPECT_EQ(change.actions, std::vector<Action>{RemoveFile{"/etc/a"}});
  EXPECT_TRUE(change.prune);
}

TEST(Prune, AFileThatStoodThereBeforeUsGoesBackToItsBytesModeAndOwner) {
  const FileState before{.content = "theirs\n", .mode = 0600, .owner = "nvidia"};
  PruneCase one;
  one.Put("/etc/a", "ours\n");
  one.ledger.entries = {FileEntry("/etc/a", "ours\n", WriteFile{"/etc/a", before})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.change, ChangeKind::kModify);
  EXPECT_EQ(change.detail, "no longer in the manifest: as it was before");
  EXPECT_EQ(change.actions, (std::vector<Action>{WriteFile{"/etc/a", before}}));
}

TEST(Prune, AFileThatWeRemovedComesBackOnlyWhereNoOneMadeANewOne) {
  PruneCase one;
  one.ledger.entries = {FileEntry("/etc/a", "", WriteFile{"/etc/a", {"theirs\n"}})};
  one.facts.files["/etc/a"] = Absent{};
  EXPECT_EQ(one.RunForOne().detail, "no longer in the manifest: as it was before");
  one.Put("/etc/a", "a new one\n");
  Prunes prunes = one.Run();
  EXPECT_TRUE(prunes.changes.empty());
  EXPECT_EQ(prunes.dropped, std::vector<std::string>{"file//etc/a"});
  EXPECT_EQ(prunes.made_again, std::vector<std::string>{"/etc/a"});
}

// Both would configure the same.
TEST(Prune, AFileThatWeRemovedDoesNotComeBackWhileOursStays) {
  PruneCase one;
  one.ledger.entries = {FileEntry("/etc/theirs", "", WriteFile{"/etc/theirs", {"theirs\n"}}),
                        FileEntry("/etc/ours", "ours\n", RemoveFile{"/etc/ours"})};
  one.facts.files["/etc/theirs"] = Absent{};
  one.Put("/etc/ours", "ours\n");
  Prunes prunes = one.Run();
  ASSERT_EQ(prunes.changes.size(), 2u);
  BlockBesideOurs(one.ledger, prunes.changes);
  EXPECT_EQ(prunes.changes[1].change, ChangeKind::kModify);
  one.Put("/etc/ours", "edited\n");
  prunes = one.Run();
  BlockBesideOurs(one.ledger, prunes.changes);
  EXPECT_EQ(prunes.changes[1].name, "/etc/theirs");
  EXPECT_EQ(prunes.changes[1].change, ChangeKind::kBlocked);
  EXPECT_EQ(prunes.changes[1].detail, "comes back only when /etc/ours is pruned, which is blocked");
}

TEST(Prune, AWholeFileThatSomeoneEditedIsBlocked) {
  PruneCase one;
  one.Put("/etc/a", "ours\nand theirs\n");
  one.ledger.entries = {FileEntry("/etc/a", "ours\n", RemoveFile{"/etc/a"})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.change, ChangeKind::kBlocked);
  EXPECT_EQ(change.detail,
            "no longer in the manifest: edited on the node since generation 3: remove it by hand, "
            "or restore the text that was written");
  EXPECT_TRUE(change.actions.empty());
}

// Whoever removes it would lose its former text, which only the ledger has.
TEST(Prune, AFileWithAFormerTextIsNotToBeRemovedByHand) {
  PruneCase one;
  one.Put("/etc/a", "ours\nand theirs\n");
  one.ledger.entries = {
      FileEntry("/etc/a", "ours\n", WriteFile{"/etc/a", FileState{.content = "former\n"}})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.change, ChangeKind::kBlocked);
  EXPECT_EQ(change.detail,
            "no longer in the manifest: edited on the node since generation 3: restore the text "
            "that was written, and its former text is written back; or leave it as it is");
}

TEST(Prune, AFileThatCannotBeReadIsBlocked) {
  PruneCase one;
  one.facts.files["/etc/a"] = Unknown{"a symbolic link"};
  one.ledger.entries = {FileEntry("/etc/a", "ours\n", RemoveFile{"/etc/a"})};
  EXPECT_EQ(one.RunForOne().detail, "unknown: a symbolic link");
  one.facts.files.clear();
  EXPECT_EQ(one.RunForOne().change, ChangeKind::kBlocked);
}

TEST(Prune, AFileThatIsGoneOrAsBeforeUsIsDroppedWithoutAChange) {
  PruneCase one;
  one.facts.files["/etc/gone"] = Absent{};
  one.Put("/etc/back", "theirs\n");
  one.ledger.entries = {FileEntry("/etc/gone", "ours\n", RemoveFile{"/etc/gone"}),
                        FileEntry("/etc/back", "ours\n", WriteFile{"/etc/back", {"theirs\n"}})};
  const Prunes prunes = one.Run();
  EXPECT_TRUE(prunes.changes.empty());
  EXPECT_EQ(prunes.dropped, (std::vector<std::string>{"file//etc/back", "file//etc/gone"}));
  EXPECT_TRUE(prunes.kept.empty());
}

TEST(Prune, WhatNothingReturnsIsDroppedAndSaidToStay) {
  PruneCase one;
  one.ledger.entries = {{.kind = "ssh", .name = "nvidia's key", .plugin = "ssh"}};
  const Prunes prunes = one.Run();
  EXPECT_TRUE(prunes.changes.empty());
  EXPECT_EQ(prunes.dropped, std::vector<std::string>{"ssh/nvidia's key"});
  EXPECT_EQ(prunes.kept, prunes.dropped);
}

TEST(Prune, ASharedFileWithoutALineOfOursIsDropped) {
  PruneCase one;
  one.Put("/etc/hosts", "127.0.0.1 localhost\n");
  one.ledger.entries = {FileEntry("/etc/hosts", "as we left it\n", RemoveFile{"/etc/hosts"})};
  one.ledger.entries[0].shared = true;
  const Prunes prunes = one.Run();
  EXPECT_TRUE(prunes.changes.empty());
  EXPECT_EQ(prunes.dropped, std::vector<std::string>{"file//etc/hosts"});
}

TEST(Prune, ASharedFileThatHoldsNothingButOursIsRemovedWhereNoneStoodBefore) {
  PruneCase one;
  one.Put("/etc/hosts", SetBlock("", "lab", "hosts", "edited\n"));
  one.ledger.entries = {FileEntry("/etc/hosts", "as we left it\n", RemoveFile{"/etc/hosts"})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.change, ChangeKind::kRemove);
  EXPECT_EQ(change.actions, std::vector<Action>{RemoveFile{"/etc/hosts"}});
}

TEST(Prune, BlocksUnderTheClustersFormerNameGoToo) {
  PruneCase one;
  one.ledger.cluster = "attic";
  one.Put("/etc/hosts", SetBlock("theirs\n", "attic", "hosts", "edited\n"));
  one.ledger.entries = {FileEntry("/etc/hosts", "as we left it\n", RemoveFile{"/etc/hosts"})};
  const Change change = one.RunForOne();
  EXPECT_EQ(change.detail, "no longer in the manifest: our block removed");
  EXPECT_EQ(change.actions, (std::vector<Action>{WriteFile{"/etc/hosts", {"theirs\n"}}}));
}

// An apply after the rename has left it, where it was blocked or limited to other plugins.
TEST(Prune, ABlockUnderTheFormerNameGoesWhereTheLedgerHasTheNewName) {
  PruneCase one;
  one.Put("/etc/hosts", SetBlock("theirs\n", "attic", "hosts", "a line\n"));
  one.ledger.entries = {FileEntry("/etc/hosts", "as we left it\n", RemoveFile{"/etc/hosts"})};
  one.ledger.entries[0].shared = true;
  const Change change = one.RunForOne();
  EXPECT_EQ(change.detail, "no longer in the manifest: our block removed");
  EXPECT_EQ(change.actions, (std::vector<Action>{WriteFile{"/etc/hosts", {"theirs\n"}}}));
}

TEST(Prune, TheLedgerOfAnotherClusterIsNotCarriedOut) {
  PruneCase one;
  one.ledger.cluster = "labx";
  one.ledger.entries = {CommandEntry("a", {"sysctl", "-w", "a=1"})};
  EXPECT_TRUE(one.Run().changes.empty());
  EXPECT_TRUE(one.Run().dropped.empty());
}

TEST(Prune, ACommandIsShownAsItWillRun) {
  PruneCase one;
  one.ledger.entries = {CommandEntry("a", {"sysctl", "-w", "a=1"})};
  EXPECT_EQ(one.RunForOne().detail, "no longer in the manifest: set back by sysctl -w a=1");
  one.ledger.entries[0].triggers = {{{"udevadm", "settle"}}};
  EXPECT_EQ(one.RunForOne().detail, "no longer in the manifest: set back");
  one.scope.uninstall = true;
  EXPECT_EQ(one.RunForOne().detail, "uninstall: set back");
}

TEST(Prune, ACommandThatNamesTheSessionsInterfaceIsBlocked) {
  for (const char* word :
       {"enP7s7", "net.ipv4.conf.enP7s7.arp_ignore=0", "dev:enP7s7", "/sys/class/net/enP7s7/mtu"}) {
    PruneCase one;
    one.ledger.entries = {CommandEntry("a", {"tool", word})};
    const Change change = one.RunForOne();
    EXPECT_EQ(change.change, ChangeKind::kBlocked);
    EXPECT_EQ(change.detail, "enP7s7 carries this session and is never touched");
    one.ledger.entries[0].original = {RunCommand{{"tool"}}};
    one.ledger.entries[0].triggers = {{{"tool", word}}};
    EXPECT_EQ(one.RunForOne().change, ChangeKind::kBlocked);
  }
}

TEST(Prune, AnInterfaceWhoseNameOnlyBeginsLikeTheSessionsIsNoSession) {
  PruneCase one;
  one.ledger.entries = {
      CommandEntry("a", {"tool", "enP7s70", "net.ipv4.conf.enP7s70.x=0", "renP7s7", "v-enP7s7"})};
  EXPECT_EQ(one.RunForOne().change, ChangeKind::kModify);
}

TEST(Prune, OnePluginsScopeLeavesTheOthersThingsAlone) {
  PruneCase one;
  one.Put("/etc/a", "ours\n");
  one.ledger.entries = {FileEntry("/etc/a", "ours\n", RemoveFile{"/etc/a"}),
                        CommandEntry("a", {"sysctl", "-w", "a=1"})};
  one.scope.only = {"values"};
  EXPECT_EQ(one.RunForOne().kind, "sysctl");
}

TEST(Prune, MoreThanTheManifestsLimitAreBlockedAllOfThem) {
  PruneCase one;
  one.LimitTo(1);
  one.ledger.entries = {CommandEntry("a", {"set", "a"})};
  EXPECT_EQ(one.RunForOne().change, ChangeKind::kModify);
  one.ledger.entries.push_back(CommandEntry("b", {"set", "b"}));
  const Prunes prunes = one.Run();
  ASSERT_EQ(prunes.changes.size(), 2u);
  for (const Change& change : prunes.changes) {
    EXPECT_EQ(change.change, ChangeKind::kBlocked);
    EXPECT_EQ(change.detail,
              "no longer in the manifest, as 2 things on this node, and max_prune is 1: raise it "
              "in the manifest if they shall all go");
  }
  one.scope.uninstall = true;
  for (const Change& change : one.Run().changes) EXPECT_EQ(change.change, ChangeKind::kModify);
}

// Any ledger of files and commands over any state of a node.
PruneCase AnyPruneCase() {
  PruneCase any;
  const auto text = rc::gen::element<std::string>(
      "", "ours\n", "theirs\n", SetBlock("", "lab", "t", "x\n"),
      SetBlock("theirs\n", "lab", "t", "x\n"), SetBlock("theirs\n", "attic", "t", "y\n"));
  const int count = *rc::gen::inRange(0, 15);
  for (int i = 0; i < count; ++i) {
    const std::string path = "/etc/" + std::to_string(i);
    if (*rc::gen::inRange(0, 4) == 0) {
      any.ledger.entries.push_back(CommandEntry(path, {"set", path}));
    } else {
      const bool made = *rc::gen::arbitrary<bool>();
      any.ledger.entries.push_back(
          FileEntry(path, *text,
                    made ? Action(RemoveFile{path}) : Action(WriteFile{path, FileState{*text}})));
      any.ledger.entries.back().shared = *rc::gen::arbitrary<bool>();
      if (*rc::gen::inRange(0, 3) > 0) {
        any.Put(path, *text);
      } else {
        any.facts.files[path] = Absent{};
      }
    }
    if (*rc::gen::inRange(0, 3) == 0) any.required.insert(any.ledger.entries.back().Id());
  }
  any.scope.uninstall = *rc::gen::arbitrary<bool>();
  return any;
}

RC_GTEST_PROP(Prune, WhatSomeoneRequiresIsNeverTouched, ()) {
  PruneCase any = AnyPruneCase();
  const Prunes prunes = any.Run();
  for (const Change& change : prunes.changes) {
    RC_ASSERT(!any.required.contains(change.kind + "/" + change.name));
  }
  for (const std::string& id : prunes.dropped) RC_ASSERT(!any.required.contains(id));
}

// A file of others that we removed.
bool IsRemoved(const LedgerEntry& entry) {
  const Action* file = FindFileAction(entry.original);
  return file != nullptr && std::holds_alternative<WriteFile>(*file) && entry.digest.empty();
}

RC_GTEST_PROP(Prune, EveryEntryThatNoOneRequiresIsChangedOrDroppedOnceAndTheLastTouchedFirst, ()) {
  PruneCase any = AnyPruneCase();
  const Prunes prunes = any.Run();
  std::vector<std::string> changed;
  for (const Change& change : prunes.changes) changed.push_back(change.kind + "/" + change.name);
  const std::set<std::string> ids(changed.begin(), changed.end());
  std::vector<std::string> ours;
  std::vector<std::string> removed;
  std::vector<std::string> dropped;
  for (auto entry = any.ledger.entries.rbegin(); entry != any.ledger.entries.rend(); ++entry) {
    if (any.required.contains(entry->Id())) continue;
    (!ids.contains(entry->Id()) ? dropped
     : IsRemoved(*entry)        ? removed
                                : ours)
        .push_back(entry->Id());
  }
  ours.insert(ours.end(), removed.begin(), removed.end());
  RC_ASSERT(changed == ours);
  RC_ASSERT(prunes.dropped == dropped);
}

RC_GTEST_PROP(Prune, NoByteIsLostThatWeDidNotWrite, ()) {
  PruneCase any = AnyPruneCase();
  for (const Change& change : any.Run().changes) {
    const Observed<FileState> observed = FindFile(any.facts, change.name);
    const FileState* now = Known(observed);
    if (change.kind != "file" || change.change == ChangeKind::kBlocked || now == nullptr) continue;
    const LedgerEntry& entry = *any.ledger.Find("file/" + change.name);
    if (ComputeSha256Hex(now->content) == entry.digest) continue;  // as we left it
    const std::string rest = RemoveBlocks(RemoveBlocks(now->content, "lab"), "attic");
    RC_ASSERT(change.actions.size() == 1u);
    if (const auto* write = std::get_if<WriteFile>(&change.actions[0])) {
      RC_ASSERT(write->state.content == rest);
    } else {
      RC_ASSERT(rest.empty());
    }
  }
}

RC_GTEST_PROP(Prune, TheSameFactsGiveTheSameChanges, ()) {
  PruneCase any = AnyPruneCase();
  RC_ASSERT(any.Run().changes == any.Run().changes);
}

// What a plugin wants of a file, beside what the ledger knows of it.
struct EditedCase {
  Resource resource = {.kind = "file",
                       .name = "/etc/a",
                       .desired = ResourceState(FileState{"new\n"}),
                       .observed = ResourceState(FileState{"edited\n"})};
  LedgerEntry entry = FileEntry("/etc/a", "ours\n", RemoveFile{"/etc/a"});

  std::string Explain() const {
    NodeFacts facts;
    facts.ledger = Ledger{.cluster = "lab", .entries = {entry}};
    return ExplainEdited(resource, facts);
  }
};

TEST(ExplainEdited, AFileThatSomeoneEditedSinceWeWroteItIsNotWrittenOver) {
  EXPECT_EQ(EditedCase().Explain(),
            "edited on the node since generation 3: --overwrite-edited writes it again");
}

TEST(ExplainEdited, AFileThatIsToGoIsNotRemovedOverAnEdit) {
  EditedCase one;
  one.resource.desired = Absent{};
  EXPECT_NE(one.Explain(), "");
}

TEST(ExplainEdited, AFileAsWeLeftItIsNoEdit) {
  EditedCase one;
  one.resource.observed = ResourceState(FileState{"ours\n"});
  EXPECT_EQ(one.Explain(), "");
}

TEST(ExplainEdited, AnEditThatSaysWhatTheManifestSaysIsNoEdit) {
  EditedCase one;
  one.resource.desired = ResourceState(FileState{"edited\n"});
  EXPECT_EQ(one.Explain(), "");
}

TEST(ExplainEdited, OthersMayWriteInASharedFileAndInOneThatWeRemoved) {
  EditedCase shared;
  shared.entry.shared = true;
  EXPECT_EQ(shared.Explain(), "");
  EditedCase removed;
  removed.entry.digest.clear();
  EXPECT_EQ(removed.Explain(), "");
}

TEST(ExplainEdited, NoOneKnowsOfAnEditWithoutALedgerOrAFile) {
  EXPECT_EQ(ExplainEdited(EditedCase().resource, NodeFacts()), "");
  EditedCase absent;
  absent.resource.observed = Absent{};
  EXPECT_EQ(absent.Explain(), "");
  EditedCase other;
  other.resource.name = "/etc/b";
  EXPECT_EQ(other.Explain(), "");
}

TEST(FindKeptNames, AKeyPairIsNamedWithAndWithoutALedger) {
  const ClusterSpec cluster{.name = "lab"};
  NodeFacts facts{.node = "spark-1"};
  facts.files["~ada/.ssh/id_spark.pub"] =
      FileState{.content = "ssh-ed25519 AAAA spark-reconcile lab spark-1\n"};
  facts.files["~ada/.ssh/id_own.pub"] = FileState{.content = "ssh-ed25519 AAAA ada@desk\n"};
  facts.files["~ada/.ssh/id_other.pub"] =
      FileState{.content = "ssh-ed25519 AAAA spark-reconcile other spark-1\n"};
  const std::vector<std::string> wanted = {"~ada/.ssh/id_spark"};
  EXPECT_EQ(FindKeptNames(cluster, facts), wanted);
  facts.ledger = Ledger{.cluster = "lab", .entries = {{.kind = "ssh", .name = wanted[0]}}};
  EXPECT_EQ(FindKeptNames(cluster, facts), wanted);
  facts.files.clear();
  EXPECT_EQ(FindKeptNames(cluster, facts), wanted);
}

TEST(Uninstall, AFileThatItsOwnerMadeAgainIsNamedAndLeft) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "lab"};
  cluster.nodes = {{.name = "spark-1", .id = 1, .address = "10.0.0.1"}};
  ClusterFacts facts;
  NodeFacts& node = facts.nodes["spark-1"];
  node.node = "spark-1";
  node.files["/etc/a"] = FileState{.content = "a new one\n"};
  node.ledger = Ledger{.cluster = "lab",
                       .entries = {FileEntry("/etc/a", "", WriteFile{"/etc/a", {"theirs\n"}})}};
  const auto plan = MakePlan(cluster, Fabric(), facts, {}, {.uninstall = true});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->Empty());
  EXPECT_EQ(plan->nodes.at(0).dropped, std::vector<std::string>{"file//etc/a"});
  ASSERT_EQ(plan->diagnostics.size(), 2u);
  EXPECT_EQ(FormatDiagnostic(plan->diagnostics[0]),
            "note: spark-1: /etc/a was removed by an apply and made again since: it is left as it "
            "is [plan-made-again]\n");
}

TEST(Uninstall, AKeyPairThatStaysIsNamedInThePlanEachTime) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "lab"};
  cluster.nodes = {{.name = "spark-1", .id = 1, .address = "10.0.0.1"}};
  ClusterFacts facts;
  facts.nodes["spark-1"].files["~ada/.ssh/id_spark.pub"] =
      FileState{.content = "ssh-ed25519 AAAA spark-reconcile lab spark-1\n"};
  const auto plan = MakePlan(cluster, Fabric(), facts, {}, {.uninstall = true});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->diagnostics.size(), 2u);
  EXPECT_EQ(FormatDiagnostic(plan->diagnostics[0]),
            "note: spark-1: ~ada/.ssh/id_spark stays: it was made here, and taking it away could "
            "lose something [plan-kept]\n");
  const auto ordinary = MakePlan(cluster, Fabric(), facts, {}, {});
  ASSERT_TRUE(ordinary);
  EXPECT_TRUE(ordinary->diagnostics.empty());
}

}  // namespace
}  // namespace reconciler
