#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reconciler {

// A whole file of ours: a two-line "#" comment that names the cluster and the digest of the body,
// then the body. Whoever finds the file on a node learns from it whose it is, and we learn whether
// it was edited since. Precondition: the file's format has "#" comments; body ends in newline.
std::string FormatOwnedFile(std::string_view cluster, std::string_view body);

// The cluster that a whole file's mark names, edited or not; nullopt: the file is not ours.
std::optional<std::string> FindOwner(std::string_view content);
// True when `content` begins with our mark for this cluster, edited or not.
bool IsOwnedFile(std::string_view content, std::string_view cluster);

// A file that others write too, with our lines between two marker lines that name the cluster and
// `topic` ("hosts", "ssh-mesh"). Only what stands between the markers is ours.
//
// Returns `content` with the block set to `body`: in place where the block stands, at the end (on a
// line of its own) where there was none, and removed with its markers when `body` is empty. Text
// outside the markers keeps every byte. A begin marker without its end marker owns only its own
// line: what follows it may be someone's.
std::string SetBlock(std::string_view content, std::string_view cluster, std::string_view topic,
                     std::string_view body);
// Like SetBlock, but a new block goes to the top (an ssh config takes the first match).
std::string SetBlockFirst(std::string_view content, std::string_view cluster,
                          std::string_view topic, std::string_view body);

// The lines between the markers; nullopt when there is no complete block.
std::optional<std::string> ReadBlock(std::string_view content, std::string_view cluster,
                                     std::string_view topic);

// What stands before the block, or before the place of a new one: all of it where there is none.
std::string_view ReadAboveBlock(std::string_view content, std::string_view cluster,
                                std::string_view topic);

// Whether any cluster has a block in it.
bool HasBlock(std::string_view content);

// `content` without any block of this cluster, whatever its topic; the same bytes where there is
// none. A begin marker without its end marker owns only its own line.
std::string RemoveBlocks(std::string_view content, std::string_view cluster);

}  // namespace reconciler
