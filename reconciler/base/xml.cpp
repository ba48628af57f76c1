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
  return escaped;
}

}  // namespace reconciler
