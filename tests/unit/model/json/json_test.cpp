#include "reconciler/model/json/json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/base/json/json_reader.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

ClusterFacts SomeFacts() {
  NodeFacts node;
  node.node = "spark-1";
  node.host = HostFact{.hostname = "spark-1", .kernel = "6.17.0", .arch = "aarch64"};
  node.session.address = "192.168.1.21";
  node.session.interface = "enP7s7";
  node.links["enp1s0f1np1"] = {.mac = "02:00:00:00:00:01",
                               .mtu = 1500,
                               .admin_up = true,
                               .ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")},
                               .ipv6 = {"fe80::1/64"},
                               .manager = LinkManager::kNetworkManager,
                               .phys_port_name = "p1",
                               .driver = "mlx5_core"};
  node.files["/etc/hosts"] = FileState{"\xff binary\n", 0644, "root", "root"};
  node.files["/etc/odd"] = FileState{"base64:not really", 04755, "a", "b"};
  node.files["/etc/none"] = Absent{};
  node.files["/etc/secret"] = Unknown{"permission denied"};
  node.hcas["rocep1s0f1"] = {.counters = {{"sent", 7}}, .verbs = {4096, Unknown{"no memory"}}};
  node.network = {.links = 5,
                  .pci = {{"0000:01:00.1", "enp1s0f1np1"}},
                  .ports = {{"enp1s0f1np1",
                             {.fec = std::vector<std::string>{"RS"},
                              .lanes = Unknown{"ethtool wrote '?' for a number"},
                              .link_down_events = 3}}},
                  .default_route = std::vector<std::string>{"enP7s7"},
                  .routes = std::vector<RouteFact>{{*ParseIpv4Prefix("10.0.0.0/8"), "tun0"}},
                  .leases = {{"enP7s7", {"192.168.1.21"}}},
                  .rp_filter = {{"all", 2}},
                  .carrier_downs = {{"enp1s0f1np1", 21}}};
  node.rdma = {.hcas = 1,
               .cma = CmaMemory{0, 940604},
               .modules = std::vector<std::string>{"mlx5_ib"},
               .ofed = Absent{},
               .ufw = true,
               .firewall = std::vector<FirewallChain>{{"ip", "filter", "INPUT", "drop"}},
               .users = std::vector<RdmaUser>{{"rocep1s0f1", "enp1s0f1np1", "a", 7}}};
  node.gpudirect = {.driver = NvidiaDriver{true, "580.142"},
                    .gpu = "NVIDIA GB10",
                    .symbol = false,
                    .modules = {{"nvidia_peermem", ModuleState::kBuiltIn}, {"x", Absent{}}},
                    .cuda_rdma = Unsupported{"integrated GPU"},
                    .entries = std::vector<ModuleEntry>{{"/etc/modules-load.d/a.conf", 1, "x"}}};
  node.memlock = {.service = MemlockLimits{{8388608}, {MemoryLimit::kUnlimited}},
                  .session = MemoryLimit{MemoryLimit::kUnlimited},
                  .user_service = Absent{}};
  node.nccl = {.settings = std::vector<NcclSetting>{{"/etc/nccl.conf", 1, "NCCL_DEBUG", "INFO"}},
               .library = NcclLibrary{"/usr/lib/libnccl.so.2", "", {"NCCL_DEBUG"}},
               .hcas = {{"enp1s0f1np1", "rocep1s0f1"}},
               .gids = {{"rocep1s0f1", {.gid = "fe80", .type = Absent{}}}}};
  node.ssh = {.group = "users", .directory = FileAccess{{0700}, "nvidia"}, .private_key = Absent{}};
  node.sysctl = {.keys = {{"net.core.rmem_max", "1"}, {"a.b", Unknown{"no"}}},
                 .readonly = std::set<std::string>{"a.b"}};
  node.units = {.shown = Unknown{"systemctl gave no answer in 5 s"},
                .states = {{"a.service", {.load = "loaded", .stale = true}}}};
  node.health = {
      .kernel_log = std::vector<KernelEvent>{{KernelEventKind::kGpuMemory, 7, "NVRM: \xff"}},
      .firewall_rules_age_s = Absent{},
      .clock = 1790000000,
      .device_files = std::vector<DeviceFile>{{"/dev/infiniband/uverbs0", {0666}, "root", "rdma"}},
      .groups = std::set<std::string>{"rdma"},
      .ifupdown = false,
      .sensors = std::vector<Sensor>{{"acpitz", -5000, 95000}},
      .throttled = Unknown{"no"},
      .containers = std::vector<ContainerFact>{{"0123", true, {MemoryLimit::kUnlimited}}}};
  node.apply = {.undecided = {"0a49-11"}, .lease = "root@desk pid 812"};
  node.ledger = Ledger{
      .cluster = "homelab",
      .generation = 3,
      .entries = {{.kind = "file",
                   .name = "/etc/x",
                   .plugin = "hosts",
                   .generation = 2,
                   .original = {RemoveFile{"/etc/x", {"/run/x"}}},
                   .triggers = {RunCommand{.argv = {"make", "x"}, .without_reload = true}}}}};
  node.newest_generation = 9;
  node.newest_digest = "12ab";
  ClusterFacts facts;
  facts.nodes["spark-1"] = node;
  facts.unreachable["spark-2"] = {
      .kind = ErrorKind::kTransport, .message = "no route", .hint = "h"};
  return facts;
}

