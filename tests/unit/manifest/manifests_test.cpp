#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"

namespace reconciler {
namespace {

namespace fs = std::filesystem;

const fs::path kManifests = fs::path(SPARK_SOURCE_DIR) / "manifests";

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
