#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cluster/cluster.h"
#include "tests/cases/plan_case.h"
#include "tests/support/paths.h"

// manifests/guides: what docs/guides.md compares with guides for DGX Sparks.
namespace reconciler {
namespace {

const std::string kGuides = test::SourceDir() + "/manifests/guides";

std::vector<std::string> ListGuides() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGuides)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Guides, EachManifestIsValidWithAllPlugins) {
  ASSERT_EQ(ListGuides().size(), 5U);
  for (const std::string& name : ListGuides()) {
    const std::string text = test::ReadAll(kGuides + "/" + name);
    EXPECT_TRUE(
        text.starts_with("# yaml-language-server: $schema=../../schema/cluster.schema.json\n"))
        << name;
    const auto cluster = BuildCluster(text, name, plugins::GetAll(), {});
    EXPECT_TRUE(cluster) << FormatErrors(cluster.error());
  }
}

TEST(Guides, ThePageComparesEachOfThem) {
  const std::string page = test::ReadAll(test::SourceDir() + "/docs/guides.md");
  for (const std::string& name : ListGuides()) {
    EXPECT_NE(page.find("../manifests/guides/" + name), std::string::npos) << name;
  }
}

// What the guide says at that step, written into its manifest; and what comes of it.
struct Refusal {
  std::string guide;
  std::string step;
  std::string from;  // text of the manifest, which `to` takes the place of
  std::string to;
  std::string message;  // empty: it is taken
};

std::vector<Refusal> ListRefusalsOfNccl() {
  const std::string stacked = "001-stack-two-sparks.yaml";
  const std::string direct = "003-direct-fabric-storage.yaml";
  const std::string proto = "env: {NCCL_PROTO: Simple";
  const std::string algo = "NCCL_ALGO: Ring";
  return {
      {"000-two-sparks-vllm.yaml", "`NCCL_IB_DISABLE=0`", "bootstrap: fabric,",
       "bootstrap: fabric, env: {NCCL_IB_DISABLE: 1},",
       "nccl.env: NCCL_IB_DISABLE: turns RDMA off: all traffic would go over TCP"},
      {stacked, "`NCCL_MERGE_LEVEL=SYS`", proto, proto + ", NCCL_MERGE_LEVEL: SYS",
       "nccl.env: NCCL_MERGE_LEVEL: no NCCL reads it"},
      {stacked, "`NCCL_DEBUG_SUBSYS=TUNING`", proto, proto + ", NCCL_DEBUG_SUBSYS: TUNING", ""},
      {"002-rdma-cluster.yaml", "`NCCL_NET_GDR_LEVEL=5`", "bootstrap: fabric}",
       "bootstrap: fabric, env: {NCCL_NET_GDR_LEVEL: 5}}",
       "nccl.env: NCCL_NET_GDR_LEVEL: is decided by nccl.mode"},
      {direct, "`NCCL_DMABUF_ENABLE`", algo, "NCCL_DMABUF_ENABLE: 1",
       "nccl.env: NCCL_DMABUF_ENABLE: has no effect here: it is on by default and promises "
       "nothing; nccl.mode decides"},
      {direct, "`NCCL_MIN_NCHANNELS=4`", algo, "NCCL_MIN_NCHANNELS: 4", ""},
      {direct, "`NCCL_ALGO=Tree` for eight nodes", algo, "NCCL_ALGO: Tree",
       "nccl.env: NCCL_ALGO: only all_reduce can use a tree: all_gather ends with an error, or "
       "ignores this"},
      {direct, "`NCCL_TIMEOUT`, `NCCL_NCHANNELS`", algo, "NCCL_TIMEOUT: 1800",
       "nccl.env: NCCL_TIMEOUT: no NCCL reads it"},
      {direct, "`NCCL_TIMEOUT`, `NCCL_NCHANNELS`", algo, "NCCL_NCHANNELS: 4",
       "nccl.env: NCCL_NCHANNELS: no NCCL reads it"},
  };
}

