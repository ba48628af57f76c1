#include "reconciler/base/base64.h"

#include <openssl/evp.h>

namespace reconciler {

std::string EncodeBase64(std::string_view bytes, std::size_t line_width) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP ends it with a NUL
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  if (line_width == 0) return text;
  std::string lines;
  lines.reserve(text.size() + text.size() / line_width + 1);
  for (std::size_t at = 0; at < text.size(); at += line_width) {
    lines.append(text, at, line_width);
    lines += '\n';
  }
  return lines;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  // EVP skips blanks and newlines, and takes '=' in places where it has no meaning.
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  if (text.size() % 4 != 0 || digits.find_first_not_of(kAlphabet) != std::string_view::npos) {
    return std::nullopt;
  }
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length) - padding);  // EVP counts the padding as bytes
  return bytes;
}

}  // namespace reconciler
