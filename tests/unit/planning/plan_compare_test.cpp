#include "reconciler/planning/plan_compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/model/json/json.h"
#include "tests/support/plan_values.h"

namespace reconciler {
namespace {

TEST(FindNotReverted, SeesWhatStaysChangedAndForgivesWhatDeclaresNoRevert) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  EXPECT_TRUE(FindNotReverted(MakePlanWith({Named("/a")}), MakePlanWith({Named("/a")})).empty());
  EXPECT_EQ(FormatErrors(
                FindNotReverted(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({moved}))),
            "spark-1: file /a is not as it was before: 1 → 2\n"
            "spark-1: file /b is not as it was before: it matches the manifest\n");
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({}), MakePlanWith({Named("/new")}))),
            "spark-1: file /new is not as it was before: 1 → 2\n");
  Change key = Named("key");
  key.actions = {RunCommand{{"ssh-keygen"}}};
  EXPECT_TRUE(FindNotReverted(MakePlanWith({key}), MakePlanWith({})).empty());
}

TEST(FindNotReverted, OfANodeThatCannotBeReadNothingElseIsSaid) {
  Plan fresh = MakePlanWith({});
  fresh.nodes = {{.name = "spark-1", .unreachable = "sudo wants a password"},
                 {.name = "spark-2", .unreachable = "off"}};
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({Named("/a"), Named("/b")}), fresh)),
            "spark-1: could not be read, so that nothing is known of its state: sudo wants a "
            "password\n");
}

TEST(FindNotReverted, WhatCannotBeReadIsNotSaidToDiffer) {
  Change unread = Named("/a");
  unread.fingerprint = "unknown";
  Block(unread, "plan-state-unknown", "unknown: permission denied");
  EXPECT_EQ(FormatErrors(FindNotReverted(MakePlanWith({Named("/a")}), MakePlanWith({unread}))),
            "spark-1: file /a could not be read, so that its state is not known: permission "
            "denied\n");
}

TEST(HasNewProblem, IsSoForABlockedChangeOrAWarningThatWasNotSaidOfThatNode) {
  const auto saying = [](Severity severity, const std::string& subject, const NodeName& node,
                         const std::string& message = "m") {
    Plan plan = MakePlanWith({});
    plan.diagnostics = {{.severity = severity,
                         .code = "p-gid",
                         .message = message,
                         .subject = subject,
                         .nodes = {node}}};
    return plan;
  };
  const Plan before = saying(Severity::kWarns, "a", "spark-1");
  EXPECT_FALSE(HasNewProblem(before, before));
  EXPECT_FALSE(HasNewProblem(before, saying(Severity::kWarns, "a", "spark-1", "other value")));
  EXPECT_FALSE(HasNewProblem(before, saying(Severity::kInforms, "b", "spark-1")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kWarns, "b", "spark-1")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kWarns, "a", "spark-2")));
  EXPECT_TRUE(HasNewProblem(before, saying(Severity::kBlocks, "a", "spark-1")));
  Change blocked = Named("/a");
  Block(blocked, "plan-state-unknown", "unknown: gone");
  EXPECT_TRUE(HasNewProblem(MakePlanWith({Named("/a")}), MakePlanWith({blocked})));
  EXPECT_FALSE(HasNewProblem(MakePlanWith({blocked}), MakePlanWith({blocked})));
}

TEST(FindStale, OtherDriftDoesNotMakeAPlanStale) {
  EXPECT_TRUE(
      FindStale(MakePlanWith({Named("/a")}), MakePlanWith({Named("/a"), Named("/b")})).empty());
}

