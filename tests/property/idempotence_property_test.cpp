#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reconciler/base/mark.h"
#include "tests/property/hostile_text.h"
#include "tests/property/scenario.h"

namespace reconciler {
namespace {

void ApplyEverywhere(test::Scenario& scenario) {
  const Plan plan = scenario.MakePlan();
  for (const NodeSpec& node : scenario.cluster.nodes)
    ApplyFiles(plan, node, scenario.nodes.at(node.name));
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
    node.files[path] = {
        .content = (whole ? mark : "") + test::HostileBytesButNul(),
        .mode = *rc::gen::element(0600u, 0644u, 0666u, 0777u),
        // In a home the files of others are blocked.
        .owner = path.starts_with('~') ? user : *rc::gen::element<std::string>("root", "mallory")};
  }
}

RC_GTEST_PROP(Plan, FilesHoldOnceTheyAreWritten, ()) {
  const test::ManifestParts parts = test::AnyManifest(2, 4);
  test::Scenario scenario = test::MakeScenario(parts);
  for (auto& [name, node] : scenario.nodes) {
    PutStrangersIn(node, parts.user, FormatOwnedFile(scenario.cluster.name, ""));
  }
  ApplyEverywhere(scenario);  // makes the key pairs
  ApplyEverywhere(scenario);  // writes what waited for them
  for (const Stage& stage : scenario.MakePlan().stages) {
    for (const Change& change : stage.changes) {
      // The unit's links would have to change with its file, and without systemctl none are known.
      if (change.code == "plan-state-unknown") continue;
      if (change.kind == "file") RC_FAIL(change.Id() + ": " + change.detail + "\n" + change.diff);
    }
  }
}

RC_GTEST_PROP(Plan, WholeFilesThatOthersWroteAreNeverChanged, ()) {
  const test::ManifestParts parts = test::AnyManifest(2, 4);
  test::Scenario scenario = test::MakeScenario(parts);
  for (auto& [name, node] : scenario.nodes) {
    PutStrangersIn(
        node, parts.user,
        *rc::gen::element<std::string>("#", FormatOwnedFile(scenario.cluster.name + "x", "")));
  }
  const auto before = scenario.nodes;
  ApplyEverywhere(scenario);
  for (const auto& [name, node] : before) {
    for (const std::string& path : kWholeFiles) {
      const auto found = node.files.find(path);
      if (found != node.files.end())
        RC_ASSERT(scenario.nodes.at(name).files.at(path) == found->second);
    }
  }
}

RC_GTEST_PROP(Plan, OnlyWhatWaitsForAKeyIsLeftForASecondPass, ()) {
  test::Scenario scenario = test::MakeScenario(test::AnyManifest(2, 4));
  ApplyEverywhere(scenario);
  for (const Stage& stage : scenario.MakePlan().stages) {
    for (const Change& change : stage.changes) {
      if (change.kind == "file") RC_ASSERT(change.name.ends_with("/.ssh/authorized_keys"));
    }
  }
}

}  // namespace
}  // namespace reconciler
