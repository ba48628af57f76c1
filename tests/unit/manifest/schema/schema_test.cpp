#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "reconciler/manifest/load.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "tests/support/manifest_text.h"

namespace reconciler {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Visit = std::function<void(const std::string& path, const json& schema)>;

// Every schema within the cluster schema: properties, entries of lists, branches.
void Walk(const std::string& path, const json& schema, const Visit& visit) {
  visit(path, schema);
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, property] : properties.items()) {
    Walk(path + "/" + name, property, visit);
  }
  if (schema.contains("items")) Walk(path + "[]", schema["items"], visit);
  if (schema.value("additionalProperties", json()).is_object()) {
    Walk(path + "{}", schema["additionalProperties"], visit);
  }
  if (schema.contains("propertyNames")) Walk(path + "{key}", schema["propertyNames"], visit);
  for (const json& branch : schema.value("anyOf", json::array())) Walk(path + "|", branch, visit);
}

std::vector<std::string> PathsWhere(
    const std::function<bool(const std::string&, const json&)>& bad) {
  std::vector<std::string> paths;
  Walk("", GetClusterSchema(), [&](const std::string& path, const json& schema) {
    if (bad(path, schema)) paths.push_back(path);
  });
  return paths;
}

TEST(GetClusterSchema, EveryPropertyHasADescription) {
  EXPECT_THAT(PathsWhere([](const std::string& path, const json& schema) {
                const bool is_part = path.ends_with('|') || path.ends_with("{key}");
                return !is_part && schema.value("description", "").empty();
              }),
              IsEmpty());
}

TEST(GetClusterSchema, EveryMapSaysWhatElseItMayHold) {
  EXPECT_THAT(PathsWhere([](const std::string&, const json& schema) {
                return schema.value("type", json()) == "object" &&
                       !schema.contains("additionalProperties");
              }),
              IsEmpty());
}

TEST(GetClusterSchema, EveryPatternHasALengthLimitAndWordsForPeople) {
  EXPECT_THAT(PathsWhere([](const std::string&, const json& schema) {
                return schema.contains("pattern") &&
                       !(schema.contains("maxLength") && schema.contains("patternErrorMessage"));
              }),
              IsEmpty());
}

// What CheckSchema has good text for. A new keyword needs it too.
TEST(GetClusterSchema, UsesOnlyKeywordsThatMessagesExplain) {
  const std::set<std::string> known = {
      "$schema",     "title",     "description",   "default",
      "type",        "enum",      "anyOf",         "required",
      "properties",  "pattern",   "minimum",       "additionalProperties",
      "maximum",     "minItems",  "maxItems",      "uniqueItems",
      "items",       "maxLength", "propertyNames", "patternErrorMessage",
      "singleValue", "emptyHint", "unit",          "booleanHints"};
  EXPECT_THAT(PathsWhere([&](const std::string&, const json& schema) {
                for (const auto& keyword : schema.items()) {
                  if (!known.contains(keyword.key())) return true;
                }
                return false;
              }),
              IsEmpty());
}

