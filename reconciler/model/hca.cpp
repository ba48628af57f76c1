#include "reconciler/model/hca.h"

#include <fmt/format.h>

namespace reconciler {

std::string MakeMappedGid(Ipv4Address address) {
  return fmt::format("0000:0000:0000:0000:0000:ffff:{:04x}:{:04x}", address.bits >> 16,
                     address.bits & 0xffff);
}

}  // namespace reconciler
