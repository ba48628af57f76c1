#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/observed.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// What each user's own process said about the files below that user's home (see read_files of
// home_files.sh). nullopt: the node has no such user.
using HomeReplies = std::map<std::string, std::optional<std::string>>;

// Adds one fact for each of `paths` ("~user/rest"). The bytes come from a process that the user may
// tamper with, so nothing in them can concern any other file. Lengths are those of a tar archive,
// which stand before each file's bytes and hold even where the file changed meanwhile.
void AddHomeFiles(const std::vector<std::string>& paths, const HomeReplies& replies,
                  std::map<std::string, Observed<FileState>>& files);

}  // namespace reconciler
