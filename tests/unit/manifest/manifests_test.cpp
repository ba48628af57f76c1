#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/manifest/starter.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

namespace fs = std::filesystem;

const fs::path kManifests = test::SourceDir() + "/manifests";

std::string ReadManifest(const std::string& name) {
  std::ifstream file(kManifests / name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "spark-2 enp1s0f1np1" to "192.168.177.2/24".
std::map<std::string, std::string> Addresses(const std::string& name) {
  std::map<std::string, std::string> addresses;
  const auto spec = LoadClusterSpec(ReadManifest(name), name);
  EXPECT_TRUE(spec) << FormatErrors(spec.error());
  if (!spec) return addresses;
  const auto fabric = ExpandFabric(*spec);
  EXPECT_TRUE(fabric) << FormatErrors(fabric.error());
  if (!fabric) return addresses;
  for (const auto& [node, ports] : fabric->ports) {
    for (const RailPort& port : ports) addresses[node + " " + port.netdev] = ToString(port.address);
  }
  return addresses;
}

TEST(Manifests, EveryExampleLoadsAndNamesItsSchema) {
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(kManifests)) {
    if (entry.path().extension() != ".yaml") continue;
    ++seen;
    const std::string name = entry.path().filename();
    EXPECT_TRUE(ReadManifest(name).starts_with(
        "# yaml-language-server: $schema=../schema/cluster.schema.json\n"))
        << name;
    EXPECT_FALSE(Addresses(name).empty()) << name;
  }
  EXPECT_GE(seen, 4);
}

// But for the schema's line, and the title where it names other examples.
TEST(Starter, IsTheExampleOfItsTopology) {
  const auto drop_lines = [](std::string text, int count) {
    while (count-- > 0) text.erase(0, text.find('\n') + 1);
    return text;
  };
  EXPECT_EQ(FormatStarter({}), drop_lines(ReadManifest("pair.yaml"), 1));
  EXPECT_EQ(FormatStarter({.topology = Topology::kRing, .nodes = 3}),
            drop_lines(ReadManifest("ring-3.yaml"), 1));
  for (const std::size_t nodes : {std::size_t{4}, std::size_t{8}}) {
    const std::string text = FormatStarter({.topology = Topology::kSwitch, .nodes = nodes});
    EXPECT_TRUE(text.starts_with(fmt::format("# {} DGX Sparks on a switch.\n", nodes)));
    EXPECT_EQ(drop_lines(text, 1),
              drop_lines(ReadManifest(fmt::format("switch-{}.yaml", nodes)), 2));
  }
}

TEST(Starter, EveryNumberOfNodesThatIsAcceptedMakesAValidManifest) {
  for (std::size_t nodes = 2; nodes <= 64; ++nodes) {
    const Starter starter{.topology = Topology::kSwitch, .nodes = nodes};
    ASSERT_EQ(ExplainBadStarter(starter), "");
    const auto spec = LoadClusterSpec(FormatStarter(starter), "cluster.yaml");
    ASSERT_TRUE(spec) << FormatErrors(spec.error());
    EXPECT_EQ(spec->nodes.size(), nodes);
  }
}

TEST(Starter, HasTheAddressesAndTheUserThatWereGiven) {
  const auto spec =
      LoadClusterSpec(FormatStarter({.addresses = {"10.0.0.7"}, .user = "ada"}), "cluster.yaml");
  ASSERT_TRUE(spec) << FormatErrors(spec.error());
  EXPECT_EQ(spec->nodes[0].address, "10.0.0.7");
  EXPECT_EQ(spec->nodes[1].address, "192.168.1.22");
  EXPECT_EQ(spec->nodes[0].access.user, "ada");
}

TEST(Starter, TextThatYamlWouldReadAsSomethingElseIsInQuotes) {
  const auto load = [](const Starter& starter) {
    return LoadClusterSpec(FormatStarter(starter), "cluster.yaml");
  };
  const auto spec = load({.addresses = {"fd00::7", "null"}, .user = "null", .users = {"", "true"}});
  ASSERT_TRUE(spec) << FormatErrors(spec.error());
  EXPECT_EQ(spec->nodes[0].access.user, "null");
  EXPECT_EQ(spec->nodes[1].access.user, "true");
  EXPECT_EQ(spec->nodes[0].address, "fd00::7");
  EXPECT_EQ(spec->nodes[1].address, "null");
  for (const std::string user : {"123", "~", "a: b", "a}, x: {y"}) {
    const auto refused = load({.user = user});
    ASSERT_FALSE(refused);
    ASSERT_EQ(refused.error().size(), 1u);
    EXPECT_EQ(refused.error()[0].message,
              "'user' in access: wanted a login name, found '" + user + "'");
  }
}

TEST(Starter, NodesThatDoNotFitTheTopologyAreExplained) {
  EXPECT_EQ(ExplainBadStarter({.nodes = 3}), "wanted 2 nodes for one cable between them, found 3");
  EXPECT_EQ(ExplainBadStarter({.topology = Topology::kRing, .nodes = 4}),
            "wanted 3 nodes for a ring without a switch, found 4");
  EXPECT_EQ(ExplainBadStarter({.topology = Topology::kSwitch, .nodes = 1}),
            "wanted 2 to 64 nodes on a switch, found 1");
  EXPECT_EQ(ExplainBadStarter({.addresses = {"a", "b", "c"}}),
            "wanted at most 2 addresses, one per node, found 3");
  EXPECT_EQ(ExplainBadStarter({.topology = Topology::kLinks}),
            "wanted the topology direct, ring or switch: the others begin as one of manifests/");
}

TEST(Manifests, GrowingFromTwoToFourToEightRenumbersNothing) {
  const auto two = Addresses("pair.yaml");
  const auto four = Addresses("switch-4.yaml");
  const auto eight = Addresses("switch-8.yaml");
  EXPECT_EQ(two.size(), 4u);
  EXPECT_EQ(four.size(), 8u);
  EXPECT_EQ(eight.size(), 16u);
  for (const auto& [port, address] : two) EXPECT_EQ(four.at(port), address) << port;
  for (const auto& [port, address] : four) EXPECT_EQ(eight.at(port), address) << port;
}

TEST(Manifests, TheRingIsCabledAsItsCommentsSay) {
  const auto ring = Addresses("ring-3.yaml");
  EXPECT_EQ(ring.size(), 12u);
  EXPECT_EQ(ring.at("spark-1 enp1s0f0np0"), "192.168.177.1/24");
  EXPECT_EQ(ring.at("spark-2 enp1s0f1np1"), "192.168.177.2/24");
  EXPECT_EQ(ring.at("spark-3 enP2p1s0f0np0"), "192.168.182.3/24");
  EXPECT_EQ(ring.at("spark-1 enP2p1s0f1np1"), "192.168.182.1/24");
}

}  // namespace
}  // namespace reconciler
