#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// Of a digest: as many as `adopt` needs, and as messages show.
inline constexpr std::size_t kShownDigits = 12;

// A thing of another owner that the manifest's `adopt` may name for a node.
struct AdoptableFile {
  std::string path;
  std::string entry;   // how `adopt` names it: "file: PATH"
  std::string digest;  // SHA-256 of its content, in hexadecimal; empty: it is no file
  std::string owner;   // who probably wrote it; empty: not known
  NodeName node;
};

// How a person adds to the manifest's `adopt` what it could name. One advice is about all nodes
// that have the thing, so it is made once and not for each of them.
class AdoptOffers {
 public:
  AdoptOffers() = default;
  AdoptOffers(const ClusterSpec& cluster, const std::vector<AdoptableFile>& files);

  // "add {file: PATH, nodes: {spark-1: "…", spark-2: "…"}} to adopt". Where `adopt` has an entry of
  // that name already, it is extended: a second one would be an error. Empty: nothing at `path` is
  // offered for the node.
  std::string Advise(const std::string& path, const NodeName& node) const;

 private:
  // One entry for all nodes that have the thing.
  struct Offer {
    std::string entry = {};                        // as in AdoptableFile: "file: PATH"
    std::map<NodeName, std::string> digests = {};  // all empty: it is no file
    std::string added = {};  // "{file: PATH, nodes: {…}}"; empty: there is an entry of that name
    std::string extended =
        {};  // "extend the entry on line 12 of adopt to {…}"; empty: there is none
  };

  static void Format(const ClusterSpec& cluster, Offer& offer);

  std::map<std::string, std::vector<Offer>> by_path_;
};

}  // namespace reconciler
