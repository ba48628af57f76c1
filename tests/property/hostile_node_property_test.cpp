#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/base/json/document.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/text/render.h"
#include "schema/embedded.h"
#include "tests/property/hostile_text.h"
#include "tests/property/scenario.h"

// Whatever a node says, no plugin falls over it and none passes it on.
namespace reconciler {
namespace {

using test::HostileBytes;

bool Sometimes() { return *rc::gen::inRange(0, 3) == 0; }

// Nearly a public key: what a node would say to get more into the files of its peers than a key.
std::string HostileKey() {
  const std::string key = test::PublicKeyLine(*rc::gen::inRange(1, 9));
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return key + " x\n" + test::PublicKeyLine(77) + "\n";
    case 1:
      return "command=\"" + HostileBytes() + "\" " + key;
    case 2:
      return key.substr(0, key.size() - 1) + HostileBytes();
    case 3:
      return key + " " + HostileBytes();
    case 4:
      return "ssh-ed25519 " + HostileBytes();
  }
  return HostileBytes();
}

std::string HostileContent(const std::string& path) {
  return path.ends_with(".pub") ? HostileKey() : HostileBytes();
}

// One node whose commands, files and kernel values answer with anything.
void TurnAnswers(test::FakeNode& node) {
  for (auto& [id, reply] : node.commands) {
    if (Sometimes()) reply.exit_code = *rc::gen::element(0, 1, 3, 124, 127);
    if (Sometimes()) reply.out = HostileBytes();
    if (Sometimes()) reply.err = HostileBytes();
  }
  for (auto& [path, file] : node.files) {
    if (Sometimes()) file = {.content = HostileContent(path), .owner = HostileBytes()};
  }
  for (auto& [path, value] : node.values) {
    if (Sometimes()) value = HostileBytes();
  }
  for (const char* folder :
       {"/etc/netplan/", "/run/netplan/", "/etc/sysctl.d/", "/sys/class/net/"}) {
    if (Sometimes()) node.files[folder + HostileBytes() + ".yaml"] = {.content = HostileBytes()};
  }
}

// The same after parsing, where no probe would have let it through.
void TurnFacts(NodeFacts& facts) {
  const auto turned = [](auto& observed, auto known) {
    if (!Sometimes()) return;
    if (Sometimes()) {
      observed = Unknown{HostileBytes()};
    } else if (Sometimes()) {
      observed = Absent{};
    } else {
      observed = known;
    }
  };
  for (auto& [path, file] : facts.files) turned(file, FileState{.content = HostileContent(path)});
  for (auto& [key, value] : facts.sysctl.keys) turned(value, HostileBytes());
  for (auto& [name, state] : facts.units.states) {
    if (Sometimes()) state = {.load = HostileBytes(), .active = HostileBytes()};
  }
  turned(facts.ssh.group, HostileBytes());
  for (Fact<FileAccess>* fact : {&facts.ssh.directory, &facts.ssh.private_key}) {
    turned(*fact, FileAccess{.mode = {0700}, .owner = HostileBytes()});
  }
  turned(facts.network.links, 0);
  turned(facts.network.default_route, std::vector{HostileBytes()});
  turned(facts.network.routes, std::vector{RouteFact{.netdev = HostileBytes()}});
  turned(facts.rdma.users, std::vector{RdmaUser{.hca = HostileBytes(), .pid = 1}});
  turned(facts.memlock.service, MemlockLimits{});
  turned(facts.gpudirect.driver, NvidiaDriver{.open = true, .version = HostileBytes()});
  turned(facts.gpudirect.gpu, HostileBytes());
  turned(facts.nccl.settings, std::vector{NcclSetting{HostileBytes(), 1, HostileBytes(), ""}});
  turned(facts.nccl.library, NcclLibrary{.path = HostileBytes(), .version = HostileBytes()});
  for (auto& [name, link] : facts.links) {
    if (Sometimes()) link.mac = link.operstate = HostileBytes();
    if (Sometimes()) link.mtu = *rc::gen::inRange(0, 70000);
  }
  if (Sometimes()) facts.links[HostileBytes()] = {.mtu = 9000};
  if (Sometimes() && !facts.links.empty()) facts.links.erase(facts.links.begin());
  if (Sometimes()) facts.session.address = HostileBytes();
  if (Sometimes()) facts.session.interface = HostileBytes();
}

bool IsPlainText(std::string_view text) {
  return IsValidUtf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
         });
}

bool IsKey(std::string_view type, std::string_view base64) {
  return type == "ssh-ed25519" && !base64.empty() &&
         base64.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
             std::string_view::npos;
}

// What our block in a file may hold: plain keys, with comments or host names of ours.
bool HoldsOnlyKeys(const std::string& path, const std::string& block) {
  for (const std::string& line : SplitLines(block)) {
    const std::vector<std::string> words = Split(line, ' ');
    const bool fits = path.ends_with("/authorized_keys")
                          ? words.size() == 5 && IsKey(words[0], words[1]) &&
                                words[2] == "spark-reconcile" && words[3] == "lab"
                          : words.size() == 3 && IsKey(words[1], words[2]) &&
                                words[0].find_first_of("*?!|@") == std::string::npos;
    if (!fits) return false;
  }
  return true;
}

