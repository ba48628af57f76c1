// The laws of one apply on one node, with the engine's own scripts in a real sh, cut off anywhere.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "reconciler/apply/guard/guard.h"
#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/steps/apply.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/property/scratch_machine.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

using test::ScratchMachine;
using test::Tree;

constexpr const char* kFiles[] = {"/etc/one", "/etc/folder/two", "/etc/new/folder/three",
                                  "/etc/sysctl.d/60-tried.conf", "/etc/netplan/60-tried.yaml"};
constexpr const char* kLive[] = {"a", "b"};

// What stands at each of kFiles; not there: nothing does.
struct State {
  std::map<std::string, FileState> files = {};
  std::map<std::string, std::string> live = {};
};

State AnyState() {
  State state;
  for (const char* path : kFiles) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    state.files[path] = {.content = *rc::gen::element<std::string>("", "x", "a\nb\n", "%s\\n'\"$J"),
                         .mode = *rc::gen::element(0644u, 0600u)};
  }
  for (const char* key : kLive) state.live[key] = *rc::gen::element<std::string>("0", "1", "2");
  return state;
}

void Make(const State& state, const ScratchMachine& machine) {
  for (const auto& [path, file] : state.files) {
    machine.Write(path, file.content, file.mode);
  }
  for (const auto& [key, value] : state.live) machine.Write("/run/live-" + key, value, 0600);
}

State Read() {
  State state;
  for (const char* path : kFiles) {
    if (auto file = test::ReadFileState(path)) state.files[path] = std::move(*file);
  }
  for (const char* key : kLive) {
    if (auto file = test::ReadFileState(std::string("/run/live-") + key)) {
      state.live[key] = file->content;
    }
  }
  return state;
}

RunCommand SetLive(const std::string& key, const std::string& value) {
  return {.argv = {"set-live", key, value}};
}

// From one state to the other; `failing`: the number of the change behind which a step fails.
Plan PlanFor(const State& from, const State& to, int failing = -1) {
  Plan plan{.id = "0123456789abcdef"};
  std::vector<Change> changes;
  const auto add = [&](Change change) {
    change.node = "here";
    change.plugin = "test";
    if (static_cast<int>(changes.size()) == failing) {
      changes.push_back({.kind = "run",
                         .name = "false",
                         .node = "here",
                         .plugin = "test",
                         .actions = {RunCommand{.argv = {"false"}}}});
    }
    changes.push_back(std::move(change));
  };
  for (const char* path : kFiles) {
    const auto was = from.files.find(path);
    const auto is = to.files.find(path);
    if (is == to.files.end() && was == from.files.end()) continue;
    if (is == to.files.end()) {
      add({.kind = "file", .name = path, .actions = {RemoveFile{path}}, .before = was->second});
    } else if (was == from.files.end() || !(was->second == is->second)) {
      Change change{.kind = "file", .name = path, .actions = {WriteFile{path, is->second}}};
      if (was != from.files.end()) change.before = was->second;
      add(std::move(change));
    }
  }
  for (const auto& [key, value] : to.live) {
    if (from.live.at(key) == value) continue;
    add({.kind = "live",
         .name = key,
         .actions = {SetLive(key, value)},
         .revert = {SetLive(key, from.live.at(key))}});
  }
  plan.stages = {{.plugins = {"test"}, .changes = std::move(changes)}};
  return plan;
}

ClusterSpec Here() {
  ClusterSpec cluster;
  cluster.nodes = {
      {.name = "here", .access = {.transport = TransportKind::kLocal, .become = Become::kNone}}};
  return cluster;
}

enum class End { kCommitted, kReverted, kCutOff };

// The whole of an apply as Converge does it, without its proofs, by a controller that is gone at
// the first lost connection. The plan is made under the lock, when nothing of an earlier apply is
// open.
End Carry(const std::function<Plan()>& make_plan) {
  const ClusterSpec cluster = Here();
  const NodeSpec& node = cluster.nodes.front();
  NodePool pool(DialNode);
  const auto sessions = Sessions::OpenAll({&node}, pool, "the test");
  if (!sessions) return End::kCutOff;
  if (EndUnfinishedApplies({&node}, /*whole=*/true, **sessions).error) return End::kCutOff;
  const Plan plan = make_plan();
  if (plan.stages.front().changes.empty()) return End::kCommitted;
  const std::string apply_id = MakeApplyId(plan);
  Journal journal{.directory = GetJournalDirectory(apply_id)};
  Guard guard(cluster, **sessions, apply_id, {});
  if (!guard.StageAndArm(plan, Fabric(), journal).empty()) return End::kCutOff;
  const ApplyReport report = Apply(plan, cluster, **sessions, journal, [](const Event&) {});
  const auto succeeds = [&](const std::string& request) {
    const auto reply = (*sessions)->Run(node, request, test::ScaleLimit(Milliseconds(20000)));
    return reply && reply->exit_code == 0;
  };
  if (!report.Ok()) {
    return succeeds(BuildRevertRequest(journal.directory)) ? End::kReverted : End::kCutOff;
  }
  const Documents documents = {{"ledger.json", "{}"}};
  const bool done = succeeds(BuildIntentRequest(journal.directory, documents, {})) &&
                    succeeds(BuildCommitRequest(journal.directory)) &&
                    succeeds(BuildFinishRequest(journal.directory));
  return done ? End::kCommitted : End::kCutOff;
}

