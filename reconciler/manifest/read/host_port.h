#pragma once

#include <string_view>

namespace reconciler {

// Whether an address ends in a port, as in "192.168.1.21:22". An IPv6 address has more than one
// ':'.
inline bool HasPort(std::string_view address) {
  const std::size_t colon = address.find(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < address.size() &&
         address.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

}  // namespace reconciler
