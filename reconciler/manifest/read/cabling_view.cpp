#include "reconciler/manifest/read/cabling_view.h"

namespace reconciler {

std::optional<Topology> ViewTopology(const Value& document) {
  const Value* topology = document.At({"fabric", "topology"});
  if (topology == nullptr) {
    if (document.At({"fabric", "links"}) == nullptr) return std::nullopt;
    return Topology::kLinks;
  }
  for (const Topology known :
       {Topology::kDirect, Topology::kRing, Topology::kSwitch, Topology::kLeafSpine}) {
    if (topology->AsString() != nullptr && *topology->AsString() == ToString(known)) return known;
  }
  return std::nullopt;
}

std::optional<LinkEnd> ParseLinkEnd(const Value& end) {
  const std::string* text = end.AsString();
  if (text == nullptr) return std::nullopt;
  const std::size_t dot = text->rfind('.');
  if (dot == std::string::npos || dot == 0) return std::nullopt;
  const std::string cage = text->substr(dot + 1);
  if (cage != "p0" && cage != "p1") return std::nullopt;
  return LinkEnd{text->substr(0, dot), cage, end.position};
}

std::vector<LinkView> ViewLinks(const Value& document) {
  std::vector<LinkView> views;
  const Value* links = document.At({"fabric", "links"});
  if (links == nullptr) return views;
  for (const Value& link : links->List()) {
    if (link.List().size() != 2) continue;
    auto a = ParseLinkEnd(link.List()[0]);
    auto b = ParseLinkEnd(link.List()[1]);
    if (a && b) views.push_back({*std::move(a), *std::move(b), link.position});
  }
  return views;
}

bool IsCollectivesRing(const Value& document) {
  const Value* ring = document.At({"fabric", "ring"});
  return ring != nullptr && ring->ScalarText() == "collectives-only";
}

std::string FindCageName(const Value& document, const Value& node) {
  if (const Value* own = node.Find("cage")) return own->ScalarText();
  const Value* shared = document.At({"fabric", "cage"});
  return shared != nullptr ? shared->ScalarText() : "p1";
}

}  // namespace reconciler
