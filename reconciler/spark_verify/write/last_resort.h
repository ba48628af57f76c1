#pragma once

namespace reconciler::spark_verify {

// Ends a write test that hangs in the kernel, where nothing of ours runs any more but the timer:
// two seconds after its deadline the process says so on stdout and exits with 1.
void ArmLastResort(int limit_ms);

}  // namespace reconciler::spark_verify