struct HostilePlan {
  Plan plan = {};
  Fabric fabric = {};
};

HostilePlan MakeHostilePlanWithFabric() {
  test::Scenario scenario = test::MakeScenario(test::AnyManifest(2, 3));
  if (*rc::gen::arbitrary<bool>()) {
    const Plan first = scenario.MakePlan();
    for (const NodeSpec& node : scenario.cluster.nodes) {
      ApplyFiles(first, node, scenario.nodes.at(node.name));
    }
  }
  for (auto& [name, node] : scenario.nodes) TurnAnswers(node);
  ClusterFacts facts = scenario.Facts();
  for (auto& [name, node] : facts.nodes) TurnFacts(node);
  return {MakePlanFrom(scenario, facts), scenario.fabric};
}

Plan MakeHostilePlan() { return MakeHostilePlanWithFabric().plan; }

RC_GTEST_PROP(HostileNode, ThePlanIsWholeAndComesBackFromJson, ()) {
  static const nlohmann::json schema = nlohmann::json::parse(FindEmbeddedSchema("plan"));
  const Plan plan = MakeHostilePlan();
  const nlohmann::ordered_json json = ToJson(plan);
  const auto wrong = JudgeBySchema(AddHead(json, {"0.1.0", "2026-11-25T00:00:00Z"}), schema);
  if (wrong) RC_FAIL(*wrong);
  const auto back = ParsePlan(Dump(json));
  if (!back) RC_FAIL(FormatError(back.error()));
  RC_ASSERT(*back == plan);
}

RC_GTEST_PROP(HostileNode, NothingItSaysReachesTheTerminalRaw, ()) {
  const Plan plan = MakeHostilePlan();
  RC_ASSERT(IsPlainText(RenderText(plan)));
  RC_ASSERT(IsPlainText(RenderMarkdown(plan)));
}

RC_GTEST_PROP(HostileNode, OfACableNoEndChangesAloneAndNothingIsWrittenForPortsThatAreBlocked, ()) {
  const auto [plan, fabric] = MakeHostilePlanWithFabric();
  std::set<NodeName> blocked;
  for (const Change* port : ListBlockedPorts(plan, fabric)) blocked.insert(port->node);
  for (const Segment& segment : fabric.segments) {
    if (!segment.IsCable()) continue;
    bool any_blocked = false;
    bool any_changes = false;
    for (const RailPort& port : segment.ports) {
      const Change* link = FindChange(plan, port.node + "/link/" + port.netdev);
      any_blocked |= link != nullptr && link->change == ChangeKind::kBlocked;
      any_changes |= link != nullptr && link->change != ChangeKind::kBlocked;
    }
    RC_ASSERT(!any_blocked || !any_changes);
  }
  ForEachChange(plan, [&](const Change& change) {
    const bool about_ports = change.name == "/etc/hosts" || change.name.ends_with("/.ssh/config");
    if (about_ports && !change.prune) RC_ASSERT(!blocked.contains(change.node));
  });
}

bool HoldsNul(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.find('\0') != std::string::npos; });
}

std::vector<std::string> ListTexts(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) {
    return {write->path, write->trial.path, write->state.content, write->state.owner,
            write->state.group};
  }
  if (const auto* remove = std::get_if<RemoveFile>(&action))
    return {remove->path, remove->trial.path};
  const auto& command = std::get<RunCommand>(action);
  std::vector<std::string> texts = command.argv;
  texts.insert(texts.end(), command.makes.begin(), command.makes.end());
  for (const std::string& text : {command.user, command.id, command.sets}) texts.push_back(text);
  return texts;
}

RC_GTEST_PROP(HostileNode, NothingThatAShellWouldDropIsCarriedOut, ()) {
  const Plan plan = MakeHostilePlan();
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      for (const Action& action : change.actions) RC_ASSERT(!HoldsNul(ListTexts(action)));
      for (const Action& action : change.revert) RC_ASSERT(!HoldsNul(ListTexts(action)));
      for (const RunCommand& one : change.triggers) RC_ASSERT(!HoldsNul(ListTexts(one)));
    }
  }
}

RC_GTEST_PROP(HostileNode, NothingButItsKeysGetsIntoOurBlocksOnAnyNode, ()) {
  const Plan plan = MakeHostilePlan();
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      for (const Action& action : change.actions) {
        const auto* write = std::get_if<WriteFile>(&action);
        if (write == nullptr || (!write->path.ends_with("/.ssh/authorized_keys") &&
                                 !write->path.ends_with("/.ssh/known_hosts"))) {
          continue;
        }
        const auto block = ReadBlock(write->state.content, "lab", "ssh-mesh");
        if (block)
          RC_ASSERT(HoldsOnlyKeys(write->path, *block));  // RC_ASSERT evaluates both sides of ||
      }
    }
  }
}

}  // namespace
}  // namespace reconciler