TEST(FindStale, NamesTheFactThatMoved) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  moved.detail = "3 → 2";
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({moved}))),
            "spark-1: file /a moved since the plan was made: planned '1 → 2', now '3 → 2'\n"
            "  hint: make a new plan and review it\n");
  EXPECT_EQ(FormatErrors(
                FindStale(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({Named("/b")}))),
            "spark-1: file /a moved since the plan was made: planned '1 → 2', now it matches the "
            "manifest\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, DoesNotSetTwoEqualTextsAgainstEachOther) {
  Change moved = Named("/a");
  moved.fingerprint = "other";
  EXPECT_EQ(
      FormatErrors(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({moved}))),
      "spark-1: file /a moved since the plan was made: planned '1 → 2', now the same, but from "
      "another state than the one that was reviewed\n"
      "  hint: make a new plan and review it\n");
}

TEST(FindStale, SaysInOneLineThatNothingIsLeft) {
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a"), Named("/b")}), MakePlanWith({}))),
            "nothing is left of this plan: all of it matches the manifest\n"
            "  hint: it was applied already, or the same was done by hand\n");
}

TEST(FindStale, ANodeThatCannotBeReadNowIsSaidOnce) {
  Plan fresh = MakePlanWith({});
  fresh.nodes = {{.name = "spark-1", .unreachable = "no answer within 10 s"}};
  EXPECT_EQ(FormatErrors(FindStale(MakePlanWith({Named("/a"), Named("/b")}), fresh)),
            "spark-1: cannot be read now: no answer within 10 s\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, ANodeThatWasNotReadThenAndIsReadNowMakesAPlanStale) {
  Plan saved = MakePlanWith({Named("/a")});
  saved.nodes = {{.name = "spark-1"}, {.name = "spark-2", .unreachable = "no answer within 10 s"}};
  Plan fresh = saved;
  EXPECT_TRUE(FindStale(saved, fresh).empty());
  fresh.nodes[1].unreachable.clear();
  EXPECT_EQ(FormatErrors(FindStale(saved, fresh)),
            "spark-2: was not read when the plan was made: no answer within 10 s\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, AnApplySinceThenMakesAPlanStaleAlsoWhenAllOfItWasReverted) {
  Plan saved = MakePlanWith({Named("/a")});
  saved.nodes = {{.name = "spark-1", .generation = 3}, {.name = "spark-2", .generation = 3}};
  Plan fresh = saved;
  EXPECT_TRUE(FindStale(saved, fresh).empty());
  fresh.nodes[1].generation = 4;  // the plan changes nothing there
  EXPECT_TRUE(FindStale(saved, fresh).empty());
  fresh.nodes[0].generation = 5;
  EXPECT_EQ(FormatErrors(FindStale(saved, fresh)),
            "spark-1: applied to since the plan was made: generation 3 then, 5 now\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindStale, SeesAnEditedManifest) {
  Plan fresh = MakePlanWith({Named("/a")});
  fresh.spec_digest = "e";
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a")}), fresh)[0].message,
            "cluster.yaml changed since the plan was made");
}

TEST(FindStale, SeesThatOtherStepsAreNeededNow) {
  Change other = Named("/a");
  other.actions = {RemoveFile{"/a"}};
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({other}))[0].message,
            "file /a differs from what is planned now in actions");
  other.impact = Impact::kReboot;
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a")}), MakePlanWith({other}))[0].message,
            "file /a differs from what is planned now in impact, actions");
}

Change ChangeWithEveryField() {
  const RunCommand command{.argv = {"networkctl", "reload"}};
  return {.change = ChangeKind::kModify,
          .kind = "file",
          .name = "/a",
          .node = "spark-1",
          .plugin = "hosts",
          .detail = "1 → 2",
          .code = "code",
          .owner = {.name = "/etc/z", .claims = {"p0"}, .settings_lost = {"routes"}},
          .diff = "+2",
          .actions = {WriteFile{"/a", {.content = "2"}}, command},
          .revert = {command},
          .triggers = {command},
          .impact = Impact::kLinkFlap,
          .interrupts = "a job",
          .fingerprint = "f",
          .where = {"cluster.yaml", {3, 1}},
          .before = FileState{.content = "1"},
          .prune_commands = {.before = {command}, .after = {command}, .adds = true},
          .desired = "2",
          .cause = {.kind = CauseKind::kDrifted, .generation = 3, .applied = "2"}};
}