Plan SomePlan() {
  Change change{
      .change = ChangeKind::kAdd,
      .kind = "file",
      .name = "/etc/x",
      .is_link = true,
      .node = "spark-1",
      .plugin = "hosts",
      .detail = "(0644, 1 line)",
      .code = "p-c",
      .owner = {.name = "/etc/z", .claims = {"p0"}, .settings_lost = {"routes"}},
      .diff = "+\xff\n",
      .actions = {WriteFile{"/etc/x", {"\xff\n"}, {"/run/x", {"generator"}}},
                  RemoveFile{"/etc/y", {"/run/y"}}, RunCommand{{"true", "a b"}, 7, "nvidia"}},
      .revert = {RunCommand{
          .argv = {"false"}, .must_succeed = true, .at_boot = true, .sets = "/sys/x"}},
      .triggers = {RunCommand{.argv = {"make", "z"},
                              .id = "z",
                              .after_boot = true,
                              .makes = {"/run/z"},
                              .without_reload = true}},
      .impact = Impact::kLinkFlap,
      .deferred = true,
      .fingerprint = "0123456789abcdef",
      .where = {"cluster.yaml", {4, 2}},
      .desired = "\xff",
      .cause = {.kind = CauseKind::kDriftedAndChanged, .generation = 3, .applied = "2"}};
  Plan plan{.cluster = "homelab",
            .summary = "s",
            .manifest = "cluster.yaml",
            .spec_digest = "d",
            .id = "i"};
  plan.nodes = {{.name = "spark-1", .address = "a", .session_interface = "e"},
                {.name = "spark-2", .unreachable = "no route"}};
  plan.stages = {{.plugins = {"hosts"}, .changes = {change}, .held = {change}}};
  plan.diagnostics = {{.severity = Severity::kWarns,
                       .code = "p-c",
                       .message = "m\xff",
                       .next_step = "s",
                       .where = {"cluster.yaml", {5, 1}},
                       .subject = "k\xff",
                       .plugin = "p",
                       .change = "file//etc/x",
                       .nodes = {"spark-1"}},
                      {.severity = Severity::kBlocks, .code = "p-d"},
                      {.code = "p-e"}};
  return plan;
}

TEST(Json, FactsComeBackAsTheyWere) {
  const auto back = ParseFacts(Dump(ToJson(SomeFacts())));
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(*back, SomeFacts());
}

TEST(Json, FactsFitTheirSchema) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("facts"));
  const nlohmann::json facts = AddHead(ToJson(SomeFacts()), {"0.1.0", "2026-11-25T00:00:00Z"});
  EXPECT_EQ(JudgeBySchema(facts, schema), std::nullopt);
}

