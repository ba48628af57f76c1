#pragma once

#include <string>

namespace reconciler::test {

// The file that a shell makes when it runs a piece of these texts.
inline constexpr const char* kInjected = "/dev/shm/spark-injected";

// Any bytes, with words that a shell, JSON, YAML or a terminal would love to misread. Only within a
// property.
std::string HostileBytes();
// The same without NUL, which no text that a shell carries out can hold.
std::string HostileBytesButNul();

// The same as far as a manifest may hold it: printable ASCII and UTF-8 on one line.
std::string HostileLine();
// With newlines and tabs too.
std::string HostileUtf8();

// As a scalar in double quotes, for YAML and JSON alike. Precondition: valid UTF-8.
std::string Quoted(const std::string& text);

}  // namespace reconciler::test
