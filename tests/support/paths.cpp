#include "tests/support/paths.h"

namespace reconciler::test {

std::string SourceDir() { return SPARK_SOURCE_DIR; }
std::string BinaryDir() { return SPARK_BINARY_DIR; }

}  // namespace reconciler::test
