#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/adopt/offers.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// Lines of another owner's file that the manifest's `adopt` names for a node.
struct AdoptedLines {
  std::string path = {};
  std::set<std::string> names = {};  // that the lines set: keys or variables
  std::string digest = {};           // the first digits of the file's SHA-256
  Position position = {};
};

// The name as lines have it; nullopt: it is none.
using ReadName = std::optional<std::string> (*)(std::string_view text);

// The entries about files that `is_ours` accepts: each plugin has files of its own. `read`: of a
// name in `match`.
std::vector<AdoptedLines> ReadAdoptedLines(const ClusterSpec& cluster, const NodeName& node,
                                           bool (*is_ours)(std::string_view path), ReadName read);

// Whether one of these entries has this name of this file.
bool IsNamed(const std::vector<AdoptedLines>& entries, const std::string& path,
             const std::string& name);

struct Cut {
  std::string rest = {};
  std::size_t lines = 0;             // that are gone
  std::set<std::string> names = {};  // that they set
};

// Without the lines that set one of `names`. `read`: of one line, with its newline.
Cut CutLines(const std::string& content, const std::set<std::string>& names, ReadName read);

// The file that the entry names, as it was read, without anything that it should be.
Resource MakeLinesResource(const NodeFacts& facts, const AdoptedLines& entry, SourceMark where);

// It should be what is left of it.
void SetRest(const FileState& file, const Cut& cut, Resource& resource);

// Empty: the manifest means this text.
std::string ExplainOtherDigest(const FileState& file, const AdoptedLines& entry);

// What `adopt` could name: "lines: PATH, match: [NAME, NAME]".
AdoptableFile OfferLines(const std::string& path, const std::set<std::string>& names,
                         const FileState& file);

// "NAME.END" without anything that a shell or a pattern takes for more than itself.
bool IsPlainFileName(std::string_view name);

}  // namespace reconciler::plugins
