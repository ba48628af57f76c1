#include "plugins/storage/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/storage/units.h"
#include "reconciler/base/mark.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kMount = R"(mnt-rosa\x2dmodels.mount)";
constexpr const char* kDevice = "/dev/disk/by-uuid/0a1b-2c";

using Members = std::vector<std::pair<std::string, Value>>;

Members Models(Members more = {{"nodes", test::List({test::Text("spark-1")})}}) {
  Members members = {{"mount", test::Text("/mnt/rosa-models")}, {"nqn", test::Text("llm-models")},
                     {"address", test::Text("192.168.1.100")},  {"port", test::Number(4420)},
                     {"uuid", test::Text("0a1b-2c")},           {"filesystem", test::Text("ext4")}};
  for (auto& member : more) {
    std::erase_if(members, [&](const auto& one) { return one.first == member.first; });
    members.push_back(std::move(member));
  }
  return members;
}

struct Scenario : test::PairScenario {
  explicit Scenario(std::vector<Members> volumes = {Models()}) {
    std::vector<Value> entries;
    int line = 40;
    for (Members& volume : volumes)
      entries.push_back(test::At(line++, test::Map(std::move(volume))));
    cluster.settings = test::Map({{"storage", test::List(std::move(entries))}});
    for (const std::string& path : {std::string(kScript), Path(kMount), Path(Connect())}) {
      facts.files[path] = Absent{};
    }
  }
  static std::string Path(const std::string& unit) { return "/etc/systemd/system/" + unit; }
  static std::string Connect() { return NameConnectUnit({.nqn = "llm-models"}); }

  Scenario& Read(const std::string& out, int status = 0) {
    Get().parse({.commands = {{"storage.volumes", {.exit_code = status, .out = out}}}}, facts);
    return *this;
  }
  Scenario& ReadNew() { return Read(Units("not-found", "inactive")); }
  static std::string Units(const std::string& file, const std::string& active) {
    return "nvme_cli yes\nmodule yes\nunit " + file + " " + active + " " + kMount + "\nunit " +
           file + " " + active + " " + Connect() + "\n";
  }
  // Beside a spark-2 that has nothing.
  Change Plan(const std::string& name) const {
    NodeFacts other{.node = "spark-2"};
    other.storage.nvme_cli = true;
    const ClusterFacts all{.nodes = {{"spark-1", facts}, {"spark-2", other}}};
    for (const Resource& resource :
         Get().resources({cluster, fabric, cluster.nodes.front(), facts, all})) {
      if (resource.name == name) return Diff(resource, "storage").value_or(Change());
    }
    ADD_FAILURE() << "no resource " << name;
    return {};
  }
  std::string Said(const ClusterFacts& all = {}) const {
    std::string text;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      EXPECT_EQ(one.severity, Severity::kWarns);
      text += one.code + ": " + one.message + ": " + one.next_step + "\n";
    }
    return text;
  }
};

TEST(Storage, TheMountIsByUuidAndStartsWheneverItsDeviceAppears) {
  Scenario scenario({Models({{"options", test::List({test::Text("noatime")})},
                             {"nodes", test::List({test::Text("spark-1")})}})});
  EXPECT_EQ(scenario.ReadNew().File(Get(), Scenario::Path(kMount)).content,
            FormatOwnedFile("homelab",
                            "[Unit]\n"
                            "Description=/mnt/rosa-models of llm-models\n"
                            "After=" +
                                Scenario::Connect() +
                                "\n"
                                "[Mount]\n"
                                "What=/dev/disk/by-uuid/0a1b-2c\n"
                                "Where=/mnt/rosa-models\n"
                                "Type=ext4\n"
                                "Options=_netdev,nofail,noatime\n"
                                "TimeoutSec=60\n"
                                "[Install]\n"
                                "WantedBy=dev-disk-by\\x2duuid-0a1b\\x2d2c.device\n"));
}

