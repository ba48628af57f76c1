#include "reconciler/spark_verify/protocol/nccl_id.h"

#include <fmt/format.h>

#include "reconciler/base/number.h"

namespace reconciler::spark_verify {

std::string ToHex(const UniqueId& id) {
  std::string text;
  for (const unsigned char byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

Result<UniqueId> ParseUniqueId(std::string_view hex) {
  UniqueId id = {};
  bool digits = hex.size() == 2 * id.size();
  for (std::size_t i = 0; digits && i < id.size(); ++i) {
    const auto byte = ParseNumber<unsigned char>(hex.substr(2 * i, 2), 16);
    digits = byte.has_value();
    if (byte) id[i] = *byte;
  }
  if (!digits) {
    return Fail(
        {.kind = ErrorKind::kVerify,
         .message = fmt::format("wanted a unique id of {} hexadecimal digits, found {} characters",
                                2 * id.size(), hex.size())});
  }
  return id;
}

}  // namespace reconciler::spark_verify
