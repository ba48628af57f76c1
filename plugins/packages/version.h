#pragma once

#include <string_view>

namespace reconciler::plugins::packages {

// Of [EPOCH:]UPSTREAM[-REVISION]: below, at or above 0 where `a` is older than, as new as or newer
// than `b`, by the rules of Debian's policy, section 5.6.12
// (www.debian.org/doc/debian-policy/ch-controlfields.html), as `dpkg --compare-versions` has them.
// Plain versions such as "580.95.05" follow them too.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace reconciler::plugins::packages
