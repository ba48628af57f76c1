#include "reconciler/spark_verify/protocol/lines.h"

namespace reconciler::spark_verify {

std::optional<std::string> CutLine(std::string& buffer) {
  const std::size_t end = buffer.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer.substr(0, end);
  buffer.erase(0, end + 1);
  return line;
}

}  // namespace reconciler::spark_verify
