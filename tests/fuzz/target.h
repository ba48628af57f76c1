#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler::fuzz {

// Every target defines this: one input, whose bytes may be anything. What it throws is a finding.
void Run(std::string_view input);

// A law that holds for every input.
inline void Must(bool holds, const std::string& law) {
  if (!holds) throw std::logic_error("broken: " + law);
}

// Whether a terminal can be shown it as it is: UTF-8 without control characters but newlines.
bool IsPlainText(std::string_view text);

// A refusal says why, and can be shown.
void CheckError(const Error& error);

// The part of `rest` up to `separator`, which is removed as well; without one, all of it.
std::string_view TakePart(std::string_view& rest, std::string_view separator);

}  // namespace reconciler::fuzz
