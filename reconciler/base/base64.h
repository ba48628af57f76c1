#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reconciler {

// Base64 of RFC 4648, section 4, with padding. With a `line_width` (a multiple of 4) each line of
// that many characters, and the last one, ends with a newline; 0: one line without an end.
std::string EncodeBase64(std::string_view bytes, std::size_t line_width = 0);

// The bytes; nullopt unless `text` is that form: whole groups of four, '=' only at the end, no
// blanks, no newlines. Of no text: no bytes.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace reconciler