TEST(Storage, AReadOnlyMountWritesNoJournal) {
  for (const auto& [filesystem, options] :
       {std::pair("ext4", "Options=_netdev,nofail,ro,noload\n"),
        std::pair("xfs", "Options=_netdev,nofail,ro,norecovery\n"),
        std::pair("btrfs", "Options=_netdev,nofail,ro,rescue=nologreplay\n")}) {
    Scenario scenario(
        {Models({{"read_only", test::Flag(true)}, {"filesystem", test::Text(filesystem)}})});
    EXPECT_THAT(scenario.ReadNew().File(Get(), Scenario::Path(kMount)).content, HasSubstr(options));
  }
}

// udev's links are in lower case but for shorter UUIDs, as of vfat.
TEST(Storage, AUuidInCapitalsIsFoundByItsLink) {
  for (const auto& [uuid, device] :
       {std::pair("3E6BE9DE-8139-4C45-9106-A43F08D823A6", "3e6be9de-8139-4c45-9106-a43f08d823a6"),
        std::pair("1A2B-3C4D", "1A2B-3C4D")}) {
    Scenario scenario({Models({{"uuid", test::Text(uuid)}})});
    EXPECT_THAT(scenario.ReadNew().File(Get(), Scenario::Path(kMount)).content,
                HasSubstr(std::string("What=/dev/disk/by-uuid/") + device + "\n"));
  }
}

TEST(Storage, TheConnectionIsTriedAgainForAsLongAsTheTargetDoesNotAnswer) {
  Scenario scenario;
  EXPECT_EQ(
      scenario.ReadNew().File(Get(), Scenario::Path(Scenario::Connect())).content,
      FormatOwnedFile(
          "homelab",
          "[Unit]\n"
          "Description=NVMe over TCP: llm-models\n"
          "Wants=network-online.target\n"
          "After=network-online.target\n"
          "StartLimitIntervalSec=0\n"
          "[Service]\n"
          "Type=oneshot\n"
          "RemainAfterExit=yes\n"
          "RuntimeDirectory=" +
              Scenario::Connect() +
              "\n"
              "ExecStart=/bin/sh /usr/local/lib/spark-reconcile/volume.sh connect llm-models "
              "192.168.1.100 4420\n"
              "ExecStop=/bin/sh /usr/local/lib/spark-reconcile/volume.sh disconnect llm-models "
              "192.168.1.100 4420\n"
              "TimeoutStartSec=30\n"
              "Restart=on-failure\n"
              "RestartSec=10\n"
              "[Install]\n"
              "WantedBy=multi-user.target\n"));
}

TEST(Storage, UnitsAreEnabledAndStartedWithoutWaitingForTheTarget) {
  Scenario scenario;
  scenario.ReadNew();
  EXPECT_THAT(scenario.Names(Get()),
              ElementsAre(kScript, Scenario::Path(Scenario::Connect()), Scenario::Path(kMount),
                          Scenario::Connect(), kMount));
  const Change change = scenario.Plan(kMount);
  EXPECT_THAT(test::Lines(change.actions),
              ElementsAre(std::string("systemctl --no-reload enable -- ") + kMount));
  EXPECT_THAT(test::Lines(change.triggers),
              ElementsAre("systemctl daemon-reload",
                          std::string("systemctl --no-block start -- ") + kMount));
  const auto back = ElementsAre(std::string("systemctl stop -- ") + kMount,
                                std::string("systemctl --no-reload disable -- ") + kMount);
  EXPECT_THAT(test::Lines(change.revert), back);
  EXPECT_THAT(test::Lines(change.prune_commands.before), back);
}

