#pragma once

#include <string>
#include <vector>

#include "reconciler/base/error.h"

namespace reconciler {

// What a diagnostic blocks is its scope: where `change` is set, that one change of its node, which
// has no actions then, while the rest is applied; where `change` is empty, everything: nothing is
// applied on any node.
enum class Severity {
  kBlocks,   // see above
  kWarns,    // the manifest does not hold, or will not after a restart, and a person must act
  kInforms,  // what was decided and why; nothing is left to do for it
};

// What a plan reports about nodes besides its changes.
struct Diagnostic {
  Severity severity = Severity::kInforms;
  std::string code;       // stable; listed in docs/diagnosis.md
  std::string message;    // what and why; lower case, no full stop, without the node's name
  std::string next_step;  // what a person does about it; empty: nothing
  SourceMark where;       // the manifest line that it is about
  // What on the node it is about: a file, a setting, a peer's key. The same while the message's
  // values change; may be empty.
  std::string subject;

  // Set by planning.
  std::string plugin;              // that says it; empty: none of them
  std::string change;              // "kind/name" of the blocked change that it is the cause of
  std::vector<std::string> nodes;  // of which it holds; empty: of the cluster
  bool operator==(const Diagnostic&) const = default;
};

// "cluster.yaml:18"; empty where the line is not known.
std::string FormatManifestLine(const SourceMark& where);

// How a place in the manifest is written.
enum class PlaceForm {
  kLine,    // "cluster.yaml:18"
  kColumn,  // as errors have it, with the file as it was named: "dir/cluster.yaml:18:3"
};

// "warning: spark-1, spark-2: MESSAGE [code]  cluster.yaml:18" and, below it, the next step. What
// stops everything is an "error", what informs a "note". Ends with a newline.
std::string FormatDiagnostic(const Diagnostic& diagnostic, PlaceForm form = PlaceForm::kLine);

}  // namespace reconciler