TEST(Json, ANodeThatFactsHaveTwiceIsRefused) {
  auto json = ToJson(SomeFacts());
  json["nodes"].push_back(json["nodes"][0]);
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/1/name: wanted each node once, found spark-1 twice");
}

TEST(Json, FactsThatTheSchemaDoesNotKnowDoNotFitIt) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("facts"));
  nlohmann::json json = ToJson(SomeFacts());
  json["nodes"][0]["memlock"]["sessions"] = 1;
  EXPECT_NE(JudgeBySchema(json, schema), std::nullopt);
}

// Written by SPARK_TEST_ACCEPT=1, as the other files that tests compare with.
TEST(Json, FactsSchemaMatchesTheDescriptions) {
  const std::string_view embedded = FindEmbeddedSchema("facts");
  const std::string wanted = Dump(UpdateFactsSchema(nlohmann::ordered_json::parse(embedded)));
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(reconciler::test::SourceDir() + "/schema/facts.schema.json", std::ios::binary)
        << wanted;
    GTEST_SKIP() << "facts.schema.json written: review it";
  }
  EXPECT_EQ(embedded, wanted) << "run model_test with SPARK_TEST_ACCEPT=1 and review the file";
}

TEST(Json, WhatNoOneRequestedIsLeftOutAndComesBackAsNotQueried) {
  ClusterFacts facts;
  facts.nodes["spark-1"] = {.node = "spark-1", .memlock = {.service = Absent{}}};
  const auto json = ToJson(facts);
  EXPECT_EQ(json["nodes"][0]["memlock"].dump(), R"({"service":{"absent":true}})");
  EXPECT_FALSE(json["nodes"][0].contains("gpudirect"));
  const auto back = ParseFacts(json.dump());
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(back->nodes.at("spark-1").memlock.session, std::nullopt);
  EXPECT_EQ(Answer(back->nodes.at("spark-1").memlock.session),
            Observed<MemoryLimit>(Unknown{"not read"}));
}

TEST(Json, AWordThatNoFactHasNamesThoseThatItHas) {
  auto json = ToJson(SomeFacts());
  json["nodes"][0]["gpudirect"]["modules"]["x"] = "gone";
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/0/gpudirect/modules/x: wanted loaded or built in or available, found "
            "\"gone\"");
}

TEST(Json, PlansComeBackAsTheyWere) {
  const auto back = ParsePlan(Dump(ToJson(SomePlan())));
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(*back, SomePlan());
}

TEST(Json, APlanThatHasAChangeTwiceIsRefused) {
  Plan plan = SomePlan();
  plan.stages[0].changes.push_back(plan.stages[0].changes[0]);
  const auto back = ParsePlan(Dump(ToJson(plan)));
  ASSERT_FALSE(back);
  EXPECT_EQ(FormatError(back.error()),
            "/stages/0: wanted each change once, found file /etc/x of spark-1 again\n"
            "  hint: make a new plan with `plan --out`\n");
}

TEST(Json, AProblemNamesItsPlace) {
  auto json = ToJson(SomeFacts());
  json["nodes"][0]["links"]["enp1s0f1np1"]["mtu"] = "big";
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/0/links/enp1s0f1np1/mtu: wanted an integer, found string");
  json["nodes"][0]["links"]["enp1s0f1np1"].erase("mtu");
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/0/links/enp1s0f1np1: 'mtu' is missing");
  EXPECT_EQ(ParseFacts(R"({"format": "x"})").error().message,
            "/format: wanted \"spark-reconcile/facts/3\", found \"x\"");
  EXPECT_EQ(ParseFacts("{").error().message.substr(0, 15), "not valid JSON:");
}

TEST(Json, EveryByteSurvivesTheEncoding) {
  for (int length = 0; length < 5; ++length) {
    for (int byte = 0; byte < 256; ++byte) {
      const std::string bytes(static_cast<std::size_t>(length), static_cast<char>(byte));
      EXPECT_EQ(DecodeText(EncodeText(bytes).get<std::string>()), bytes);
    }
  }
}

}  // namespace
}  // namespace reconciler
