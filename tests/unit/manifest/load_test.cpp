#include "reconciler/manifest/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manifest_text.h"

namespace reconciler {
namespace {

using test::ManifestText;

ClusterSpec Loaded(const std::string& yaml) {
  auto spec = LoadClusterSpec(yaml, "cluster.yaml");
  if (!spec) ADD_FAILURE() << FormatErrors(spec.error());
  return spec ? *std::move(spec) : ClusterSpec{};
}

TEST(LoadClusterSpec, FillsTheSpec) {
  ManifestText text;
  text.fabric += "  mtu: 1500\n  cage: p0\n  unused_cages: down\n";
  const ClusterSpec spec = Loaded(text.Yaml());
  EXPECT_EQ(spec.file, "cluster.yaml");
  EXPECT_EQ(spec.name, "lab");
  ASSERT_EQ(spec.nodes.size(), 2u);
  EXPECT_EQ(spec.nodes[1].name, "spark-2");
  EXPECT_EQ(spec.nodes[1].id, 2);
  EXPECT_EQ(spec.nodes[1].address, "192.168.1.22");
  EXPECT_EQ(spec.nodes[1].cage, "p0");
  EXPECT_EQ(spec.nodes[1].position, (Position{5, 5}));
  EXPECT_EQ(spec.fabric.topology, Topology::kDirect);
  EXPECT_EQ(spec.fabric.topology_position, (Position{7, 13}));
  EXPECT_EQ(spec.fabric.mtu, 1500);
  EXPECT_EQ(spec.fabric.mtu_position, (Position{9, 8}));
  EXPECT_EQ(spec.fabric.position, (Position{6, 1}));  // of the key
  EXPECT_EQ(spec.fabric.unused_cages, UnusedCages::kDown);
  ASSERT_EQ(spec.fabric.subnets.size(), 2u);
  EXPECT_EQ(ToString(spec.fabric.subnets[1]), "192.168.178.0/24");
  EXPECT_EQ(spec.fabric.subnet_positions[1], (Position{8, 31}));
  EXPECT_EQ(spec.settings.At({"fabric", "mtu"})->position, (Position{9, 8}));
}

TEST(LoadClusterSpec, ASectionOfANodeIsLaidOverTheClustersKeyByKey) {
  ManifestText text;
  text.nodes =
      "  - {name: spark-1, address: a}\n"
      "  - {name: spark-2, address: b, nccl: {env: {NCCL_DEBUG: INFO}}, memlock: 65536}\n";
  text.rest = "nccl: {mode: safe, env: {NCCL_DEBUG: WARN, NCCL_IB_TC: 106}}\nmemlock: unlimited\n";
  const ClusterSpec spec = Loaded(text.Yaml());
  const Member* nccl = spec.FindSection("spark-2", "nccl");
  ASSERT_NE(nccl, nullptr);
  EXPECT_EQ(nccl->key_position, (Position{5, 33}));
  EXPECT_EQ(nccl->value.At({"mode"})->ScalarText(), "safe");
  EXPECT_EQ(nccl->value.At({"mode"})->position.line, 9);
  EXPECT_EQ(nccl->value.At({"env", "NCCL_DEBUG"})->ScalarText(), "INFO");
  EXPECT_EQ(nccl->value.At({"env", "NCCL_DEBUG"})->position.line, 5);
  EXPECT_EQ(nccl->value.At({"env", "NCCL_IB_TC"})->ScalarText(), "106");
  EXPECT_EQ(spec.FindSection("spark-2", "memlock")->value.ScalarText(), "65536");
  EXPECT_EQ(spec.FindSection("spark-1", "memlock")->value.ScalarText(), "unlimited");
  EXPECT_EQ(spec.FindSection("spark-1", "nccl"), spec.ListSections("nccl")[0]);
  EXPECT_EQ(spec.ListSections("nccl").size(), 2u);
  EXPECT_EQ(spec.FindSection("spark-2", "sysctl"), nullptr);
}

// Else the default of a key that only the cluster says would count more than what it says.
TEST(LoadClusterSpec, ASectionOfANodeHasNoDefaults) {
  ManifestText text;
  text.nodes =
      "  - {name: spark-1, address: a, nccl: {env: {NCCL_DEBUG: INFO}}}\n"
      "  - {name: spark-2, address: b}\n";
  EXPECT_EQ(Loaded(text.Yaml()).FindSection("spark-1", "nccl")->value.Find("mode"), nullptr);
}

TEST(LoadClusterSpec, ANodesOwnAccessIsLaidOverTheClustersKeyByKey) {
  ManifestText text;
  text.access =
      "access: {user: nvidia, port: 2222, identity: ~/.ssh/k, host_keys: accept-new, become: "
      "none,\n"
      "         connect_timeout_s: 3, command_timeout_s: 4}\n";
  text.nodes =
      "  - {name: spark-1, address: a}\n"
      "  - {name: spark-2, address: b, access: {transport: local, port: 22, become: sudo,\n"
      "     host_keys: strict}}\n";
  const ClusterSpec spec = Loaded(text.Yaml());
  ASSERT_EQ(spec.nodes.size(), 2u);
  const Access shared{.user = "nvidia",
                      .port = 2222,
                      .identity = "~/.ssh/k",
                      .host_keys = HostKeys::kAcceptNew,
                      .become = Become::kNone,
                      .connect_timeout_s = 3,
                      .command_timeout_s = 4};
  EXPECT_EQ(spec.nodes[0].access, shared);
  Access own = shared;
  own.transport = TransportKind::kLocal;
  own.port = 22;
  own.host_keys = HostKeys::kStrict;
  own.become = Become::kSudo;
  EXPECT_EQ(spec.nodes[1].access, own);
}

TEST(LoadClusterSpec, TheIdIsExplicitOrTheNumberThatTheNameEndsIn) {
  ManifestText text;
  text.nodes =
      "  - {name: gx10-left, id: 7, address: a}\n"
      "  - {name: rack2-spark-012, address: b, cage: p0}\n";
  const ClusterSpec spec = Loaded(text.Yaml());
  ASSERT_EQ(spec.nodes.size(), 2u);
  EXPECT_EQ(spec.nodes[0].id, 7);
  EXPECT_EQ(spec.nodes[0].cage, "p1");
  EXPECT_EQ(spec.nodes[1].id, 12);
  EXPECT_EQ(spec.nodes[1].cage, "p0");
}

// What the entry will be is not known: neither the number of nodes is wrong, nor a name that no
// other entry has.
TEST(LoadClusterSpec, AnEmptyEntryOfNodesIsOneErrorAtItsPlace) {
  const auto list_nodes = [](int count) {
    std::string nodes;
    for (int i = 1; i <= count; ++i) {
      nodes += fmt::format("  - {{name: spark-{0}, address: host-{0}}}\n", i);
    }
    return nodes;
  };
  const std::string eight =
      "  subnets: [10.0.1.0/24, 10.0.2.0/24, 10.0.3.0/24, 10.0.4.0/24, 10.0.5.0/24,\n"
      "            10.0.6.0/24, 10.0.7.0/24, 10.0.8.0/24]\n";
  const std::string two = "  subnets: [10.0.1.0/24, 10.0.2.0/24]\n";
  struct Case {
    int nodes = 0;  // besides the empty entry
    std::string fabric = {};
    std::string rest = {};
  };
  const std::vector<Case> cases = {
      {1, "  topology: direct\n" + two},
      {2, "  topology: direct\n" + two},
      {2, "  topology: ring\n" + two},
      {3, "  topology: ring\n  ring: collectives-only\n" + eight},
      {3,
       "  ring: collectives-only\n  links: [[spark-1.p0, spark-2.p1], [spark-2.p0, spark-3.p1],\n"
       "          [spark-3.p0, spark-4.p1], [spark-4.p0, spark-1.p1]]\n" +
           eight},
      {1, "  topology: switch\n" + two,
       "switches: [{name: sw, ports: {a: spark-1.p1, b: spark-2.p1}}]\n"
       "moved: {nodes: {old: spark-2}}\n"
       "checks: [{path: nas.lan, mtu: 9000, nodes: [spark-2]}]\n"}};
  for (const Case& one : cases) {
    ManifestText text{
        .nodes = list_nodes(one.nodes) + "  -\n", .fabric = one.fabric, .rest = one.rest};
    const auto spec = LoadClusterSpec(text.Yaml(), "cluster.yaml");
    ASSERT_FALSE(spec);
    EXPECT_EQ(
        FormatErrors(spec.error()),
        fmt::format("cluster.yaml:{}:3: entry {} of 'nodes': wanted a map, found nothing\n"
                    "      -\n      ^\n"
                    "  hint: write a node such as {{name: spark-3, address: 192.168.1.23}}, or "
                    "remove the entry\n",
                    4 + one.nodes, one.nodes + 1))
        << text.Yaml();
  }
}

TEST(LoadClusterSpec, AnEmptyEntryOfTheNodesOfACheckIsOneError) {
  ManifestText text;
  text.rest = "checks: [{path: nas.lan, mtu: 9000, nodes: [spark-1, ~]}]\n";
  const auto spec = LoadClusterSpec(text.Yaml(), "cluster.yaml");
  ASSERT_FALSE(spec);
  EXPECT_EQ(FormatErrors(spec.error()),
            "cluster.yaml:9:54: entry 2 of 'nodes' in entry 1 of 'checks': wanted text, found "
            "nothing\n"
            "    checks: [{path: nas.lan, mtu: 9000, nodes: [spark-1, ~]}]\n"
            "                                                         ^\n");
}

TEST(LoadClusterSpec, LinksAloneAreATopology) {
  ManifestText text;
  text.fabric =
      "  links:\n    - [spark-1.p0, spark-2.p1]\n"
      "  subnets: [10.0.0.0/24, 10.0.1.0/24]\n";
  const ClusterSpec spec = Loaded(text.Yaml());
  EXPECT_EQ(spec.fabric.topology, Topology::kLinks);
  ASSERT_EQ(spec.fabric.links.size(), 1u);
  EXPECT_EQ(spec.fabric.links[0].a.node, "spark-1");
  EXPECT_EQ(spec.fabric.links[0].a.cage, "p0");
  EXPECT_EQ(spec.fabric.links[0].b.node, "spark-2");
  EXPECT_EQ(spec.fabric.links[0].b.cage, "p1");
  EXPECT_EQ(spec.fabric.links[0].b.position, (Position{8, 20}));
  EXPECT_EQ(spec.fabric.topology_position, (Position{8, 5}));
}

TEST(LoadClusterSpec, APairCableMayStandBesideASwitch) {
  ManifestText text;
  text.fabric =
      "  topology: switch\n  links: [[spark-1.p0, spark-2.p0]]\n"
      "  subnets: [10.0.0.0/23, 10.0.2.0/24, 10.0.3.0/24, 10.0.4.0/24]\n";
  EXPECT_EQ(Loaded(text.Yaml()).fabric.links.size(), 1u);
}

TEST(LoadClusterSpec, OneAddressMayHaveSeveralPorts) {
  ManifestText text;
  text.nodes =
      "  - {name: spark-1, address: 127.0.0.1, access: {port: 2201}}\n"
      "  - {name: spark-2, address: 127.0.0.1, access: {port: 2202}}\n";
  EXPECT_EQ(Loaded(text.Yaml()).nodes[1].access.port, 2202);
}

TEST(LoadClusterSpec, ALinkLocalAddressMayBeOfSeveralNodesOnDifferentInterfaces) {
  ManifestText text;
  text.nodes =
      "  - {name: spark-1, address: \"fe80::1%eth0\"}\n"
      "  - {name: spark-2, address: \"fe80::1%eth1\"}\n";
  EXPECT_EQ(Loaded(text.Yaml()).nodes[1].address, "fe80::1%eth1");
}

TEST(LoadClusterSpec, TheSettingsHoldEverySection) {
  ManifestText text;
  text.rest =
      "sysctl: {net.core.rmem_max: 1, vm.swappiness: 0.5, net.ipv4.ip_local_port_range: \"1 2\"}\n"
      "memlock: 65536\nssh: {mesh: true, user: nvidia}\nhosts: {manage: false}\n"
      "units: [{name: a@1.service, content: \"[Unit]\\n\", drop_ins: {10-a.conf: x}, enabled: "
      "true,\n"
      "         active: false, nodes: [spark-2]}]\n"
      "verify: {level: link}\n";
  const Value settings = Loaded(text.Yaml()).settings;
  EXPECT_EQ(settings.At({"sysctl", "net.ipv4.ip_local_port_range"})->ScalarText(), "1 2");
  EXPECT_EQ(*settings.Find("memlock")->AsInteger(), 65536);
  EXPECT_FALSE(*settings.At({"hosts", "manage"})->AsBool());
  EXPECT_EQ(*settings.Find("units")->List()[0].Find("content")->AsString(), "[Unit]\n");
}

TEST(LoadClusterSpec, TheDigestIsOfTheContent) {
  const ManifestText text;
  const std::string digest = Loaded(text.Yaml()).digest;
  EXPECT_EQ(digest.size(), 64u);
  EXPECT_EQ(Loaded("# a comment\n" + text.Yaml()).digest, digest);

  ManifestText default_said = text;
  default_said.fabric += "  mtu: 9000\n";
  EXPECT_EQ(Loaded(default_said.Yaml()).digest, digest);

  ManifestText other_layout = text;
  other_layout.fabric =
      "  subnets:\n    - '192.168.177.0/24'\n    - 192.168.178.0/24\n  topology: direct\n";
  EXPECT_EQ(Loaded(other_layout.Yaml()).digest, digest);

  ManifestText other_mtu = text;
  other_mtu.fabric += "  mtu: 1500\n";
  EXPECT_NE(Loaded(other_mtu.Yaml()).digest, digest);
}

TEST(LoadClusterSpec, AThousandNodesLoad) {
  ManifestText text;
  text.nodes.clear();
  for (int i = 1; i <= 1000; ++i) {
    const std::string n = std::to_string(i);
    text.nodes += "  - {name: spark-" + n + ", address: host-" + n + "}\n";
  }
  text.fabric = "  topology: switch\n  subnets: [10.0.0.0/16, 10.1.0.0/16]\n";
  EXPECT_EQ(Loaded(text.Yaml()).nodes.size(), 1000u);
}

}  // namespace
}  // namespace reconciler
