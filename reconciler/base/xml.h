#pragma once

#include <string>
#include <string_view>

namespace reconciler {

// For text and attributes of XML and HTML. Control characters, for which XML has no form, and bytes
// that are not UTF-8 come out as \xNN; see MakePrintable.
std::string EscapeXml(std::string_view text);

}  // namespace reconciler