// Someone removed its file by hand.
TEST(Storage, APruneOfAUnitThatIsGoneFailsNothing) {
  Scenario scenario;
  scenario.ReadNew();
  Change prune{.kind = "unit"};
  for (const RunCommand& command : scenario.Plan(kMount).prune_commands.before) {
    prune.actions.emplace_back(command);
  }
  const ClusterFacts all;
  EXPECT_EQ(Get().check_prune({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                               scenario.facts, all},
                              prune),
            Ownership::kOurs);
  const std::vector<std::string> lines = test::Lines(prune.actions);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("sh -c ") && lines[1].starts_with("sh -c "));
  EXPECT_TRUE(lines[0].ends_with(std::string(" sh ") + kMount + " stop")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with(std::string(" sh ") + kMount + " --no-reload disable"))
      << lines[1];
}

std::vector<std::string> Steps(const std::vector<Action>& actions) {
  std::vector<std::string> steps;
  for (const Action& action : actions) steps.push_back(Describe(action));
  return steps;
}

// With the mount unit of the volume as it was formatted before.
Scenario FormattedAgain(const std::string& active) {
  Scenario former(
      {Models({{"uuid", test::Text("ffff")}, {"nodes", test::List({test::Text("spark-1")})}})});
  Scenario now;
  now.Read(Scenario::Units("enabled", active))
      .AddFile(Scenario::Path(kMount),
               former.ReadNew().File(Get(), Scenario::Path(kMount)).content);
  return now;
}

// By the link of the former device systemd takes the unit for enabled.
TEST(Storage, AVolumeThatWasFormattedAgainIsWantedByItsNewDeviceAndMounted) {
  const std::string relink = std::string("run systemctl --no-reload reenable -- ") + kMount;
  const std::string path = Scenario::Path(kMount);
  const Change change = FormattedAgain("inactive").Plan(path);
  EXPECT_THAT(Steps(change.actions), ElementsAre("write " + path));
  EXPECT_THAT(test::Lines(change.triggers),
              ElementsAre(std::string("systemctl --no-reload reenable -- ") + kMount,
                          "systemctl daemon-reload",
                          std::string("systemctl --no-block start -- ") + kMount));
  EXPECT_THAT(Steps(change.revert),
              ElementsAre(std::string("run systemctl stop -- ") + kMount, relink));
  EXPECT_TRUE(std::get<RunCommand>(change.revert.back()).after_boot);
  // A former volume that is still mounted stays.
  EXPECT_THAT(Steps(FormattedAgain("active").Plan(path).revert), ElementsAre(relink));
}

TEST(Storage, AMountUnitThatIsWantedByTheSameDeviceIsNotLinkedAgain) {
  Scenario former({Models({{"options", test::List({test::Text("noatime")})},
                           {"nodes", test::List({test::Text("spark-1")})}})});
  Scenario now;
  const std::string path = Scenario::Path(kMount);
  now.Read(Scenario::Units("enabled", "active"))
      .AddFile(path, former.ReadNew().File(Get(), path).content);
  const Change change = now.Plan(path);
  EXPECT_THAT(Steps(change.actions), ElementsAre("write " + path));
  EXPECT_THAT(test::Lines(change.triggers), ElementsAre("systemctl daemon-reload"));
}

TEST(Storage, WhereTheLinkMustChangeAnUnknownStateOfTheUnitBlocks) {
  Scenario scenario = FormattedAgain("inactive");
  scenario.facts.storage = {};
  scenario.Read("", 124);
  EXPECT_EQ(scenario.Detail(Get(), Scenario::Path(kMount)),
            "blocked: unknown: systemctl said nothing about it");
}

TEST(Storage, AfterItsChangesNothingDiffers) {
  Scenario scenario;
  scenario.Read(Scenario::Units("enabled", "active"));
  for (const std::string& path : scenario.Names(Get())) {
    if (path.starts_with('/')) scenario.facts.files[path] = scenario.File(Get(), path);
  }
  for (const std::string& name : scenario.Names(Get())) {
    EXPECT_EQ(scenario.Detail(Get(), name), "holds") << name;
  }
}

