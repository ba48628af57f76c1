#include "reconciler/model/json/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/json/json_reader.h"

namespace reconciler {
namespace {

ClusterFacts SomeFacts() {
  NodeFacts node;
  node.node = "spark-1";
  node.host = HostFact{.hostname = "spark-1", .kernel = "6.17.0", .arch = "aarch64"};
  node.session_address = "192.168.1.21";
  node.session_interface = "enP7s7";
  node.links["enp1s0f1np1"] = {.mac = "02:00:00:00:00:01",
                               .mtu = 1500,
                               .admin_up = true,
                               .ipv4 = {*ParseIpv4Prefix("192.168.177.1/24")},
                               .ipv6 = {"fe80::1/64"},
                               .manager = LinkManager::kNetworkManager,
                               .phys_port_name = "p1"};
  node.files["/etc/hosts"] = FileState{"\xff binary\n", 0644, "root", "root"};
  node.files["/etc/odd"] = FileState{"base64:not really", 04755, "a", "b"};
  node.files["/etc/none"] = Absent{};
  node.files["/etc/secret"] = Unknown{"permission denied"};
  node.values["gpudirect.peermem"] = Unsupported{"integrated GPU"};
  node.values["sysctl.a"] = "1";
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
      .diff = "+\xff\n",
      .actions = {WriteFile{"/etc/x", {"\xff\n"}, "/run/x"}, RemoveFile{"/etc/y", "/run/y"},
                  RunCommand{{"true", "a b"}, 7, "nvidia"}},
      .revert = {RunCommand{.argv = {"false"}, .must_succeed = true, .at_boot = true}},
      .triggers = {RunCommand{.argv = {"systemctl", "daemon-reload"}, .id = "reload"}},
      .impact = Impact::kLinkFlap,
      .deferred = true,
      .fingerprint = "0123456789abcdef",
      .where = {"cluster.yaml", {4, 2}}};
  Plan plan{.cluster = "homelab",
            .summary = "s",
            .manifest = "cluster.yaml",
            .spec_digest = "d",
            .id = "i"};
  plan.nodes = {{.name = "spark-1", .address = "a", .session_interface = "e"},
                {.name = "spark-2", .unreachable = "no route"}};
  plan.stages = {{.plugins = {"hosts"}, .changes = {change}}};
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

TEST(Json, PlansComeBackAsTheyWere) {
  const auto back = ParsePlan(Dump(ToJson(SomePlan())));
  ASSERT_TRUE(back) << FormatError(back.error());
  EXPECT_EQ(*back, SomePlan());
}

TEST(Json, AProblemNamesItsPlace) {
  auto json = ToJson(SomeFacts());
  json["nodes"]["spark-1"]["links"]["enp1s0f1np1"]["mtu"] = "big";
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/spark-1/links/enp1s0f1np1/mtu: wanted an integer, found string");
  json["nodes"]["spark-1"]["links"]["enp1s0f1np1"].erase("mtu");
  EXPECT_EQ(ParseFacts(json.dump()).error().message,
            "/nodes/spark-1/links/enp1s0f1np1: 'mtu' is missing");
  EXPECT_EQ(ParseFacts(R"({"format": "x"})").error().message,
            "/format: wanted \"spark-reconcile/facts/1\", found \"x\"");
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