// Another value that can be read where `value` stands.
nlohmann::ordered_json Forge(const std::string& field, nlohmann::ordered_json value) {
  if (field == "change") return "remove";
  if (field == "impact") return "none";
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get<std::string>() + "x";
  if (value.is_array()) {
    value.push_back(value.back());
  } else if (field == "where") {
    value["line"] = 4;
  } else if (field == "cause") {
    value["kind"] = "new";
  } else if (field == "before") {
    value = {{"absent", true}};
  } else {
    value["after"] = Forge("", value["after"]);
  }
  return value;
}

TEST(FindStale, AnySingleFieldThatWasForgedMakesASavedPlanStaleButTheWorkThatEnds) {
  const Plan fresh = MakePlanWith({ChangeWithEveryField(), Named("/b")});
  ASSERT_TRUE(FindStale(fresh, fresh).empty());
  const nlohmann::ordered_json document = ToJson(fresh);
  const nlohmann::ordered_json& change = document["stages"][0]["changes"][0];
  for (const auto& [field, value] : change.items()) {
    nlohmann::ordered_json forged = document;
    forged["stages"][0]["changes"][0][field] = Forge(field, value);
    const auto saved = ParsePlan(forged.dump());
    ASSERT_TRUE(saved) << field << FormatError(saved.error());
    const Errors stale = FindStale(*saved, fresh);
    if (field == "interrupts") {
      EXPECT_TRUE(stale.empty());  // that of the fresh plan counts
      continue;
    }
    ASSERT_EQ(stale.size(), 1u) << field;
    const bool names_another = field == "node" || field == "kind" || field == "name";
    const std::string why = stale[0].message;
    EXPECT_TRUE(names_another ? why.ends_with("now it matches the manifest")
                : field == "fingerprint"
                    ? why.ends_with("than the one that was reviewed")
                    : why.ends_with("differs from what is planned now in " + field))
        << field << ": " << why;
  }
}

TEST(FindStale, JobsThatComeAndGoMakeNoPlanStale) {
  Change then = Named("/a");
  then.interrupts = "ib_write_bw (pid 812)";
  Change now = then;
  for (const char* job : {"ib_write_bw (pid 813)", ""}) {
    now.interrupts = job;
    EXPECT_TRUE(FindStale(MakePlanWith({then}), MakePlanWith({now})).empty()) << job;
    EXPECT_TRUE(FindStale(MakePlanWith({now}), MakePlanWith({then})).empty()) << job;
  }
  now.revert = {RemoveFile{"/a"}};
  EXPECT_EQ(FindStale(MakePlanWith({then}), MakePlanWith({now}))[0].message,
            "file /a differs from what is planned now in revert");
}

TEST(FindStale, ABlockedChangeThatWasForgedMakesASavedPlanStale) {
  Change blocked = Named("/b");
  Block(blocked, "plan-state-unknown", "unknown: gone");
  const Plan fresh = MakePlanWith({Named("/a"), blocked});
  EXPECT_TRUE(FindStale(fresh, fresh).empty());
  blocked.detail = "all is well";
  EXPECT_EQ(FindStale(MakePlanWith({Named("/a"), blocked}), fresh)[0].message,
            "file /b differs from what is planned now in detail");
}

TEST(FindStale, TheManifestMayLieElsewhereNow) {
  const Plan saved = MakePlanWith({ChangeWithEveryField()});
  Plan fresh = saved;
  fresh.manifest = "copy.yaml";
  fresh.stages[0].changes[0].where.file = "copy.yaml";
  EXPECT_TRUE(FindStale(saved, fresh).empty());
}