TEST(Storage, TwoVolumesOfOneSubsystemShareItsConnection) {
  Scenario scenario(
      {Models(), Models({{"mount", test::Text("/mnt/data")}, {"uuid", test::Text("ffff")}})});
  EXPECT_THAT(
      scenario.Names(Get()),
      ElementsAre(kScript, Scenario::Path(Scenario::Connect()), Scenario::Path(kMount),
                  Scenario::Path("mnt-data.mount"), Scenario::Connect(), kMount, "mnt-data.mount"));
}

TEST(Storage, WhatCouldNotBeReadAndWhatOthersWroteStaysAsItIs) {
  Scenario scenario;
  scenario.Read("", 124);
  EXPECT_EQ(scenario.Detail(Get(), kMount), "blocked: unknown: systemctl said nothing about it");
  scenario.ReadNew().AddFile(Scenario::Path(kMount), "[Mount]\n");
  EXPECT_THAT(scenario.Detail(Get(), Scenario::Path(kMount)), HasSubstr("blocked: "));
  EXPECT_THAT(scenario.Detail(Get(), kMount), HasSubstr("blocked: "));
}

TEST(Storage, BeforeTheFirstApplyOnlyWhatIsMissingIsSaid) {
  EXPECT_EQ(Scenario().ReadNew().Said(), "");
  Scenario bare;
  bare.Read("nvme_cli no\nmodule no\n");
  EXPECT_EQ(bare.Said(),
            "storage-no-nvme-cli: storage: nvme is not installed, and nothing is connected without "
            "it: add nvme-cli to `packages`\n"
            "storage-no-module: storage: this kernel has no module nvme-tcp: install the kernel's "
            "extra modules (linux-modules-extra-VERSION)\n");

  const Value* storage = bare.cluster.settings.Find("storage");
  bare.cluster.settings =
      test::Map({{"storage", *storage}, {"packages", test::List({test::Text("nvme-cli")})}});
  EXPECT_THAT(bare.Said(), Not(HasSubstr("storage-no-nvme-cli")));
}

TEST(Storage, WhatKeepsAVolumeFromBeingMountedIsNamed) {
  const std::string enabled = Scenario::Units("enabled", "inactive");
  EXPECT_EQ(
      Scenario().Read(enabled).Said(),
      "storage-not-connected: /mnt/rosa-models: llm-models is not connected; the node tries "
      "again until 192.168.1.100 answers: run nvme discover -t tcp -a 192.168.1.100 -s 4420 on "
      "the node, and journalctl -u " +
          Scenario::Connect() + "\n");
  EXPECT_THAT(Scenario().Read(enabled + "subsystem connecting llm-models\n").Said(),
              HasSubstr("llm-models is connecting; the node tries again"));
  EXPECT_EQ(Scenario().Read(enabled + "subsystem live llm-models\n").Said(),
            "storage-no-device: /mnt/rosa-models: llm-models is connected, and no volume of it is "
            "/dev/disk/by-uuid/0a1b-2c: lsblk -f shows the file systems that the node sees\n");
  const std::string there =
      enabled + "subsystem live llm-models\ndevice " + kDevice + " /dev/nvme1n1\n";
  EXPECT_EQ(Scenario().Read(there).Said(),
            std::string("storage-not-mounted: /mnt/rosa-models: /dev/disk/by-uuid/0a1b-2c is there "
                        "and not mounted: systemctl start ") +
                kMount + "; where that fails: journalctl -u " + kMount +
                "; where no boot mounts it: systemctl reenable " + kMount + "\n");
  EXPECT_EQ(Scenario().Read(there + "mount /mnt/rosa-models /dev/nvme1n1 ext4 rw,noatime\n").Said(),
            "");
  EXPECT_EQ(Scenario().Read(there + "mount /mnt/rosa-models /dev/nvme2n1 ext4 rw\n").Said(),
            std::string("storage-other-mount: /mnt/rosa-models: wanted /dev/disk/by-uuid/0a1b-2c, "
                        "found /dev/nvme2n1 mounted there: umount /mnt/rosa-models, then systemctl "
                        "start ") +
                kMount + "\n");
}