struct Scene {
  ScratchMachine machine = {};
  State from = AnyState();
  State to = AnyState();
  Tree before = {};
  Tree after = {};

  Scene() {
    Make(from, machine);
    before = Seen();
    for (const char* path : kFiles) std::filesystem::remove(path);
    Make(to, machine);
    after = Seen();
    for (const char* path : kFiles) std::filesystem::remove(path);
    Make(from, machine);
    for (const auto& [path, line] : Seen()) {  // folders that only `to` needs
      if (!before.contains(path)) std::filesystem::remove_all(path);
    }
    RC_PRE(before != after);
  }

  // All that an apply may touch, and where it may leave something behind.
  Tree Seen() const {
    Tree seen = machine.ReadTree("/etc");
    seen.merge(machine.ReadTree("/run"));
    return seen;
  }

  std::function<Plan()> Forward(int failing = -1) const {
    return [this, failing] { return PlanFor(Read(), to, failing); };
  }
};

// How many calls of sync a whole apply makes at most: three for each file, and those of the guard.
constexpr int kMostSyncs = 80;
// Those until the guard is armed, which are few and matter most.
constexpr int kArmingSyncs = 12;

int AnySync() {
  return *rc::gen::weightedOneOf<int>(
      {{1, rc::gen::inRange(1, kArmingSyncs)}, {2, rc::gen::inRange(1, kMostSyncs)}});
}

const std::vector<std::string> kNothing = {};

// Each try runs hundreds of programs.
class CutOff : public testing::Test {
 public:
  void SetUp() override {
    if (!ScratchMachine::Enter()) GTEST_SKIP() << "a mount namespace of its own needs root";
  }
  template <class Law>
  static void Check(const Law& law) {
    setenv("RC_PARAMS", "max_success=20", 0);
    EXPECT_TRUE(rc::check(law));
  }
};

TEST_F(CutOff, ApplyLeavesWhatThePlanSaysAndNothingElse) {
  Check([] {
    const Scene scene;
    RC_ASSERT(Carry(scene.Forward()) == End::kCommitted);
    RC_ASSERT(test::Differing(scene.Seen(), scene.after) == kNothing);
    RC_ASSERT(PlanFor(Read(), scene.to).stages.front().changes.empty());
  });
}

TEST_F(CutOff, RevertRestoresEveryByteWhicheverStepFails) {
  Check([] {
    const Scene scene;
    const auto changes = PlanFor(scene.from, scene.to).stages.front().changes.size();
    const int failing = *rc::gen::inRange(0, static_cast<int>(changes));
    RC_ASSERT(Carry(scene.Forward(failing)) == End::kReverted);
    RC_ASSERT(test::Differing(scene.Seen(), scene.before) == kNothing);
  });
}

TEST_F(CutOff, KilledAnywhereAndAppliedAgainItConverges) {
  Check([] {
    const Scene scene;
    scene.machine.KillAtSync(AnySync());
    const End end = Carry(scene.Forward());
    RC_CLASSIFY(end == End::kCutOff, "cut off");
    RC_ASSERT(Carry(scene.Forward()) == End::kCommitted);
    RC_ASSERT(test::Differing(scene.Seen(), scene.after) == kNothing);
  });
}

// What the timer runs when no one comes any more.
TEST_F(CutOff, KilledAnywhereTheNodeEndsItOnItsOwn) {
  Check([] {
    const Scene scene;
    scene.machine.KillAtSync(AnySync());
    const End end = Carry(scene.Forward());
    RC_CLASSIFY(end == End::kCutOff, "cut off");
    scene.machine.TimePasses();
    const Tree seen = scene.Seen();
    RC_LOG() << "to before: " << rc::toString(test::Differing(seen, scene.before))
             << "\nto after: " << rc::toString(test::Differing(seen, scene.after)) << std::endl;
    RC_ASSERT(test::Differing(seen, scene.before).empty() ||
              test::Differing(seen, scene.after).empty());
    RC_ASSERT(end == End::kCutOff || seen == scene.after);
  });
}

TEST_F(CutOff, PowerLostAnywhereTheNodeComesUpWhole) {
  Check([] {
    Scene scene;
    scene.machine.KillAtSync(AnySync());
    const End end = Carry(scene.Forward());
    RC_CLASSIFY(end == End::kCutOff, "cut off");
    scene.machine.LosePower();
    scene.machine.TimePasses();
    const Tree etc = scene.machine.ReadTree("/etc");
    std::erase_if(scene.before, [](const auto& entry) { return entry.first.starts_with("/run"); });
    std::erase_if(scene.after, [](const auto& entry) { return entry.first.starts_with("/run"); });
    RC_LOG() << "to before: " << rc::toString(test::Differing(etc, scene.before))
             << "\nto after: " << rc::toString(test::Differing(etc, scene.after)) << std::endl;
    RC_ASSERT(test::Differing(etc, scene.before).empty() ||
              test::Differing(etc, scene.after).empty());
  });
}

}  // namespace
}  // namespace reconciler
