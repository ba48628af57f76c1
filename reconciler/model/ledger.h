#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/observed.h"
#include "reconciler/base/result.h"
#include "reconciler/model/action.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// One thing on a node that we changed and did not prune since.
struct LedgerEntry {
  std::string kind;
  std::string name;
  bool is_link = false;  // see Resource
  std::string plugin;
  int generation = 0;  // the apply that changed it last
  // What returns it to what it was before we touched it first: at most one write or removal, of the
  // file `name`, the commands before it, and those that follow all files of a stage. All empty:
  // what we made cannot be deleted without the risk of deleting what is not ours.
  std::vector<Action> original;
  std::vector<RunCommand> triggers;
  std::vector<RunCommand> again;  // makes it ours again, when its prune failed half way
  Impact impact = Impact::kNone;
  std::string digest;   // SHA-256 of the file as we left it; empty: no file, or we left none
  bool shared = false;  // a file of others with a block of ours in it
  // Of what is compared by a text: that text as it was applied last; "": it was not to be there.
  // nullopt: a file, or applied by a version that did not keep it.
  std::optional<std::string> applied = std::nullopt;

  std::string Id() const { return kind + "/" + name; }
  bool operator==(const LedgerEntry&) const = default;
};

// The write or removal among the actions; nullptr: they are not about a file.
const Action* FindFileAction(const std::vector<Action>& actions);

struct LedgerNode {
  NodeName name;
  int id = 0;
  std::string address;
  bool operator==(const LedgerNode&) const = default;
};

// No generation has a larger number: what a node says beyond that is none.
inline constexpr int kLargestGeneration = 1'000'000'000;

// How the document of a generation begins; the digest of its manifest and '"' follow. Versions
// before this one have the digest on a later line.
inline constexpr std::string_view kGenerationStart = R"({"manifest_digest": ")";

// What each node remembers of us, in kLedgerFile. Invariant: no two entries with the same id.
struct Ledger {
  std::string cluster;
  int generation = 0;                // the last apply of the cluster that wrote it
  std::string manifest_digest;       // of the last one of which nothing was left out
  std::vector<LedgerNode> nodes;     // of the whole cluster at that time
  std::vector<LedgerEntry> entries;  // in the order in which we touched them first

  const LedgerEntry* Find(std::string_view id) const;
  bool operator==(const Ledger&) const = default;
};

inline constexpr std::string_view kStateFolder = "/var/lib/spark-reconcile";
inline constexpr std::string_view kLedgerFile = "/var/lib/spark-reconcile/ledger.json";
// Bytes of its text. All that is read of a node at once may have twice as many.
inline constexpr std::size_t kLargestLedger = 8u << 20;
// The files of the ledger's entries, one path per line, so that one exec can read them too.
inline constexpr std::string_view kOwnedList = "/var/lib/spark-reconcile/owned";

// The ledger's own text, and the text of kOwnedList.
std::string FormatLedger(const Ledger& ledger);
std::string FormatOwnedList(const Ledger& ledger);

// Errors are kInput and name the place in the document ("/entries/0/kind").
Result<Ledger> ParseLedger(std::string_view json);

// Whether ParseLedger's error, which is why a ledger is unknown, is that another version of the
// program wrote it in a format of its own.
bool IsOfOtherVersion(const Unknown& ledger);

}  // namespace reconciler
