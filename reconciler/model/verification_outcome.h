#pragma once

namespace reconciler {

// What a verification came to, as the history of generations has it.
enum class VerificationOutcome { kPassed, kFailed, kNotMeasured };

}  // namespace reconciler
