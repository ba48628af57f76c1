#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace reconciler::test {

// How much slower this machine is than the one on which the limits of tests were set: 1 to 6, as in
// speed.py, which measured it before all tests; 1 for a test that is run by hand.
inline double ReadSlowness() {
  constexpr double kReferenceS = 0.35;
  const char* path = std::getenv("SPARK_SPEED");
  if (path == nullptr) return 1;
  std::ifstream file(path);
  const auto speed = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  const double measured_s =
      speed.is_object() ? speed.value("computation_s", kReferenceS) : kReferenceS;
  return std::clamp(measured_s / kReferenceS, 1.0, 6.0);
}

// `limit`, which is enough on the reference, as it is on this machine.
inline std::chrono::milliseconds ScaleLimit(std::chrono::milliseconds limit) {
  static const double slowness = ReadSlowness();
  const std::chrono::duration<double, std::milli> scaled = limit * slowness;
  return std::chrono::ceil<std::chrono::milliseconds>(scaled);
}

// That not more than `limit`, on a machine as fast as the reference, has passed since `begin`.
inline void ExpectWithin(std::chrono::seconds limit, std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double slowness = ReadSlowness();
  EXPECT_LT(took.count(), static_cast<double>(limit.count()) * slowness)
      << "seconds; this machine is " << slowness << " times slower than the reference";
}

}  // namespace reconciler::test