TEST(GetClusterSchema, DefaultsAgreeWithTheStructs) {
  std::set<std::string> defaults;
  Walk("", GetClusterSchema(), [&](const std::string& path, const json& schema) {
    if (schema.contains("default")) defaults.insert(path);
  });
  EXPECT_THAT(
      defaults,
      UnorderedElementsAre(
          "/access", "/access/transport", "/access/host_keys", "/access/become",
          "/access/connect_timeout_s", "/access/command_timeout_s", "/fabric/arp", "/fabric/cage",
          "/fabric/mtu", "/fabric/twins", "/fabric/unused_cages", "/hosts", "/hosts/manage",
          "/max_prune", "/nccl/mode", "/verify", "/verify/level", "/verify/size",
          "/nodes[]/hardware", "/hardware{}/cage_gbps", "/hardware{}/pcie_generation",
          "/hardware{}/pcie_lanes", "/switches[]/os", "/switches[]/speed_gbps", "/switches[]/fec",
          "/switches[]/l2mtu", "/switches[]/bridge", "/switches[]/qos"));

  const auto spec = LoadClusterSpec(test::ManifestText().Yaml(), "cluster.yaml");
  ASSERT_TRUE(spec) << FormatErrors(spec.error());
  EXPECT_EQ(spec->nodes[0].access, Access());
  EXPECT_EQ(spec->nodes[0].cage, "p1");
  EXPECT_EQ(spec->nodes[0].hardware, "dgx-spark");
  EXPECT_EQ(spec->fabric.mtu, FabricSpec().mtu);
  EXPECT_EQ(spec->fabric.unused_cages, FabricSpec().unused_cages);
  EXPECT_EQ(spec->fabric.twins, FabricSpec().twins);
  // The structs' own defaults, seen through the document.
  const Value& settings = spec->settings;
  EXPECT_EQ(settings.At({"access", "transport"})->ScalarText(), "ssh");
  EXPECT_EQ(settings.At({"access", "host_keys"})->ScalarText(), "strict");
  EXPECT_EQ(settings.At({"access", "become"})->ScalarText(), "sudo");
  EXPECT_EQ(settings.At({"access", "connect_timeout_s"})->ScalarText(), "10");
  EXPECT_EQ(settings.At({"access", "command_timeout_s"})->ScalarText(), "60");
  EXPECT_EQ(settings.At({"fabric", "arp"})->ScalarText(), "manage");
  EXPECT_EQ(settings.At({"fabric", "cage"})->ScalarText(), "p1");
  EXPECT_EQ(settings.At({"fabric", "mtu"})->ScalarText(), "9000");
  EXPECT_EQ(settings.At({"fabric", "twins"})->ScalarText(), "both");
  EXPECT_EQ(settings.At({"fabric", "unused_cages"})->ScalarText(), "ignore");
  EXPECT_EQ(settings.At({"hosts", "manage"})->ScalarText(), "true");
  EXPECT_EQ(settings.At({"max_prune"})->ScalarText(), "10");
  EXPECT_EQ(settings.At({"verify", "level"})->ScalarText(), "auto");
  EXPECT_EQ(settings.At({"verify", "size"})->ScalarText(), "1GiB");
}

TEST(GetClusterSchema, DefaultsOfSwitchesAndHardwareAgreeWithTheStructs) {
  test::ManifestText text;
  text.fabric = "  topology: switch\n  subnets: [192.168.177.0/24, 192.168.178.0/24]\n";
  text.rest =
      "switches: [{name: leaf, ports: {swp1: spark-1.p1, swp2: spark-2.p1}}]\n"
      "hardware: {mine: {cages: {p1: [{netdev: a, hca: b, pci: 0000:01:00.0}]}}}\n";
  const auto spec = LoadClusterSpec(text.Yaml(), "cluster.yaml");
  ASSERT_TRUE(spec) << FormatErrors(spec.error());
  const SwitchSpec wanted;
  const SwitchSpec& one = spec->switches.at(0);
  EXPECT_EQ(one.os, wanted.os);
  EXPECT_EQ(one.fec, wanted.fec);
  EXPECT_EQ(one.l2mtu, wanted.l2mtu);
  EXPECT_EQ(one.bridge, wanted.bridge);
  EXPECT_EQ(one.qos, wanted.qos);
  EXPECT_EQ(one.ports.at(0).gbps, SwitchPort().gbps);
  const Hardware& mine = spec->hardware.at(0);
  EXPECT_EQ(mine.cage_gbps, Hardware().cage_gbps);
  EXPECT_EQ(mine.pcie_generation, Hardware().pcie_generation);
  EXPECT_EQ(mine.pcie_lanes, Hardware().pcie_lanes);
  // The structs' own defaults, seen through the document.
  EXPECT_EQ(spec->settings.Find("switches")->List()[0].Find("l2mtu")->ScalarText(), "9216");
  EXPECT_EQ(spec->settings.At({"hardware", "mine", "pcie_lanes"})->ScalarText(), "4");
}

TEST(GetClusterSchema, SectionsThatAreNotMentionedStayUnmanaged) {
  const auto spec = LoadClusterSpec(test::ManifestText().Yaml(), "cluster.yaml");
  ASSERT_TRUE(spec);
  for (const auto* section : {"sysctl", "memlock", "ssh", "units", "switches", "hardware"}) {
    EXPECT_EQ(spec->settings.Find(section), nullptr) << section;
  }
}

}  // namespace
}  // namespace reconciler
