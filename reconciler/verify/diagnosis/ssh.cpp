#include <fmt/format.h>

#include <string_view>

#include "reconciler/base/text.h"
#include "reconciler/verify/diagnosis/diagnosis.h"

namespace reconciler {
namespace {

// {0}: the first node of the pattern, {1}: the second.
struct SshTexts {
  Symptom symptom;
  std::string_view everywhere;
  std::string_view into;
  std::string_view outgoing;
  std::string_view one_way;
  std::string_view next;
};

constexpr SshTexts kSshTexts[] = {
    {Symptom::kSshDenied, "no node accepts another's key: the mesh has not been set up",
     "{0} accepts no peer's key: its authorized_keys lacks them, or sshd does not use that file",
     "no peer accepts the key of {0}: it is not in their authorized_keys, or {0} does not offer it",
     "the authorized_keys of {1} lacks the key of {0}",
     "run `spark-reconcile plan`; if it is empty, check sshd's log on the refusing node (file "
     "modes, AllowUsers, AuthorizedKeysFile)"},
    {Symptom::kSshKeyUnprotected,
     "on every node others may read the key file (its mode), so ssh does not use it",
     "on every peer of {0} others may read the key file (its mode), so ssh does not use it",
     "on {0} others may read the key file (its mode), so ssh does not use it",
     "on {0} others may read the key file (its mode), so ssh does not use it for {1}",
     "run `spark-reconcile plan`: apply sets the mode; or chmod 600 the file that the evidence "
     "names"},
    {Symptom::kSshHostKeyChanged, "every node has other host keys than its peers recorded",
     "{0} has other host keys than its peers recorded: it was reinstalled, or another machine "
     "answers at its address",
     "{0} has old host keys of its peers recorded",
     "{0} has an old host key of {1} recorded, or another machine answers at its address",
     "make sure that it is the right machine, then run `spark-reconcile plan`"},
    {Symptom::kSshHostKeyUnknown,
     "no node knows its peers' host keys: the mesh has not been set up",
     "no peer knows the host key of {0}", "{0} knows none of its peers' host keys",
     "{0} does not know the host key of {1}",
     "run `spark-reconcile plan`: apply writes the peers' real host keys"},
    {Symptom::kSshNameUnknown, "no node knows its peers' names", "no peer knows the names of {0}",
     "{0} knows none of its peers' names", "{0} does not know the name of {1}",
     "run `spark-reconcile plan`: apply writes the names into ~/.ssh/config"},
    {Symptom::kSshRefused, "no node takes connections: sshd is not listening there",
     "sshd of {0} does not listen there", "every peer refuses {0}",
     "sshd of {1} does not listen there, or refuses {0}",
     "check `systemctl status ssh` and ListenAddress and Port of the refusing node's sshd"},
    {Symptom::kSshNoConnection, "pings pass between all nodes, logins between none: firewalls",
     "pings pass, but no peer gets an answer from port 22 of {0}: a firewall on it, or sshd hangs",
     "pings pass, but {0} gets no answer from port 22 of any peer: a firewall on {0}",
     "pings pass, but {0} gets no answer from port 22 of {1}: a firewall on one of them",
     "check the firewall (`ufw status`, `nft list ruleset`) and sshd of the silent node"},
    {Symptom::kSshDropped, "every sshd closes connections before the login",
     "sshd of {0} closes connections before the login: it is overloaded, or blocks its peers",
     "every peer closes connections of {0} before the login",
     "sshd of {1} closes connections of {0} before the login",
     "check MaxStartups, PerSourcePenalties and hosts.deny of the closing node's sshd"},
    {Symptom::kSshFailed, "logins fail between all nodes for another reason",
     "logins to {0} fail for another reason", "logins from {0} fail for another reason",
     "the login from {0} to {1} fails for another reason",
     "run the same ssh by hand on the node; the evidence holds its output"},
};

std::string_view ChooseTemplate(const SshTexts& words, Scope scope) {
  switch (scope) {
    case Scope::kEverywhere:
      return words.everywhere;
    case Scope::kIncoming:
      return words.into;
    case Scope::kOutgoing:
      return words.outgoing;
    case Scope::kOneWay:
      return words.one_way;
    case Scope::kNode:  // of paths only
    case Scope::kPair:
      break;
  }
  return {};
}

// A login that gets no answer where pings get none either.
void ExplainByPath(Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < diagnosis.checks.size(); ++i) {
    const Check& login = diagnosis.checks[i];
    const bool silent = login.symptom == Symptom::kSshNoConnection;
    if (login.level != VerifyLevel::kSsh || !silent || !diagnosis.IsOpen(i)) continue;
    for (std::size_t j = 0; j < diagnosis.checks.size() && diagnosis.IsOpen(i); ++j) {
      const Check& ping = diagnosis.checks[j];
      const bool same_path = (ping.from == login.from && ping.to == login.to) ||
                             (ping.from == login.to && ping.to == login.from);
      if (ping.level != VerifyLevel::kPing || ping.rail != login.rail || !same_path) continue;
      if (ping.outcome != Outcome::kFail) continue;
      if (const auto finding = diagnosis.FindExplanation(j)) diagnosis.Explain(i, *finding);
    }
  }
}

}  // namespace

void ExplainLogins(Diagnosis& diagnosis) {
  ExplainByPath(diagnosis);
  for (const SshTexts& words : kSshTexts) {
    for (const Pattern& pattern :
         FindLoginPatterns(diagnosis.ListArrows(VerifyLevel::kSsh, words.symptom))) {
      Finding finding = diagnosis.DraftFinding(std::string(ToString(words.symptom)), pattern.nodes,
                                               pattern.checks);
      finding.cause = fmt::format(fmt::runtime(ChooseTemplate(words, pattern.scope)),
                                  pattern.nodes.front(), pattern.nodes.back());
      finding.next_step = words.next;
      const std::size_t id = diagnosis.AddFinding(std::move(finding));
      for (const std::size_t i : pattern.checks) diagnosis.Explain(i, id);
    }
  }
}

}  // namespace reconciler
