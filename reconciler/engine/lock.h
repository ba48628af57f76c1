#pragma once

#include <string>

namespace reconciler {

// What a lease says of its holder. The lock itself belongs to the Session.
std::string WhoAmI();     // "ada@workstation pid 4711"
std::string TimeNow();    // UTC, RFC 3339: "2026-05-01T10:00:00Z"
std::string LeaseText();  // "ada@workstation pid 4711 since 2026-05-01T10:00:00Z"

}  // namespace reconciler