// The unit made the connection once, and the kernel has removed it since.
TEST(Storage, AConnectionThatTheKernelRemovedIsMadeAgainByARestartOfItsUnit) {
  const std::string units = std::string("nvme_cli yes\nmodule yes\nunit enabled inactive ") +
                            kMount + "\nunit enabled active " + Scenario::Connect() + "\n";
  EXPECT_EQ(Scenario().Read(units).Said(),
            "storage-not-connected: /mnt/rosa-models: llm-models is not connected any more, and " +
                Scenario::Connect() + " connects only when it is started: systemctl restart " +
                Scenario::Connect() + "\n");
  EXPECT_THAT(Scenario().Read(units + "subsystem connecting llm-models\n").Said(),
              HasSubstr("llm-models is connecting; the node tries again"));
}

TEST(Storage, AVolumeThatIsToBeReadOnlyAndIsNotIsAWarning) {
  Scenario scenario({Models({{"read_only", test::Flag(true)}})});
  const std::string there = Scenario::Units("enabled", "active") + "device " + kDevice +
                            " /dev/nvme1n1\nmount /mnt/rosa-models /dev/nvme1n1 ext4 ";
  EXPECT_EQ(scenario.Read(there + "ro,noload\n").Said(), "");
  EXPECT_EQ(
      scenario.Read(there + "rw\n").Said(),
      std::string("storage-mounted-writable: /mnt/rosa-models: wanted it read-only, found it "
                  "mounted read-write: where another node writes to it too, that destroys it: "
                  "umount /mnt/rosa-models at once, then systemctl start ") +
          kMount + "\n");
}

TEST(Storage, AVolumeThatIsToBeWritableAndIsNotIsAWarning) {
  const std::string there = Scenario::Units("enabled", "active") + "device " + kDevice +
                            " /dev/nvme1n1\nmount /mnt/rosa-models /dev/nvme1n1 ext4 ";
  EXPECT_EQ(Scenario().Read(there + "rw,noatime\n").Said(), "");
  EXPECT_EQ(Scenario().Read(there + "ro\n").Said(),
            std::string("storage-mounted-read-only: /mnt/rosa-models: wanted it for writing, found "
                        "it mounted read-only: umount /mnt/rosa-models, then systemctl start ") +
                kMount + "; where dmesg has an error of the file system, check it before\n");
}

// What the plan says of spark-1's unit and its file, beside a spark-2 that answered so.
std::vector<std::string> PlanBeside(const std::string& other, const Scenario& scenario) {
  NodeFacts facts{.node = "spark-2"};
  Get().parse({.commands = {{"storage.volumes", {.out = "nvme_cli yes\nmodule yes\n" + other}}}},
              facts);
  const ClusterFacts all{.nodes = {{"spark-1", scenario.facts}, {"spark-2", facts}}};
  std::vector<std::string> lines;
  for (const Resource& resource :
       Get().resources({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                        scenario.facts, all})) {
    const auto change = Diff(resource, "storage");
    if (!change || change->change != ChangeKind::kBlocked) continue;
    lines.push_back(change->name + ": " + change->code + ": " + change->detail);
  }
  return lines;
}

TEST(Storage, ANodeBecomesNoWriterWhileAnotherOneWrites) {
  const std::string writes = std::string("writable ") + kDevice + " /srv/old\n";
  const std::string why =
      ": storage-other-writer: spark-2 has it mounted for writing at /srv/old, and two writers "
      "destroy it: umount it there, then plan again";
  Scenario scenario;
  scenario.ReadNew();
  EXPECT_THAT(PlanBeside(writes, scenario),
              ElementsAre(Scenario::Path(kMount) + why, std::string(kMount) + why));
  EXPECT_THAT(PlanBeside("device " + std::string(kDevice) + " /dev/nvme1n1\n", scenario),
              IsEmpty());
  EXPECT_THAT(PlanBeside("writable /dev/disk/by-uuid/ffff /srv/old\n", scenario), IsEmpty());
  // A reader may come at any time, and so may a writer to a file system of many.
  for (const auto& more :
       {std::pair("read_only", test::Flag(true)), std::pair("filesystem", test::Text("ocfs2"))}) {
    Scenario other({Models({{more.first, more.second}})});
    EXPECT_THAT(PlanBeside(writes, other.ReadNew()), IsEmpty()) << more.first;
  }
}

