#include <unistd.h>

#include <string>
#include <vector>

#include "reconciler/spark_verify/facts.h"
#include "reconciler/spark_verify/lines.h"
#include "reconciler/spark_verify/write.h"

namespace {

using reconciler::spark_verify::FactsLine;
using reconciler::spark_verify::ParseWriteOptions;
using reconciler::spark_verify::RunWrite;
using reconciler::spark_verify::WriteAll;
using reconciler::spark_verify::WriteUsage;

constexpr int kUsage = 2;

int Usage(const std::string& error) {
  WriteAll(STDERR_FILENO, error + "spark-verify facts\n" + WriteUsage());
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return Usage("spark-verify: wanted facts or write, found nothing\n");
  if (words.front() == "--help") {
    WriteAll(STDOUT_FILENO, "spark-verify facts\n" + WriteUsage());
    return 0;
  }
  if (words == std::vector<std::string>{"facts"}) {
    WriteAll(STDOUT_FILENO, FactsLine());
    return 0;
  }
  if (words.front() != "write") {
    return Usage("spark-verify: wanted facts or write, found '" + words.front() + "'\n");
  }
  const auto options = ParseWriteOptions({words.begin() + 1, words.end()});
  if (!options) return Usage("spark-verify: " + options.error().message + "\n");
  return RunWrite(*options);
}
