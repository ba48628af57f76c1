#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/base/observed.h"
#include "reconciler/model/action.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// What a resource is compared by: a whole file, or one line of canonical text ("9000",
// "enabled active").
using ResourceState = std::variant<FileState, std::string>;

// Desired although its text is known only after another change of the same apply ran (a public key
// that is yet to be made). Planned and shown, carried out by the next pass of the same apply.
struct KnownAfterApply {
  struct LeftAsIs {  // see Resource::left_as_is
    bool operator==(const LeftAsIs&) const = default;
  };
  std::string what;  // "public key of spark-2"
  // What is desired where that change stays away, as --only leaves it out; nullopt: not known.
  std::optional<std::variant<ResourceState, Absent, LeftAsIs>> otherwise = std::nullopt;
  bool operator==(const KnownAfterApply&) const = default;
};

// Why something that differs must not be changed now.
struct Obstacle {
  std::string code;  // as of a Diagnostic
  std::string why;   // empty: there is none
  bool empty() const { return why.empty(); }
  bool operator==(const Obstacle&) const = default;
};

// Settings that an owner has by default, so that it is no loss worth a note that ours has none.
inline constexpr std::string_view kIpv6LinkLocal = "IPv6 link-local";
inline constexpr std::string_view kRouterAdvertisements = "router advertisements";

// Who else has a thing that is taken over, or that is blocked because of that.
struct OtherOwner {
  std::string name;                 // its file, or its unit, bond or bridge; empty: there is none
  std::vector<std::string> claims;  // the ports that it configures
  std::vector<std::string> settings_lost;  // of one taken over: what ours does not carry over
  bool operator==(const OtherOwner&) const = default;
};

// How a thing returns to its original: commands before its file does, and commands after
// all files of the stage did. Left out: nothing before, then the triggers and the revert commands.
struct PruneCommands {
  std::vector<RunCommand> before;
  std::vector<RunCommand> after;
  // They are about a part of the thing that was not managed when the ledger got its entry, which
  // has them too from now on. Otherwise an entry that is there keeps what it has.
  bool adds = false;
  bool operator==(const PruneCommands&) const = default;
};

// One thing on one node that must hold. Plugins say what must hold; only the engine compares.
struct Resource {
  std::string kind;      // what sort of thing, as the plan prints it: "file"
  std::string name;      // unique per node and kind: a path, a netdev, a key
  bool is_link = false;  // the network interface `name`, whose other end must change with it
  NodeName node;
  std::variant<ResourceState, KnownAfterApply, Absent> desired = Absent{};
  Observed<ResourceState> observed = Absent{};
  // Another owner configures it too, so that what is observed may last until the next boot or
  // re-plug only: it does not hold, whatever its state is.
  bool contested = false;
  // What to do when they differ. For a file, what follows its write or removal, which is the
  // engine's. Revert runs when a later step of the same apply fails; files are restored from the
  // journal.
  std::vector<Action> apply;
  std::vector<Action> revert;
  Trial trial;  // only for a file
  // A change of it is part of an adoption and shown as such: see ChangeKind::kAdopt.
  bool adopts = false;
  // Run at the end of the stage, after every change of the stage, in first-seen order, those with
  // one id once per node ("reload the units").
  std::vector<RunCommand> triggers;
  // Only where that is not enough to prune it when the manifest no longer requires it.
  std::optional<PruneCommands> prune_commands = std::nullopt;
  Impact impact = Impact::kNone;
  std::string interrupts;  // the work that runs now and that the change would end; empty: none
  std::string label;       // what follows the name in the plan; empty: made from before and after
  // The file that `apply` brings to effect: where it was edited on the node, this is blocked too.
  std::string activates;
  // What can never be changed by us is no resource but a diagnostic.
  Obstacle blocked;
  // Nothing can be done for it now, and a diagnostic of its plugin says so: it is no change, and
  // what was applied of it is not pruned.
  bool left_as_is = false;
  OtherOwner owner;
  // Ids of other resources, of any node, without which this one is of no use: it is blocked where
  // one of them is. It says nothing about the order of changes: see Plugin::after.
  std::vector<std::string> needs;
  // Subjects of warnings about its node that a change of it settles, whichever plugin has them: a
  // plan with that change is without them.
  std::vector<std::string> settles;
  SourceMark where;  // the manifest line that requires it

  std::string Id() const { return node + "/" + kind + "/" + name; }
};

}  // namespace reconciler