std::vector<std::string> ListBlocked(const Scenario& scenario, const ClusterFacts& all) {
  std::vector<std::string> blocked;
  for (const Resource& resource :
       Get().resources({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                        scenario.facts, all})) {
    if (!resource.blocked.empty()) blocked.push_back(resource.name + ": " + resource.blocked.why);
  }
  return blocked;
}

// A plan of some nodes does not read the others.
TEST(Storage, ANodeBecomesNoWriterWhileAnotherOneWasNotRead) {
  Scenario scenario;
  scenario.ReadNew();
  const auto blocked = ListBlocked(scenario, {.nodes = {{"spark-1", scenario.facts}}});
  const std::string why =
      ": spark-2 was not read, and may have it mounted for writing, where two writers destroy it: "
      "plan all nodes";
  EXPECT_THAT(blocked, ElementsAre(Scenario::Path(kMount) + why, std::string(kMount) + why));
}

TEST(Storage, ANodeBecomesNoWriterWhileTheMountsOfAnotherOneAreNotKnown) {
  Scenario scenario;
  scenario.ReadNew();
  NodeFacts other{.node = "spark-2"};
  const auto list = [&] {
    return ListBlocked(scenario, {.nodes = {{"spark-1", scenario.facts}, {"spark-2", other}}});
  };
  const auto why = [](const std::string& reason) {
    return ": what spark-2 has mounted could not be read (" + reason +
           "): it may have it mounted for writing, where two writers destroy it: plan again";
  };
  EXPECT_THAT(list(), ElementsAre(Scenario::Path(kMount) + why("not read"),
                                  std::string(kMount) + why("not read")));
  Get().parse({.commands = {{"storage.volumes", {.exit_code = 124}}}}, other);
  EXPECT_THAT(list(), ElementsAre(Scenario::Path(kMount) + why("sh gave no answer in 15 s"),
                                  std::string(kMount) + why("sh gave no answer in 15 s")));
  Get().parse({.commands = {{"storage.volumes", {.out = "nvme_cli no\nmodule yes\n"}}}}, other);
  EXPECT_THAT(list(), IsEmpty());
}

TEST(Storage, TwoWritersAreNamedAndNeverAdvisedToMountAgain) {
  NodeFacts other{.node = "spark-2"};
  Get().parse({.commands = {{"storage.volumes",
                             {.out = std::string("writable ") + kDevice + " /srv/old\n"}}}},
              other);
  const std::string there = Scenario::Units("enabled", "active") + "device " + kDevice +
                            " /dev/nvme1n1\nmount /mnt/rosa-models /dev/nvme1n1 ext4 ";
  EXPECT_EQ(
      Scenario().Read(there + "rw\n").Said({.nodes = {{"spark-2", other}}}),
      "storage-other-writer: /mnt/rosa-models: it is mounted for writing here, and on spark-2 "
      "at /srv/old: two writers destroy it: umount /srv/old on spark-2 at once, then check the "
      "file system\n");
  EXPECT_EQ(Scenario().Read(there + "ro\n").Said({.nodes = {{"spark-2", other}}}),
            "storage-mounted-read-only: /mnt/rosa-models: wanted it for writing, found it mounted "
            "read-only: umount /srv/old on spark-2 first, for two writers destroy it\n");
}

