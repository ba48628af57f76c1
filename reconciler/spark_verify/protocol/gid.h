#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

enum class GidType { kInfiniBand, kRoceV1, kRoceV2 };

using Gid = std::array<std::uint8_t, 16>;  // network byte order

struct GidEntry {
  int index = 0;
  Gid gid = {};
  GidType type = GidType::kInfiniBand;
  std::string netdev = {};  // "": not reported
};

std::string ToString(GidType type);    // "RoCE v2", as sysfs says it
std::string ToString(const Gid& gid);  // eight groups of four digits
Result<Gid> ParseGid(std::string_view text);
// The IPv4 address in ::ffff:a.b.c.d; "" for any other GID.
std::string FormatIpv4(const Gid& gid);

// The one entry that carries RoCE v2 with that address. The index differs between machines and
// after every change of addresses, so that it is never taken from anywhere but the live table.
// Errors name what the table has instead.
Result<GidEntry> ChooseGid(const std::vector<GidEntry>& table, const std::string& hca,
                           const std::string& ipv4);

}  // namespace reconciler::spark_verify
