#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/registry.h"
#include "reconciler/base/json/document.h"
#include "reconciler/fabric/bootstrap.h"
#include "reconciler/fabric/drawing/hostfile.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/cases/plan_case.h"
#include "tests/cases/svg_shapes.h"
#include "tests/support/paths.h"

// Every topology as a person sees it (graph.txt), as its nodes get it (netplan.txt, nccl.txt)
// and as a launcher does (hostfile.txt), with its three drawings.
namespace reconciler {
namespace {

const std::string kSource = test::SourceDir();

// Folders below tests/cases: fabric/NAME has a manifest of its own, guides/NAME that of the guide.
std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/tests/cases/fabric")) {
    names.push_back("fabric/" + entry.path().filename().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/manifests/guides")) {
    names.push_back("guides/" + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void ExpectValid(const char* name, const nlohmann::ordered_json& document) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema(name));
  EXPECT_EQ(JudgeBySchema(AddHead(document, {"0.1.0", "2026-11-25T00:00:00Z"}), schema),
            std::nullopt);
}

std::string FindManifest(const std::string& name) {
  return name.starts_with("guides/") ? kSource + "/manifests/" + name + ".yaml"
                                     : kSource + "/tests/cases/" + name + "/cluster.yaml";
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
  return name;
}

LinkFact Link() {
  return {.mtu = 1500, .admin_up = true, .carrier = true, .manager = LinkManager::kNetworkd};
}

// A node of which nothing but its ports and its management address is known to be there.
NodeFacts BareNode(const ClusterSpec& cluster, const NodeSpec& node) {
  NodeFacts facts{.node = node.name};
  facts.session.address = "192.168.1.1";
  facts.session.interface = "enP7s7";
  facts.links["enP7s7"] = Link();
  facts.links["enP7s7"].ipv4 = {*ParseIpv4Prefix(node.address + "/24")};
  for (const Cage& cage : cluster.FindHardware(node)->cages) {
    for (const Twin& twin : cage.twins) facts.links[twin.netdev] = Link();
  }
  for (const char* path :
       {"/etc/netplan/60-spark-reconcile.yaml",
        "/etc/NetworkManager/conf.d/60-spark-reconcile.conf",
        "/etc/profile.d/60-spark-reconcile-nccl.sh", "/etc/spark-reconcile/nccl.env"}) {
    facts.files[path] = Absent{};
  }
  facts.network.links = 5;
  facts.network.default_route = std::vector<std::string>{"enP7s7"};
  facts.nccl.settings = std::vector<NcclSetting>{};
  facts.nccl.library = Absent{};
  facts.gpudirect.driver = Absent{};
  return facts;
}

ClusterFacts BareNodes(const ClusterSpec& cluster) {
  ClusterFacts facts;
  for (const NodeSpec& node : cluster.nodes) facts.nodes[node.name] = BareNode(cluster, node);
  return facts;
}

// The files of one plugin on every node, each below its name.
std::string FilesText(std::string_view plugin, const ClusterSpec& cluster, const Fabric& fabric) {
  const ClusterFacts facts = BareNodes(cluster);
  std::string text;
  for (const Plugin& one : plugins::GetAll()) {
    if (one.name != plugin) continue;
    for (const NodeSpec& node : cluster.nodes) {
      for (const Resource& file :
           one.resources({cluster, fabric, node, facts.nodes.at(node.name), facts})) {
        const auto* state = std::get_if<ResourceState>(&file.desired);
        if (file.kind != "file" || state == nullptr) continue;
        EXPECT_EQ(file.blocked.why, "") << node.name << ' ' << file.name;
        text +=
            fmt::format("=== {} {}\n{}", node.name, file.name, std::get<FileState>(*state).content);
      }
    }
  }
  return text;
}

class FabricCases : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto cluster = LoadClusterSpec(test::ReadAll(FindManifest(GetParam())), "cluster.yaml");
    ASSERT_TRUE(cluster) << FormatErrors(cluster.error());
    auto fabric = ExpandFabric(*cluster);
    ASSERT_TRUE(fabric) << FormatErrors(fabric.error());
    cluster_ = std::move(*cluster);
    fabric_ = std::move(*fabric);
  }

  void Reads(const std::string& file, const std::string& text) {
    const std::string path = kSource + "/tests/cases/" + GetParam() + "/" + file;
    if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
      std::ofstream(path, std::ios::binary) << text;
    } else {
      EXPECT_EQ(text, test::ReadAll(path)) << file;
    }
  }

  ClusterSpec cluster_;
  Fabric fabric_;
};

TEST_P(FabricCases, GraphReadsLikeThis) { Reads("graph.txt", DrawFabricText(cluster_, fabric_)); }

TEST_P(FabricCases, NetplanFilesReadLikeThis) {
  Reads("netplan.txt", FilesText("netplan", cluster_, fabric_));
}

TEST_P(FabricCases, NcclFilesReadLikeThis) {
  Reads("nccl.txt", FilesText("nccl", cluster_, fabric_));
}

TEST_P(FabricCases, HostfilesReadLikeThis) {
  // As the command does: on the network over which the manifest has the ranks meet.
  const Segment* rail = ReadBootstrap(cluster_) == Bootstrap::kFabric
                            ? FindBootstrapRail(cluster_, fabric_)
                            : nullptr;
  Reads("hostfile.txt", FormatHostfile(cluster_, fabric_, HostfileKind::kOpenMpi, rail) +
                            FormatHostfile(cluster_, fabric_, HostfileKind::kMpich, rail) +
                            FormatHostfile(cluster_, fabric_, HostfileKind::kTorchrun, rail));
}

