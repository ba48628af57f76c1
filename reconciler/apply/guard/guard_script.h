#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/fabric/beacon.h"

namespace reconciler {

// The guard is what a node needs to end an apply on its own: a plain shell script beside the
// journal with the verbs `revert`, `commit`, `finish` and `watch`, a transient systemd timer that
// runs `watch` when the apply makes no progress any more, and a boot-time unit for the case that
// the node restarts half way. It needs neither us nor sshd. Systemd starts it again until it has
// succeeded.
//
// An apply's life on a node, as `watch` finds it when the timer fires:
//   no intent             the node reverts the apply
//   intent, no decision   it waits a moment, checks its peers' beacons, then commits or reverts
//   decision "commit"     it carries the commit out, keeps its beacon for the others for a while
//   decision "revert"     it tries the revert again when that failed

// All times in seconds.
struct GuardTimes {
  int revert_after = 90;  // without progress
  int boot = 900;         // after a restart, in which a home may still be mounted
  // Between the deadline and a look at the peers' beacons: those without intent are back by then.
  int moment() const { return revert_after < 10 ? 10 : revert_after > 30 ? 30 : revert_after; }
  // A committed node's beacon outlives every peer's decision; where peers check in rounds, two
  // moments per round longer.
  int linger() const { return 2 * revert_after + 60; }
};

// What carries logins, by the names that it has on Debian, Ubuntu and others. A revert starts again
// what was active when the guard was armed.
inline constexpr std::string_view kSshUnits = "ssh.service sshd.service ssh.socket sshd.socket";

// "spark-reconcile-guard-1f0c2ab9-5e31a7d0": the timer and the boot-time units of an apply.
std::string NameGuardUnit(std::string_view apply_id);

// The guard's script, which root may run by hand at any time; see guard.sh. Its verb `revert`
// decides, ends what is on trial, restores every journalled file (content, mode, owner, times;
// newest step first) and the generated ones, removes the directories that the apply made, and has
// live values follow. With the argument "boot" only the files are restored. Exit code 0: `state` is
// "reverted"; otherwise "revert-failed", and it says which files are left.
std::string BuildGuardScript(std::string_view journal, const std::vector<GuardedStage>& stages,
                             const GuardTimes& times = {});

// Requests for a session. Exit code 0 is success; what went wrong is on stderr.

// Arms the guard over all stages so far and reads it back: success only when the timer is active.
// Arming again (a further pass) replaces the script and counts as progress. `ports`: whose kernel
// settings are noted for the revert. What lies outside of them and of `unused` must be whole at the
// intent.
std::string BuildArmRequest(std::string_view journal, const std::vector<GuardedStage>& stages,
                            const GuardTimes& times, const std::vector<std::string>& ports = {},
                            const std::vector<std::string>& unused = {});

// Files below /var/lib/spark-reconcile by name, as they will be after the commit.
using Documents = std::map<std::string, std::string>;

// Shows the addresses of the proof: `proof` has those of no node's beacon.
std::string BuildShowProofRequest(std::string_view journal, const Peers& proof);

// Looks for those of the peers, each over each interface. stdout: see ParseBeaconReply.
std::string BuildLookForPeersRequest(std::string_view journal);

// The node is ready to commit and says so with its beacons: every file is as the apply left it, the
// bytes lie beside their targets, the ledger's documents are there. `rounds`: how often its peers
// must have answered before it may commit without us.
std::string BuildIntentRequest(std::string_view journal, const Documents& documents,
                               const Peers& peers);

// The decision; what was on trial takes its place. Exit code 3: the node has decided otherwise.
std::string BuildCommitRequest(std::string_view journal);

// Every node has committed: nothing is kept for the others any more.
std::string BuildFinishRequest(std::string_view journal);

// Counts as progress.
std::string BuildBeatRequest(std::string_view journal);

// Reverts the apply now. Exit code 0: every file is as it was.
std::string BuildRevertRequest(std::string_view journal);

// What earlier applies left undecided, or decided and not carried out, and which were finished, one
// line each on stdout: "APPLY none|intent|commit|revert|finished". Precondition: we hold the node's
// lock, so their controllers have lost this node at least.
std::string BuildUnfinishedRequest();

// kCheckPeers: by the peers' beacons, as the node would decide after its deadline.
enum class UnfinishedEnd { kCommit, kRevert, kCheckPeers };

// Ends one of them. stdout: "commit" where that is how it ended.
std::string BuildEndUnfinishedRequest(std::string_view apply_id, UnfinishedEnd end);

}  // namespace reconciler
