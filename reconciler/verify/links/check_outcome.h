#pragma once

#include <string>
#include <utility>

#include "reconciler/verify/report/report.h"

namespace reconciler {

inline void SetFailed(Check& check, Symptom symptom, std::string measured) {
  check.outcome = Outcome::kFail;
  check.symptom = symptom;
  check.measured = std::move(measured);
}

inline void SetCouldNotMeasure(Check& check, Symptom symptom, std::string why) {
  check.outcome = Outcome::kCouldNotMeasure;
  check.symptom = symptom;
  check.why = std::move(why);
}

inline void SetSkipped(Check& check, std::string why) {
  check.outcome = Outcome::kSkipped;
  check.why = std::move(why);
}

}  // namespace reconciler