TEST_P(FabricCases, WhatProgramsReadIsValidAndNamesTheSameNodes) {
  const Drawing drawing = BuildDrawing(cluster_, fabric_);
  const auto graph = DrawJson(cluster_, fabric_, drawing);
  ExpectValid("graph", graph);
  const auto hosts = HostfileToJson(cluster_, fabric_);
  ExpectValid("hostfile", hosts);
  EXPECT_EQ(graph["cables"].size(), drawing.cables.size());
  std::vector<NodeName> order;
  for (const auto& node : hosts["nodes"]) order.push_back(node["name"]);
  EXPECT_EQ(graph["ring"]["order"].get<std::vector<NodeName>>(), order);
  const std::size_t count = cluster_.nodes.size();
  EXPECT_EQ(graph["pairs"].size(), count * (count - 1) / 2);
}

TEST_P(FabricCases, DrawingsReadLikeThis) {
  const Drawing drawing = BuildDrawing(cluster_, fabric_);
  Reads("graph.dot", DrawDot(drawing));
  Reads("graph.mmd", DrawMermaid(drawing));
  Reads("graph.svg", DrawSvg(drawing));
}

// The drawing of the manifest alone, and with the longest rates that a report can give it.
std::vector<test::SvgShapes> ReadDrawings(const ClusterSpec& cluster, const Fabric& fabric) {
  const Drawing drawing = BuildDrawing(cluster, fabric);
  CableRates rates(drawing.cables.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (drawing.devices[drawing.cables[i].from].is_switch) continue;  // not measured on its own
    rates[i] = {.gbps = 188.8, .share = 0.9};
  }
  return {test::ReadSvg(DrawSvg(drawing)), test::ReadSvg(DrawSvg(drawing, rates))};
}

TEST_P(FabricCases, LabelsOverlapNeitherEachOtherNorACable) {
  for (const test::SvgShapes& shapes : ReadDrawings(cluster_, fabric_)) {
    ASSERT_GE(shapes.labels.size(), cluster_.nodes.size() + fabric_.wires.size());
    ASSERT_EQ(shapes.cables.size(), fabric_.wires.size());
    for (std::size_t i = 0; i < shapes.labels.size(); ++i) {
      const test::SvgBox& label = shapes.labels[i];
      EXPECT_TRUE(IsWithin(label, shapes.canvas)) << label.text;
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(Overlap(label, shapes.labels[j])) << label.text << shapes.labels[j].text;
      }
      for (const auto& cable : shapes.cables) {
        for (const test::SvgBox& part : cable) EXPECT_FALSE(Overlap(label, part)) << label.text;
      }
    }
  }
}

bool IsUpright(const test::SvgBox& part) { return part.bottom - part.top > part.right - part.left; }

// They may cross.
TEST_P(FabricCases, NoCableLiesOnAnotherOne) {
  const test::SvgShapes shapes = ReadDrawings(cluster_, fabric_).front();
  for (std::size_t i = 0; i < shapes.cables.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (const test::SvgBox& a : shapes.cables[i]) {
        for (const test::SvgBox& b : shapes.cables[j]) {
          EXPECT_FALSE(IsUpright(a) == IsUpright(b) && Overlap(a, b)) << i << " and " << j;
        }
      }
    }
  }
}

// As seen from the back of a Spark: p0 is next to the RJ45 port (docs/hardware.md).
TEST_P(FabricCases, P0IsLeftOfP1) {
  const test::SvgShapes shapes = ReadDrawings(cluster_, fabric_).front();
  ASSERT_EQ(shapes.nodes.size(), cluster_.nodes.size());
  const auto find = [&](const test::SvgBox& node, std::string_view cage) {
    return std::find_if(shapes.labels.begin(), shapes.labels.end(), [&](const test::SvgBox& label) {
      return label.text == cage && IsWithin(label, node);
    });
  };
  for (const test::SvgBox& node : shapes.nodes) {
    const auto p0 = find(node, "p0");
    const auto p1 = find(node, "p1");
    if (p0 != shapes.labels.end() && p1 != shapes.labels.end()) {
      EXPECT_LT(p0->right, p1->left);
      EXPECT_EQ(p0->top, p1->top);
    }
  }
}

// A4 in landscape is 297 by 210 mm; 10 mm of it are the margin of each side. 96 pixels are an inch.
TEST_P(FabricCases, TheDrawingFitsOnAPageAndFillsItWhereItIsLarge) {
  for (const test::SvgShapes& shapes : ReadDrawings(cluster_, fabric_)) {
    constexpr double kInch = 25.4;
    EXPECT_LE(shapes.width / 96 * kInch, 277);
    EXPECT_LE(shapes.height / 96 * kInch, 190);
    const double scale = shapes.width / (shapes.canvas.right - shapes.canvas.left);
    EXPECT_GE(scale, 0.5) << "text of 12 px would be smaller than 4.5 pt";
  }
}

// Whatever the topology: no one's address moves when the manifest names its nodes in another order.
TEST_P(FabricCases, TheOrderOfTheNodesMovesNoAddress) {
  ClusterSpec turned = cluster_;
  std::reverse(turned.nodes.begin(), turned.nodes.end());
  const auto fabric = ExpandFabric(turned);
  ASSERT_TRUE(fabric) << FormatErrors(fabric.error());
  for (const auto& [node, ports] : fabric_.ports) {
    const std::vector<RailPort>& after = fabric->ports.at(node);
    ASSERT_EQ(after.size(), ports.size()) << node;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      EXPECT_EQ(after[i].address, ports[i].address) << node;
      EXPECT_EQ(after[i].netdev, ports[i].netdev) << node;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fabric, FabricCases, testing::ValuesIn(CaseNames()), TestName);

}  // namespace
}  // namespace reconciler
