#include "reconciler/spark_verify/protocol/nccl_id.h"

#include <fmt/format.h>

#include <algorithm>

namespace reconciler::spark_verify {
namespace {

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToHex(const UniqueId& id) {
  std::string text;
  for (const unsigned char byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

Result<UniqueId> ParseUniqueId(std::string_view hex) {
  UniqueId id = {};
  const bool digits = std::all_of(hex.begin(), hex.end(), [](char c) { return Digit(c) >= 0; });
  if (hex.size() != 2 * id.size() || !digits) {
    return Fail(
        {.kind = ErrorKind::kVerify,
         .message = fmt::format("wanted a unique id of {} hexadecimal digits, found {} characters",
                                2 * id.size(), hex.size())});
  }
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<unsigned char>(Digit(hex[2 * i]) << 4 | Digit(hex[2 * i + 1]));
  }
  return id;
}

}  // namespace reconciler::spark_verify