TEST(Storage, ANodeWithoutTheVolumeIsReadForWhetherItWrites) {
  const Scenario scenario;
  const auto reads = Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes.back());
  ASSERT_EQ(reads.size(), 1U);
  const auto* probe = std::get_if<RunProbe>(&reads.front());
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(std::vector<std::string>(probe->argv.begin() + 4, probe->argv.end()),
            (std::vector<std::string>{"-d", kDevice}));
  const Scenario readers(
      {Models({{"nodes", test::List({test::Text("spark-1")})}, {"read_only", test::Flag(true)}})});
  EXPECT_THAT(Get().probe(readers.cluster, readers.fabric, readers.cluster.nodes.back()),
              IsEmpty());
}

TEST(Storage, ALineOfFstabForTheSameFolderIsNamed) {
  Scenario scenario;
  scenario.ReadNew().AddFile("/etc/fstab",
                             "# /dev/nvme1n1 /mnt/rosa-models ext4\nUUID=1 / ext4 defaults 0 1\n"
                             "/dev/nvme1n1\t/mnt/rosa-models ext4 defaults,_netdev 0 2\n");
  EXPECT_EQ(
      scenario.Said(),
      "storage-fstab-line: /etc/fstab:3 mounts /dev/nvme1n1 at /mnt/rosa-models too, by a name "
      "that may be another device after a boot: remove the line\n");
}

std::vector<std::string> Check(std::vector<Members> volumes) {
  std::vector<std::string> lines;
  for (const Error& error : Get().check(Scenario(std::move(volumes)).cluster, {})) {
    lines.push_back(std::to_string(error.where->position.line) + " " + error.code + ": " +
                    error.message + ": " + error.hint);
  }
  return lines;
}

Members On(const std::string& node, Members more = {}) {
  more.emplace_back("nodes", test::List({test::Text(node)}));
  return Models(std::move(more));
}

TEST(Storage, TwoNodesThatWriteToOneFileSystemAreRefused) {
  const std::string two =
      "storage-two-writers: storage: /mnt/rosa-models: wanted one node that writes to the ext4 of "
      "llm-models, found spark-1 and spark-2: two nodes that write to one ext4 destroy it: give "
      "the "
      "entry `nodes` with one node, and the others an entry with read_only: true";
  EXPECT_THAT(Check({Models({})}), ElementsAre("40 " + two));
  EXPECT_THAT(Check({On("spark-1"), On("spark-2")}), ElementsAre("41 " + two));
  // The same one, by its label.
  EXPECT_THAT(Check({On("spark-1"),
                     On("spark-2", {{"uuid", test::Text("")}, {"label", test::Text("models")}})}),
              ElementsAre("41 " + two));
}

TEST(Storage, OneWriterWithReadersAndTwoFileSystemsAreFine) {
  EXPECT_THAT(Check({On("spark-1"), On("spark-2", {{"read_only", test::Flag(true)}})}), IsEmpty());
  EXPECT_THAT(Check({Models({{"read_only", test::Flag(true)}})}), IsEmpty());
  EXPECT_THAT(Check({On("spark-1"), On("spark-2", {{"uuid", test::Text("ffff")}})}), IsEmpty());
  EXPECT_THAT(Check({Models({{"filesystem", test::Text("ocfs2")}})}), IsEmpty());
}

TEST(Storage, AVolumeHidesNeitherAHomeNorWhatIsOurs) {
  const auto check = [](const std::string& path) {
    return Check({On("spark-1", {{"mount", test::Text(path)}})});
  };
  const std::string below = ": mount it below /mnt or /srv";
  for (const std::string path : {"/var/lib", "/var/log", "/opt", "/home/"}) {
    EXPECT_THAT(check(path), ElementsAre(HasSubstr(" is a folder that the node needs to run")))
        << path;
  }
  for (const std::string path :
       {"/var/lib/spark-reconcile", "/var/lib/spark-reconcile/journal", "/opt/spark-reconcile"}) {
    EXPECT_THAT(check(path),
                ElementsAre("40 storage-path: storage: " + path +
                            " has what spark-reconcile keeps on the node, which a mount would "
                            "hide" +
                            below));
  }
  for (const std::string path : {"/home/models", "/home/nvidia/models", "/var/lib/docker",
                                 "/opt/spark-reconciled", "/var/lib/spark-reconcile2", "/homes"}) {
    EXPECT_THAT(check(path), IsEmpty()) << path;
  }
}

