#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reconciler/base/mark.h"
#include "tests/property/hostile_text.h"
#include "tests/property/world.h"

namespace reconciler {
namespace {

void ApplyEverywhere(test::World& world) {
  const Plan plan = world.MakePlan();
  for (const NodeSpec& node : world.cluster.nodes)
    ApplyFiles(plan, node, world.nodes.at(node.name));
}

const std::vector<std::string> kWholeFiles = {"/etc/sysctl.d/60-spark-reconcile.conf",
                                              "/etc/systemd/system/u0.service"};

// Files that stood there before us may hold anything; netplan's own must be YAML. A whole file has
// `mark` before it.
void PutStrangersIn(test::FakeNode& node, const std::string& user, const std::string& mark) {
  std::vector<std::string> paths = {"/etc/hosts", "~" + user + "/.ssh/authorized_keys",
                                    "~" + user + "/.ssh/known_hosts", "~" + user + "/.ssh/config"};
  paths.insert(paths.end(), kWholeFiles.begin(), kWholeFiles.end());
  for (const std::string& path : paths) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    const bool whole = std::find(kWholeFiles.begin(), kWholeFiles.end(), path) != kWholeFiles.end();
    node.files[path] = {.content = (whole ? mark : "") + test::HostileBytes(),
                        .mode = *rc::gen::element(0600u, 0644u, 0666u, 0777u),
                        .owner = *rc::gen::element<std::string>("root", "mallory")};
  }
}

RC_GTEST_PROP(Plan, FilesHoldOnceTheyAreWritten, ()) {
  const test::ManifestParts parts = test::AnyManifest(2, 4);
  test::World world = test::WorldOf(parts);
  for (auto& [name, node] : world.nodes) {
    PutStrangersIn(node, parts.user, OwnedFile(world.cluster.name, ""));
  }
  ApplyEverywhere(world);  // makes the key pairs
  ApplyEverywhere(world);  // writes what waited for them
  for (const Stage& stage : world.MakePlan().stages) {
    for (const Change& change : stage.changes) {
      if (change.kind == "file") RC_FAIL(change.Id() + ": " + change.detail + "\n" + change.diff);
    }
  }
}

RC_GTEST_PROP(Plan, WholeFilesThatOthersWroteAreNeverChanged, ()) {
  const test::ManifestParts parts = test::AnyManifest(2, 4);
  test::World world = test::WorldOf(parts);
  for (auto& [name, node] : world.nodes) {
    PutStrangersIn(node, parts.user,
                   *rc::gen::element<std::string>("#", OwnedFile(world.cluster.name + "x", "")));
  }
  const auto before = world.nodes;
  ApplyEverywhere(world);
  for (const auto& [name, node] : before) {
    for (const std::string& path : kWholeFiles) {
      const auto found = node.files.find(path);
      if (found != node.files.end())
        RC_ASSERT(world.nodes.at(name).files.at(path) == found->second);
    }
  }
}

RC_GTEST_PROP(Plan, OnlyWhatWaitsForAKeyIsLeftForASecondPass, ()) {
  test::World world = test::WorldOf(test::AnyManifest(2, 4));
  ApplyEverywhere(world);
  for (const Stage& stage : world.MakePlan().stages) {
    for (const Change& change : stage.changes) {
      if (change.kind == "file") RC_ASSERT(change.name.ends_with("/.ssh/authorized_keys"));
    }
  }
}

}  // namespace
}  // namespace reconciler
