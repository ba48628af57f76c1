#pragma once

#include <string_view>

namespace reconciler {

// What a verification came to, as the history of generations has it.
enum class VerificationOutcome { kPassed, kFailed, kNotMeasured };

std::string_view ToString(VerificationOutcome outcome);  // "passed", "failed", "not measured"

}  // namespace reconciler
