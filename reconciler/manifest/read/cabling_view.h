#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/value.h"

namespace reconciler {

struct LinkEnd {
  std::string node = {};
  std::string cage = {};
  Position position = {};
};

struct LinkView {
  LinkEnd a = {};
  LinkEnd b = {};
  Position position = {};
};

// kLinks when there are links and no topology; nothing when the document says neither, or a word
// that is no topology.
std::optional<Topology> ViewTopology(const Value& document);

// "spark-1.p1"; nothing when it has another form.
std::optional<LinkEnd> ParseLinkEnd(const Value& end);

// The links that are well formed.
std::vector<LinkView> ViewLinks(const Value& document);

// Whether the manifest accepts a ring in which only ring collectives work.
bool IsCollectivesRing(const Value& document);

// The cage with a node's one cable: its own, else the fabric's, else the default.
std::string FindCageName(const Value& document, const Value& node);

}  // namespace reconciler
