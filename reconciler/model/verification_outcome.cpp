#include "reconciler/model/verification_outcome.h"

namespace reconciler {

std::string_view ToString(VerificationOutcome outcome) {
  switch (outcome) {
    case VerificationOutcome::kPassed:
      return "passed";
    case VerificationOutcome::kFailed:
      return "failed";
    case VerificationOutcome::kNotMeasured:
      return "not measured";
  }
  return "";
}

}  // namespace reconciler
