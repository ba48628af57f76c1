#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/node_helper.h"
#include "reconciler/transport/local_transport.h"
#include "tests/property/hostile_text.h"
#include "tests/property/scenario.h"
#include "tests/support/limits.h"

// What the plugins make of hostile text, carried out by a real shell below a temporary directory.
namespace reconciler {
namespace {

namespace fs = std::filesystem;

class Scratch {
 public:
  Scratch() {
    char path[] = "/dev/shm/spark-property-XXXXXX";
    root_ = mkdtemp(path);
  }
  ~Scratch() { fs::remove_all(root_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string Below(const std::string& path) const {
    return root_ + "/root/" + (path.starts_with('~') ? "home/" + path.substr(1) : path.substr(1));
  }
  std::string Journal() const { return root_ + "/journal"; }
  std::string Name() const { return root_.substr(root_.rfind('/')); }  // with a slash before it

  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_ + "/root")) {
      if (!entry.is_directory()) files.insert(entry.path());
    }
    return files;
  }

 private:
  std::string root_;
};

std::string Get(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

ScriptReply RunHere(const std::string& script) {
  NodeSpec here{.name = "here"};
  here.access.transport = TransportKind::kLocal;
  here.access.become = Become::kNone;
  const auto transport = DialLocal(here);
  RC_ASSERT(transport.has_value());
  auto reply = RunScript(**transport, script, test::ScaleLimit(std::chrono::seconds(60)));
  if (!reply) RC_FAIL(FormatError(reply.error()));
  return std::move(*reply);
}

// The same step, harmless: files below the scratch directory and owned by us, commands printed.
Action Tamed(const Action& action, const Scratch& scratch) {
  if (const auto* write = std::get_if<WriteFile>(&action)) {
    return WriteFile{scratch.Below(write->path),
                     {.content = write->state.content,
                      .mode = write->state.mode,
                      .owner = getpwuid(geteuid())->pw_name,
                      .group = getgrgid(getegid())->gr_name}};
  }
  if (const auto* remove = std::get_if<RemoveFile>(&action)) {
    return RemoveFile{scratch.Below(remove->path)};
  }
  RunCommand command{.argv = {"printf", "%s\\0"}};
  const auto& argv = std::get<RunCommand>(action).argv;
  command.argv.insert(command.argv.end(), argv.begin(), argv.end());
  return command;
}

// All files and, as each takes a process, a third of the commands.
std::vector<Action> ListActions(const Plan& plan) {
  std::vector<Action> actions;
  const auto add = [&](const Action& action) {
    if (std::holds_alternative<RunCommand>(action) && *rc::gen::inRange(0, 3) > 0) return;
    if (std::find(actions.begin(), actions.end(), action) == actions.end()) {
      actions.push_back(action);
    }
  };
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      for (const Action& action : change.actions) add(action);
      for (const Action& action : change.revert) add(action);
      for (const RunCommand& trigger : change.triggers) add(trigger);
    }
  }
  return actions;
}

Plan OneHostilePlan() {
  const test::ManifestParts parts = test::AnyManifest(2, 2);
  test::Scenario scenario = test::MakeScenario(parts);
  test::FakeNode& node = scenario.nodes.begin()->second;
  for (auto& [path, file] : node.files) {
    if (!path.starts_with("/etc/netplan/")) file.content = test::HostileBytesButNul();
  }
  node.values["/proc/sys/net/core/rmem_max"] = test::HostileLine();
  for (const std::string& unit :
       std::vector<std::string>{"u0.service", "u1.service", "u2.service"}) {
    node.commands["common.units"].out +=
        "Id=" + unit + "\nNames=" + unit +
        "\nLoadState=loaded\nUnitFileState=disabled\nActiveState=inactive\n\n";
  }
  ClusterFacts facts = scenario.Facts();
  const NodeName other = scenario.nodes.rbegin()->first;
  facts.nodes.erase(other);
  facts.unreachable[other] = {.kind = ErrorKind::kTransport, .message = "off"};
  return MakePlanFrom(scenario, facts);
}

RC_GTEST_PROP(HostileText, GoesThroughEveryPluginAndARealShellByteForByte, ()) {
  fs::remove(test::kInjected);
  const Scratch scratch;
  fs::create_directories(scratch.Below("/"));
  const std::vector<Action> actions = ListActions(OneHostilePlan());
  std::vector<Step> steps;
  std::map<std::string, std::string> expected;
  for (const Action& action : actions) {
    steps.push_back({0, Tamed(action, scratch)});
    if (const auto* write = std::get_if<WriteFile>(&steps.back().action)) {
      expected[write->path] = write->state.content;
    }
  }
  const std::string nonce = MakeNonce();
  // As in a session, but that nothing of the test goes to the log, and that files are held apart
  // from those of other tests.
  const std::string helper = BuildScriptPreamble(nonce) + BuildNodeHelper() +
                             "note() { :; }\nHOLD=/run" + scratch.Name() + "/held\n";
  const ScriptReply staged = RunHere(helper + BuildStageRequest(steps, 0, scratch.Journal()));
  if (staged.exit_code != 0) RC_FAIL(staged.err);
  const auto replies = ParseApplyReply(
      RunHere(helper + "(\n" + BuildActivateRequest(steps, 0, scratch.Journal()) + ")\n"), nonce);

  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].exit_code != 0) RC_FAIL(Describe(actions[i]) + ": " + replies[i].err);
    std::string printed;
    if (const auto* command = std::get_if<RunCommand>(&actions[i])) {
      for (const std::string& word : command->argv) printed += word + '\0';
    }
    RC_ASSERT(replies[i].out == printed);
  }
  RC_ASSERT(replies.size() == steps.size());
  std::set<std::string> paths;
  for (const auto& [path, content] : expected) {
    paths.insert(path);
    RC_ASSERT(Get(path) == content);
  }
  RC_ASSERT(scratch.Files() == paths);
  RC_ASSERT(!fs::exists(test::kInjected));
}

}  // namespace
}  // namespace reconciler