std::vector<Refusal> ListRefusals() {
  const std::string stacked = "001-stack-two-sparks.yaml";
  const std::string rdma = "002-rdma-cluster.yaml";
  const std::string direct = "003-direct-fabric-storage.yaml";
  std::vector<Refusal> refusals = {
      {"000-two-sparks-vllm.yaml", "ssh without host key checks for mpirun", "mesh: true",
       "mesh: true, host_key_checking: false", "unknown key 'host_key_checking' in ssh"},
      {stacked, "`all_gather_perf`, 32 GB", "level: auto", "level: auto, size: 32GiB",
       "wanted a size from 1MiB to 16GiB, found 32GiB"},
      {rdma, "`renderer: NetworkManager` below one interface", "  cage: p0\n",
       "  cage: p0\n  renderer: NetworkManager\n", "unknown key 'renderer' in fabric"},
      {rdma, "`ufw disable` for a test", "ssh: {mesh: true}\n",
       "ssh: {mesh: true}\nfirewall: {enabled: false}\n", "unknown key 'enabled' in firewall"},
      {direct, "`/dev/nvme1n1` in fstab", "label: models", "device: /dev/nvme1n1",
       "unknown key 'device' in entry 3 of 'storage'"},
      {direct, "ext4 mounted for writing on both nodes", "read_only: true, nodes", "nodes",
       "storage: /mnt/storage: wanted one node that writes to the ext4 of raid5-data, found "
       "spark-dgx-1 and spark-dgx-2"},
      {"004-spark-and-workstation.yaml", "Wi-Fi and the management port in the same file",
       "  mtu: 9000\n", "  mtu: 9000\n  wifis: {wlP9s9: {dhcp4: true}}\n",
       "unknown key 'wifis' in fabric"},
  };
  for (Refusal& one : ListRefusalsOfNccl()) refusals.push_back(std::move(one));
  return refusals;
}

std::string ReadFirstError(const Refusal& refusal) {
  std::string text = test::ReadAll(kGuides + "/" + refusal.guide);
  const std::size_t at = text.find(refusal.from);
  if (at == std::string::npos) return "the manifest has no " + refusal.from;
  text.replace(at, refusal.from.size(), refusal.to);
  const auto cluster = BuildCluster(text, refusal.guide, plugins::GetAll(), {});
  return cluster ? "" : cluster.error().front().message;
}

TEST(Guides, WhatThePageCallsRefusedIsAnErrorOfTheGuidesManifest) {
  for (const Refusal& refusal : ListRefusals()) {
    EXPECT_EQ(ReadFirstError(refusal), refusal.message) << refusal.step;
  }
}

// Guides and steps of the rows whose last column names this suite.
std::set<std::pair<std::string, std::string>> ListRowsWithThisTest() {
  std::set<std::pair<std::string, std::string>> rows;
  std::string guide;
  for (const std::string& line : SplitLines(test::ReadAll(test::SourceDir() + "/docs/guides.md"))) {
    for (const std::string& name : ListGuides()) {
      if (line.find("../manifests/guides/" + name) != std::string::npos) guide = name;
    }
    const std::size_t end = line.find(" | ");
    const std::size_t last = line.rfind(" | ");
    if (!line.starts_with("| ") || last == std::string::npos) continue;
    if (line.find("`Guides`", last) != std::string::npos) {
      rows.emplace(guide, line.substr(2, end - 2));
    }
  }
  return rows;
}

TEST(Guides, EachRowThatNamesThisTestHasItsRefusal) {
  std::set<std::pair<std::string, std::string>> tested;
  for (const Refusal& refusal : ListRefusals()) tested.emplace(refusal.guide, refusal.step);
  EXPECT_EQ(tested, ListRowsWithThisTest());
}

}  // namespace
}  // namespace reconciler
