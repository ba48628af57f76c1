#include "tests/fuzz/target.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::fuzz {

bool IsPlainText(std::string_view text) {
  return IsValidUtf8(text) && std::all_of(text.begin(), text.end(), [](char one) {
           return one == '\n' || (static_cast<unsigned char>(one) >= 0x20 && one != 0x7f);
         });
}

void CheckError(const Error& error) {
  Must(!error.message.empty(), "an error has a message");
  std::string shown = FormatError(error);
  std::replace(shown.begin(), shown.end(), '\t', ' ');  // of the manifest's own line
  Must(IsPlainText(shown), "an error is plain text");
}

std::string_view TakePart(std::string_view& rest, std::string_view separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + separator.size());
  return part;
}

}  // namespace reconciler::fuzz
