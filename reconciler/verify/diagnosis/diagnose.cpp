#include "reconciler/verify/diagnosis/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/diagnosis/diagnosis.h"
#include "reconciler/verify/links/probes.h"

namespace reconciler {
namespace {

std::vector<NodeName> ListNodes(const Diagnosis& diagnosis,
                                const std::vector<std::size_t>& checks) {
  std::vector<NodeName> nodes;
  for (const std::size_t i : checks) {
    const NodeName& node = diagnosis.checks[i].from;
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

// What the peers heard from a node that we cannot reach.
std::vector<std::string> FindSignsOfLife(const Diagnosis& diagnosis, const NodeName& node) {
  std::vector<std::string> signs;
  for (const Check& check : diagnosis.checks) {
    if (check.level == VerifyLevel::kPing && check.to == node && check.outcome == Outcome::kPass) {
      signs.push_back(fmt::format("{} gets its pings on {} back", check.from,
                                  FormatRailName(check.rail.value_or(0))));
    }
  }
  return signs;
}

bool HavePeersHeardNothing(const Diagnosis& diagnosis, const NodeName& node,
                           const std::map<NodeName, std::string>& unreachable) {
  return std::any_of(diagnosis.checks.begin(), diagnosis.checks.end(), [&](const Check& check) {
    return check.level == VerifyLevel::kPing && check.to == node && !check.measured.empty() &&
           check.outcome != Outcome::kPass && !unreachable.contains(check.from);
  });
}

struct AccessText {
  std::string_view text;   // in the transport's error
  std::string_view cause;  // {}: the node
  std::string_view next;
};

// What the transport found out on its own: the node is there, or never was the question.
constexpr AccessText kAccessTexts[] = {
    {"sudo wants a password", "{} lets us in, but sudo wants a password there",
     "allow sudo without a password on {}, or log in as root with `become: none` in `access`"},
    {"sudo refused the password", "{} lets us in, but its sudo refused the password",
     "type it with care; one password is used on all nodes, {} among them"},
    {"sudo wants a terminal", "{} lets us in, but sudo wants a terminal there",
     "remove 'Defaults requiretty' from the sudoers of {}"},
    {"sudo is not allowed", "{} lets us in, but the user may not use sudo there",
     "allow sudo without a password on {}, or log in as root with `become: none` in `access`"},
    {"no sudo is installed", "{} lets us in, but has no sudo",
     "install sudo on {}, or log in as root with `become: none` in `access`"},
    {"the host key changed",
     "the host key of {} changed: it was reinstalled, or another machine answers at its address",
     "make sure that it is {}, then remove the old key (ssh-keygen -R) and accept the new one"},
    {"the host key is not known", "the host key of {} is not known here",
     "compare it with the one that {} shows, then accept it once by hand"},
    {"the host key is revoked", "{} shows a host key that is revoked here",
     "give {} a new host key"},
    {"the key is accepted, but another login method is required",
     "{} accepts our key but requires another login method",
     "set `AuthenticationMethods publickey` in the sshd_config of {}"},
    {"no keys are taken there", "sshd of {} takes no keys",
     "allow keys there: PubkeyAuthentication yes in the sshd_config of {}"},
    {"is encrypted and no agent has it", "the key for {} is encrypted here and no agent has it",
     "load the key for {} into the agent with ssh-add"},
    {"and no agent has it", "the key for {} can only be used through an agent, and none has it",
     "load the key for {} into the agent with ssh-add"},
    {"the agent did not sign", "{} accepts a key of the agent, but the agent did not sign in time",
     "touch the key or confirm its use when a command logs in to {}"},
    {"the agent did not answer", "the agent here did not answer in time for the login to {}",
     "touch the key or confirm its use when a command logs in to {}"},
    {"the agent refused to sign", "{} accepts a key of the agent, but the agent refused to sign",
     "unlock the agent, or allow it to sign for {} without a confirmation"},
    {"there is no key to try", "there is no key here to log in to {} with",
     "make one with ssh-keygen and put its public half on {}, or name its file as `identity`"},
    {"too many keys were tried", "{} ended the login: too many keys were tried",
     "name the right key file for {} as `identity` in `access`"},
    {"the identity file", "the identity file for {} cannot be used here",
     "correct `identity` in `access` of the manifest for {}"},
    {"cannot log in as", "the login was refused by {}",
     "put the public key on {} (ssh-copy-id), and check `user` in `access` of the manifest"},
};

const AccessText* FindAccessText(std::string_view why) {
  const auto* found = std::find_if(
      std::begin(kAccessTexts), std::end(kAccessTexts),
      [why](const AccessText& known) { return why.find(known.text) != std::string_view::npos; });
  return found == std::end(kAccessTexts) ? nullptr : found;
}

void ExplainUnreachable(Diagnosis& diagnosis, const NodeName& node, const std::string& why,
                        const std::map<NodeName, std::string>& unreachable) {
  Finding finding{.code = "node-unreachable",
                  .outcome = Outcome::kCouldNotMeasure,
                  .level = VerifyLevel::kFacts,
                  .nodes = {node},
                  .expected = fmt::format("{} can be read", node),
                  .measured = why,
                  .evidence = FindSignsOfLife(diagnosis, node)};
  const AccessText* access = FindAccessText(why);
  if (access != nullptr) {
    finding.cause = fmt::format(fmt::runtime(access->cause), node);
  } else if (!finding.evidence.empty()) {
    finding.cause = fmt::format(
        "{} runs and answers its peers: the management path, its sshd or our access is at fault",
        node);
  } else if (HavePeersHeardNothing(diagnosis, node, unreachable)) {
    finding.cause =
        fmt::format("its peers hear nothing from {} either: off, booting or hung", node);
  } else {
    finding.cause =
        fmt::format("{} is off, or the management path or our access is at fault", node);
  }
  finding.next_step = fmt::format(
      fmt::runtime(access != nullptr
                       ? access->next
                       : "log in to {} by hand, or check its power and its management cable"),
      node);
  const std::size_t id = diagnosis.AddFinding(std::move(finding));
  for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
    const Check& check = diagnosis.checks[i];
    if (check.symptom != Symptom::kNodeUnreachable) continue;
    const RailPort* end = FindOtherEnd(diagnosis.fabric, check.from, check.rail.value_or(-1));
    const bool about_peer =
        check.to.empty() ? end != nullptr && end->node == node : check.to == node;
    if (check.from == node || (about_peer && !unreachable.contains(check.from))) {
      diagnosis.Explain(i, id);
    }
  }
}

void AddGroupedFindings(Diagnosis& diagnosis, Symptom symptom, const std::string& code,
                        const std::string& next) {
  const auto groups = diagnosis.GroupOpenChecks(
      symptom, [](const Check& check) { return check.what + ": " + check.why; });
  for (const auto& [key, checks] : groups) {
    Finding finding = diagnosis.DraftFinding(code, ListNodes(diagnosis, checks), checks);
    finding.cause = diagnosis.checks[checks.front()].why;
    finding.measured.clear();  // nothing was
    finding.next_step = next;
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : checks) diagnosis.Explain(i, id);
  }
}

}  // namespace

void ExplainByNodes(Diagnosis& diagnosis, const std::vector<NodeName>& order,
                    const std::map<NodeName, std::string>& unreachable) {
  for (const NodeName& node : order) {
    if (const auto found = unreachable.find(node); found != unreachable.end()) {
      ExplainUnreachable(diagnosis, node, found->second, unreachable);
    }
  }
  AddGroupedFindings(diagnosis, Symptom::kFactUnknown, "fact-unknown",
                     "read the fact by hand on the node; this level depends on it");
  AddGroupedFindings(diagnosis, Symptom::kProgramMissing, "program-missing",
                     "install it on the node (Debian and Ubuntu: iputils-ping, openssh-client)");
  AddGroupedFindings(diagnosis, Symptom::kNoAnswer, "no-answer",
                     "run verify again; if it stays, check the node's load and space in its /tmp");
}

std::vector<Finding> Diagnose(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts, const std::vector<Check>& checks,
                              const std::map<NodeName, std::string>& unreachable) {
  Diagnosis diagnosis(cluster, fabric, facts, checks);
  std::vector<NodeName> order;
  for (const NodeSpec& node : cluster.nodes) order.push_back(node.name);
  ExplainByNodes(diagnosis, order, unreachable);
  ExplainByFacts(diagnosis);
  ExplainByDevices(diagnosis);
  ExplainHealth(diagnosis);
  ExplainPings(diagnosis);
  ExplainLogins(diagnosis);
  AddGroupedFindings(diagnosis, Symptom::kProbeFailed, "probe-failed",
                     "run the same command by hand on the node");
  return diagnosis.SortFindings();
}

}  // namespace reconciler
