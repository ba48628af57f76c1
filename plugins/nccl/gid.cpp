#include "plugins/nccl/gid.h"

#include <fmt/format.h>

#include "plugins/nccl/wanted.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kFolder = "/sys/class/infiniband/";

std::string ReadHcaFromPath(const std::string& path) {
  return path.substr(kFolder.size(), path.find('/', kFolder.size()) - kFolder.size());
}

bool IsOfAddress(const std::string& gid, const RailPort& port) {
  const std::string wanted = MakeMappedGid(port.address.address);
  if (!IsLinkLocal(port)) return gid == wanted;
  const std::string_view network = std::string_view(wanted).substr(0, wanted.rfind(':'));
  return gid.starts_with(network);
}

}  // namespace

std::vector<Read> ListGidReads(const Section& section) {
  if (!section.gid_index) return {};
  return {ReadValues{fmt::format("{}*/ports/1/gid_attrs/types/{}", kFolder, *section.gid_index)},
          ReadValues{fmt::format("{}*/ports/1/gids/{}", kFolder, *section.gid_index)}};
}

void StoreGids(const ProbeReply& reply, NodeFacts& facts) {
  for (const auto& [path, value] : reply.values) {
    if (!path.starts_with(kFolder)) continue;
    const bool type = path.find("/gid_attrs/types/") != std::string::npos;
    if (!type && path.find("/gids/") == std::string::npos) continue;
    PinnedGid& pinned = facts.nccl.gids[ReadHcaFromPath(path)];
    (type ? pinned.type : pinned.gid) = AndThen(
        value, [](const std::string& text) { return Observed<std::string>(MakePrintable(text)); });
  }
}

std::string ExplainWrongGid(const Section& section, const RailPort& port, const NodeFacts& facts) {
  if (!section.gid_index) return {};
  const auto found = facts.nccl.gids.find(FindHcaName(port, facts));
  const std::string* gid = found == facts.nccl.gids.end() ? nullptr : Known(found->second.gid);
  if (gid == nullptr) return {};
  const auto* kind = Known(found->second.type);  // an empty place in the table has none
  if (kind != nullptr && *kind == kRoceV2 && IsOfAddress(*gid, port)) return {};
  return fmt::format("wanted RoCE v2 of {} at index {}, found {}",
                     IsLinkLocal(port) ? "a link-local address" : ToString(port.address.address),
                     *section.gid_index,
                     kind == nullptr ? "nothing" : fmt::format("{} of {}", *kind, *gid));
}

}  // namespace reconciler::plugins::nccl
