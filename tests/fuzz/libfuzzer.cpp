#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.h"

// libFuzzer brings main() and calls this.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  reconciler::fuzz::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
