#pragma once

#include <optional>
#include <string>

namespace reconciler::spark_verify {

// Cuts the first line off the buffer, without its newline; nullopt: it holds no whole one.
std::optional<std::string> CutLine(std::string& buffer);

}  // namespace reconciler::spark_verify
