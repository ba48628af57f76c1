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
  bool to_switch = false;  // a pair's cable gives way to a switch
};

// A manifest's text after an edit. Comments, order and every other line stay as they were.
struct EditedManifest {
  std::string text = {};
  std::vector<std::string> remarks = {};  // what the edit chose on its own, for a person
};

// Pure: the text of a valid manifest and its spec, to the same text with one line more. The node
// gets the number that its name ends in, or an `id` where that is taken or missing. Whether the
// result is valid is for the caller to see (LoadClusterSpec). Errors: the name is taken, the nodes
// do not stand one below the other, or the topology has no place for one more.
tl::expected<EditedManifest, Error> AddNode(std::string_view text, const ClusterSpec& spec,
                                            const NewNode& node);

// The same without the lines of one node. Errors: no such node, or it has no lines of its own.
tl::expected<EditedManifest, Error> RemoveNode(std::string_view text, const ClusterSpec& spec,
                                               const NodeName& name);

}  // namespace reconciler
