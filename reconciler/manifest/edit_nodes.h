#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

struct NewNode {
  NodeName name = {};
  std::string address = {};
  bool to_switch = false;  // the cables of a pair or a ring give way to a switch
};

// A manifest's text after an edit. Comments, order and every other line stay as they were, but the
// first comment of a starter where no one has changed it: it becomes that of the new topology.
struct EditedManifest {
  std::string text = {};
  std::vector<std::string> remarks = {};  // what the edit chose on its own, for a person
  std::vector<std::string> cables = {};   // what is to be plugged in where; empty: not known
};

// Pure: the text of a valid manifest and its spec, to the same text with one line more. The node
// gets the number that its name ends in, or an `id` where that is taken or missing. A pair becomes
// a ring, or with `to_switch` nodes on a switch, and so does a ring. Whether the result is valid is
// for the caller to see (LoadClusterSpec). Errors: the schema refuses the name or the address, the
// name is taken, the nodes do not stand one below the other, or the topology has no place for one
// more.
tl::expected<EditedManifest, Error> AddNode(std::string_view text, const ClusterSpec& spec,
                                            const NewNode& node);

// The same without the lines of one node, and without its name in `moved` and in the `nodes` of
// other sections; a ring of three becomes a pair. Errors: no such node, it has no lines of its own,
// or the ring or a section cannot be edited.
tl::expected<EditedManifest, Error> RemoveNode(std::string_view text, const ClusterSpec& spec,
                                               const NodeName& name);

}  // namespace reconciler