TEST(CheckSameManifest, AManifestThatWasChangedSinceMakesASavedPlanStale) {
  const Plan saved = MakePlanWith({Named("/a")});
  EXPECT_TRUE(CheckSameManifest(saved, {.file = "copy.yaml", .digest = "d"}));
  const auto other = CheckSameManifest(saved, {.file = "cluster.yaml", .digest = "e"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kStale);
  EXPECT_EQ(FormatError(other.error()),
            "cluster.yaml changed since the plan was made\n"
            "  hint: make a new plan and review it\n");
}

TEST(FindMoved, AnswersForWhatWasApprovedAndNotForJobsOrBlockedChanges) {
  Change blocked = Named("/b");
  Block(blocked, "plan-state-unknown", "unknown: gone");
  Change now = Named("/a");
  now.interrupts = "a job";
  EXPECT_TRUE(FindMoved(MakePlanWith({Named("/a"), blocked}), MakePlanWith({now})).empty());
  now.revert = {RemoveFile{"/a"}};
  EXPECT_EQ(FindMoved(MakePlanWith({Named("/a")}), MakePlanWith({now}))[0].message,
            "file /a differs from what is planned now in revert");
}

// A plan as `plan --out` writes it.
Plan MakeSaved() {
  Plan plan = MakePlanWith({Named("/a")});
  plan.cluster = "lab";
  plan.nodes = {{.name = "spark-1", .address = "192.168.1.2"}, {.name = "spark-2"}};
  plan.only = {"netplan"};
  plan.allow_half_cables = true;
  plan.id = ComputePlanDigest(plan);
  return plan;
}

TEST(ParseSavedPlan, ReadsWhatWasWritten) {
  const auto plan = ParseSavedPlan(Dump(ToJson(MakeSaved())), "plan.json");
  ASSERT_TRUE(plan) << FormatError(plan.error());
  EXPECT_EQ(*plan, MakeSaved());
}

TEST(ParseSavedPlan, AManifestIsNone) {
  const auto plan = ParseSavedPlan("name: lab\n", "cluster.yaml");
  ASSERT_TRUE(plan);
  EXPECT_EQ(*plan, std::nullopt);
}

TEST(ParseSavedPlan, AManifestInBracesIsNone) {
  for (const char* text :
       {R"({"cluster": "lab"})", "{cluster: lab, nodes: [\n]}\n", "{}", "{", "{ format: x }"}) {
    const auto plan = ParseSavedPlan(text, "cluster.yaml");
    ASSERT_TRUE(plan) << text;
    EXPECT_EQ(*plan, std::nullopt) << text;
  }
}

TEST(ParseSavedPlan, APlanThatWasCutOffIsNoManifest) {
  const std::string whole = Dump(ToJson(MakeSaved()));
  for (const std::size_t size : {whole.size() - 20, whole.size() / 2, std::size_t{15}}) {
    const auto plan = ParseSavedPlan(whole.substr(0, size), "plan.json");
    ASSERT_FALSE(plan) << size;
    EXPECT_TRUE(FormatError(plan.error()).starts_with("plan.json: not valid JSON: "))
        << FormatError(plan.error());
  }
}

TEST(ParseSavedPlan, APlanWhoseIdIsNotItsDigestIsAnError) {
  Plan edited = MakeSaved();
  edited.nodes[0].address = "192.168.1.3";
  const auto plan = ParseSavedPlan(Dump(ToJson(edited)), "plan.json");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::kInput);
  EXPECT_EQ(FormatError(plan.error()),
            "plan.json: was edited after it was made: its id is not the digest of its content\n"
            "  hint: make a new plan with `plan --out`\n");
}

TEST(ParseSavedPlan, AnErrorNamesTheFile) {
  const auto plan = ParseSavedPlan("{\"format\": \"spark-reconcile/facts/1\"}", "plan.json");
  ASSERT_FALSE(plan);
  EXPECT_TRUE(FormatError(plan.error()).starts_with("plan.json: /format: wanted "))
      << FormatError(plan.error());
}

