#include "reconciler/spark_verify/protocol/gid.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace reconciler::spark_verify {
namespace {

bool IsMapped(const Gid& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) &&
         gid[10] == 0xff && gid[11] == 0xff;
}

std::string FormatTable(const std::vector<GidEntry>& table) {
  if (table.empty()) return "an empty table";
  std::string text;
  for (const GidEntry& entry : table) {
    const std::string ipv4 = FormatIpv4(entry.gid);
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", entry.index,
                        ipv4.empty() ? ToString(entry.gid) : ipv4, ToString(entry.type));
  }
  return text;
}

}  // namespace

std::string ToString(GidType type) {
  switch (type) {
    case GidType::kInfiniBand:
      return "IB";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
  }
  return {};
}

std::string ToString(const Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  }
  return text;
}

Result<Gid> ParseGid(std::string_view text) {
  Gid gid = {};
  if (inet_pton(AF_INET6, std::string(text).c_str(), gid.data()) != 1) {
    return Fail({.kind = ErrorKind::kInput,
                 .message = fmt::format("wanted a GID like fe80::1, found '{}'", text)});
  }
  return gid;
}

std::string FormatIpv4(const Gid& gid) {
  if (!IsMapped(gid)) return {};
  return fmt::format("{}.{}.{}.{}", gid[12], gid[13], gid[14], gid[15]);
}

Result<GidEntry> ChooseGid(const std::vector<GidEntry>& table, const std::string& hca,
                           const std::string& ipv4) {
  std::vector<GidEntry> fits;
  std::copy_if(table.begin(), table.end(), std::back_inserter(fits), [&](const GidEntry& entry) {
    return entry.type == GidType::kRoceV2 && FormatIpv4(entry.gid) == ipv4;
  });
  if (fits.size() == 1) return fits.front();
  if (fits.empty()) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted a RoCE v2 GID for {} on {}, found {}", ipv4, hca,
                                        FormatTable(table)),
                 .hint = "the kernel makes it from the address of the HCA's own interface, while "
                         "that is up"});
  }
  return Fail({.kind = ErrorKind::kVerify,
               .message = fmt::format("wanted one RoCE v2 GID for {} on {}, found {}", ipv4, hca,
                                      FormatTable(fits)),
               .hint = "give the address to one interface only"});
}

}  // namespace reconciler::spark_verify
