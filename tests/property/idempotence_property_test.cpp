#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/property/hostile_text.h"
#include "tests/property/world.h"

namespace reconciler {
namespace {

void ApplyEverywhere(test::World& world) {
  const Plan plan = world.MakePlan();
  for (const NodeSpec& node : world.cluster.nodes)
    ApplyFiles(plan, node, world.nodes.at(node.name));
}

// Files that stood there before us may hold anything; netplan's own must be YAML.
void PutStrangersIn(test::FakeNode& node, const std::string& user) {
  for (const std::string& path : {std::string("/etc/hosts"), "~" + user + "/.ssh/authorized_keys",
                                  "~" + user + "/.ssh/known_hosts", "~" + user + "/.ssh/config",
                                  std::string("/etc/sysctl.d/60-spark-reconcile.conf"),
                                  std::string("/etc/systemd/system/u0.service")}) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    node.files[path] = {.content = test::HostileBytes(),
                        .mode = *rc::gen::element(0600u, 0644u, 0666u, 0777u),
                        .owner = *rc::gen::element<std::string>("root", "mallory")};
  }
}

RC_GTEST_PROP(Plan, FilesHoldOnceTheyAreWritten, ()) {
  const test::ManifestParts parts = test::AnyManifest(2, 4);
  test::World world = test::WorldOf(parts);
  for (auto& [name, node] : world.nodes) PutStrangersIn(node, parts.user);
  ApplyEverywhere(world);  // makes the key pairs
  ApplyEverywhere(world);  // writes what waited for them
  for (const Stage& stage : world.MakePlan().stages) {
    for (const Change& change : stage.changes) {
      if (change.kind == "file") RC_FAIL(change.Id() + ": " + change.detail + "\n" + change.diff);
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