TEST(CheckPermitted, WhatASavedPlanWasMadeWithIsPermittedAgainWhenItIsApplied) {
  Plan saved = MakeSaved();
  const auto refused = CheckPermitted(saved, "plan.json", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(FormatError(refused.error()),
            "plan.json: was made with --allow-half-cables: it may change one end of a cable whose "
            "other end cannot be changed with it\n"
            "  hint: give apply --allow-half-cables too, or make a new plan without it\n");
  EXPECT_TRUE(CheckPermitted(saved, "plan.json", {.half_cables = true}));
  saved.allow_half_cables = false;
  EXPECT_TRUE(CheckPermitted(saved, "plan.json", {}));
  saved.overwrite_edited = true;
  const auto edited = CheckPermitted(saved, "plan.json", {.half_cables = true});
  ASSERT_FALSE(edited);
  EXPECT_EQ(edited.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(FormatError(edited.error()),
            "plan.json: was made with --overwrite-edited: it may write files again that were "
            "edited on a node\n"
            "  hint: give apply --overwrite-edited too, or make a new plan without it\n");
  EXPECT_TRUE(CheckPermitted(saved, "plan.json", {.overwrite_edited = true}));
}

TEST(CheckPermitted, ASavedPlanNeverTurnsAnApplyIntoAnUninstall) {
  Plan saved = MakeSaved();
  saved.uninstall = true;
  const auto refused =
      CheckPermitted(saved, "plan.json", {.half_cables = true, .overwrite_edited = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(FormatError(refused.error()),
            "plan.json: is the plan of an uninstall, which apply does not carry out\n"
            "  hint: use `uninstall`, which plans again\n");
}

TEST(MakeScope, IsWhatThePlanWasMadeWith) {
  Plan saved = MakeSaved();
  const PlanScope scope = MakeScope(saved);
  EXPECT_EQ(scope.nodes, (std::vector<NodeName>{"spark-1", "spark-2"}));
  EXPECT_EQ(scope.only, std::vector<std::string>{"netplan"});
  EXPECT_TRUE(scope.allow_half_cables);
  EXPECT_FALSE(scope.overwrite_edited);
  saved.allow_half_cables = false;
  saved.overwrite_edited = true;
  EXPECT_FALSE(MakeScope(saved).allow_half_cables);
  EXPECT_TRUE(MakeScope(saved).overwrite_edited);
}

TEST(SelectChanges, CarriesOutTheFreshPlansChangesAndNothingOfTheSavedPlan) {
  Plan fresh = MakePlanWith({ChangeWithEveryField(), Named("/b")});
  fresh.nodes = {{.name = "spark-1", .dropped = {"key/a", "key/b"}}};
  fresh.id = "fresh";
  Plan saved = fresh;
  saved.id = "saved";
  saved.nodes[0].dropped = {"key/a", "key/forged"};
  saved.stages[0].changes.pop_back();
  saved.stages[0].changes[0].revert = {RunCommand{.argv = {"forged"}}};
  const Plan selected = SelectChanges(fresh, saved);
  ASSERT_EQ(selected.ChangeCount(), 1u);
  EXPECT_EQ(selected.stages[0].changes[0], ChangeWithEveryField());
  EXPECT_EQ(selected.nodes[0].dropped, std::vector<std::string>{"key/a"});
  EXPECT_EQ(selected.id, "saved");
}

TEST(FindIdsBeside, ABlockedChangeOfTheSavedPlanSelectsNothing) {
  Change blocked = Named("/a");
  Block(blocked, "plan-state-unknown", "unknown: gone");
  EXPECT_EQ(FindIdsBeside(MakePlanWith({blocked}), MakePlanWith({Named("/a")})),
            std::set<std::string>{"spark-1/file//a"});
}

TEST(RemoveDropped, LeavesWhatTheLedgersKeep) {
  Change a = Named("/a");
  Change b = Named("/b");
  Plan plan = MakePlanWith({a, b});
  plan.nodes = {{.name = a.node, .dropped = {"file//a"}}};
  const Plan rest = RemoveDropped(plan);
  ASSERT_EQ(rest.stages[0].changes.size(), 1u);
  EXPECT_EQ(rest.stages[0].changes[0], b);
}

}  // namespace
}  // namespace reconciler