// Of any node; another folder of /home is a place for volumes.
TEST(Storage, AVolumeHidesNoHomeOfALoginThatTheManifestNames) {
  const auto check = [](const std::string& path, const std::string& ssh_user) {
    Scenario scenario({On("spark-1", {{"mount", test::Text(path)}})});
    scenario.cluster.nodes.back().access.user = "nvidia";
    scenario.cluster.settings = test::Map({{"storage", *scenario.cluster.settings.Find("storage")},
                                           {"ssh", test::Map({{"user", test::Text(ssh_user)}})}});
    std::vector<std::string> lines;
    for (const Error& error : Get().check(scenario.cluster, {})) {
      lines.push_back(error.code + ": " + error.message + ": " + error.hint);
    }
    return lines;
  };
  for (const std::string user : {"nvidia", "mpi"}) {
    EXPECT_THAT(check("/home/" + user + "/", "mpi"),
                ElementsAre("storage-path: storage: /home/" + user +
                            " is the home of a login to the nodes, whose keys a mount would hide: "
                            "mount it below /mnt or /srv"));
  }
  for (const std::string path : {"/home/models", "/home/nvidia2", "/home/nvidia/models"}) {
    EXPECT_THAT(check(path, "mpi"), IsEmpty()) << path;
  }
}

TEST(Storage, OtherMistakesAreNamedWithTheirLine) {
  EXPECT_THAT(
      Check({On("spark-1", {{"mount", test::Text("/mnt/../etc")}})}),
      ElementsAre(
          "40 storage-path: storage: wanted a path such as /mnt/models, found '/mnt/../etc': "
          "without //, . and .."));
  EXPECT_THAT(
      Check({On("spark-1", {{"mount", test::Text("/etc/models")}})}),
      ElementsAre("40 storage-path: storage: /etc/models is a folder that the node needs to "
                  "run: mount it below /mnt or /srv"));
  EXPECT_THAT(Check({On("spark-1", {{"mount", test::Text("/")}})}),
              ElementsAre(HasSubstr("storage-path")));
  EXPECT_THAT(Check({On("spark-1", {{"uuid", test::Text("")}})}),
              ElementsAre("40 storage-device: storage: /mnt/rosa-models: wanted either `uuid` or "
                          "`label`, found neither: `lsblk -f` shows them on a node that has the "
                          "volume; names such as /dev/nvme1n1 change between boots"));
  EXPECT_THAT(
      Check({On("spark-1", {{"options", test::List({test::Text("ro")})}})}),
      ElementsAre("40 storage-option: storage: /mnt/rosa-models: the option ro is decided by "
                  "`read_only`: remove it, and set `read_only`"));
  EXPECT_THAT(Check({On("spark-3")}),
              ElementsAre("40 storage-unknown-node: storage: /mnt/rosa-models: unknown node "
                          "'spark-3', did you mean 'spark-1'?: nodes: spark-1, spark-2"));
  EXPECT_THAT(Check({On("spark-1"), On("spark-1", {{"mount", test::Text("/mnt/other")}})}),
              ElementsAre("41 storage-entry-twice: storage: wanted one entry for "
                          "/dev/disk/by-uuid/0a1b-2c on spark-1, found another on line 40: merge "
                          "them, or give them different nodes"));
  EXPECT_THAT(Check({On("spark-1"), On("spark-2", {{"uuid", test::Text("ff")},
                                                   {"address", test::Text("192.168.1.101")}})}),
              ElementsAre("41 storage-two-targets: storage: /mnt/rosa-models: wanted llm-models at "
                          "192.168.1.100 port 4420, as on line 40, found 192.168.1.101 port 4420: "
                          "name one target"));
}

}  // namespace
}  // namespace reconciler::plugins::storage
