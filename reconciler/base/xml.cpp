#include "reconciler/base/xml.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {

std::string EscapeXml(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEntities[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
  std::string escaped;
  for (const char c : MakePrintable(text)) {
    const auto* entity = std::find_if(std::begin(kEntities), std::end(kEntities),
                                      [c](const auto& known) { return known.first == c; });
    if (entity == std::end(kEntities)) {
      escaped += c;
    } else {
      escaped += entity->second;
    }
  }
  // Two characters of UTF-8 that XML 1.0 has no form for.
  for (const std::string_view forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = escaped.find(forbidden, at)) != std::string::npos;) {
      escaped.replace(at, forbidden.size(), "\xEF\xBF\xBD");
    }
  }
  return escaped;
}

}  // namespace reconciler
