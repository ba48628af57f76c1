#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "reconciler/base/size.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

void CheckSize(const Value& verify, ManifestErrors& errors) {
  const Value* size = verify.Find("size");
  const std::string* text = size != nullptr ? size->AsString() : nullptr;
  const auto bytes = text != nullptr ? ParseSize(*text) : std::nullopt;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  if (!bytes || (*bytes >= kLeast && *bytes <= kMost)) return;
  errors.Add("manifest-size-wrong", size->position,
             fmt::format("wanted a size from 1MiB to 16GiB, found {}", *text),
             "less proves nothing of a link, and more has frozen machines");
}

// What only collectives have, at a level without them.
void CheckEffect(const Value& verify, ManifestErrors& errors) {
  const std::string level = verify.GetText("level");
  if (level != "link" && level != "rdma") return;
  for (const Member& member : verify.Members()) {
    const bool is_of_nccl = member.key == "collectives" || member.key == "size" ||
                            member.key == "min_busbw" || member.key == "skip";
    if (!is_of_nccl) continue;
    errors.Add("manifest-no-effect", member.key_position,
               fmt::format("{} in verify has no effect at level {}", Quoted(member.key), level),
               "remove it, or write level: nccl");
  }
}

void CheckNodesOf(const Value& check, const std::vector<std::string>& known,
                  ManifestErrors& errors) {
  const Value* nodes = check.Find("nodes");
  if (nodes == nullptr) return;
  for (const Value& name : nodes->List()) {
    if (name.AsString() == nullptr) continue;  // refused by the schema
    const std::string& text = *name.AsString();
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    errors.Add("manifest-unknown-name", name.position,
               fmt::format("unknown node {} in checks{}", Quoted(text), FormatGuess(text, known)),
               FormatKnownHint(known));
  }
}

// A path with its mtu, or an image.
void CheckKind(const Value& check, std::size_t number, ManifestErrors& errors) {
  const bool path = check.Find("path") != nullptr;
  const bool mtu = check.Find("mtu") != nullptr;
  const bool image = check.Find("image") != nullptr;
  const auto miss = [&](std::string_view key, std::string hint) {
    errors.Add("manifest-missing-key", check.position,
               fmt::format("missing key '{}' in entry {} of 'checks'", key, number),
               std::move(hint));
  };
  if (image) {
    for (const Member& member : check.Members()) {
      if (member.key != "path" && member.key != "mtu") continue;
      errors.Add("manifest-no-effect", member.key_position,
                 fmt::format("{} in entry {} of 'checks' has no effect beside 'image'",
                             Quoted(member.key), number),
                 "write two entries: one with path and mtu, and one with image");
    }
  } else if (!path) {
    miss("path", "write path and mtu, or image");
  } else if (!mtu) {
    miss("mtu", "mtu: the largest packet that must come back unfragmented, in bytes");
  }
}

void CheckChecks(const Value& document, ManifestErrors& errors) {
  const Value* checks = document.Find("checks");
  if (checks == nullptr) return;
  const std::vector<std::string> known = ListNodeNames(ViewNodes(document));
  const bool are_known = !HasEmptyEntry(document);
  std::size_t number = 0;
  for (const Value& check : checks->List()) {
    ++number;
    if (!check.IsMap()) continue;
    CheckKind(check, number, errors);
    if (are_known) CheckNodesOf(check, known, errors);
  }
}

}  // namespace

void CheckVerify(const Value& document, ManifestErrors& errors) {
  CheckChecks(document, errors);
  const Value* verify = document.Find("verify");
  if (verify == nullptr || !verify->IsMap()) return;
  CheckEffect(*verify, errors);
  CheckSize(*verify, errors);
}

}  // namespace reconciler
