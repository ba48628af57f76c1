#include <unistd.h>

#include <string>
#include <vector>

#include "reconciler/spark_verify/facts/facts.h"
#include "reconciler/spark_verify/nccl/nccl.h"
#include "reconciler/spark_verify/protocol/lines.h"
#include "reconciler/spark_verify/write/write.h"

namespace {

using reconciler::spark_verify::FactsLine;
using reconciler::spark_verify::NcclUsage;
using reconciler::spark_verify::ParseNcclOptions;
using reconciler::spark_verify::ParseWriteOptions;
using reconciler::spark_verify::RunNccl;
using reconciler::spark_verify::RunWrite;
using reconciler::spark_verify::WriteAll;
using reconciler::spark_verify::WriteUsage;

constexpr int kUsage = 2;
// A driver that does not answer must not keep it on the node.
constexpr unsigned kFactsLimitS = 25;

std::string Help() { return "spark-verify facts\n" + WriteUsage() + NcclUsage(); }

int Usage(const std::string& error) {
  WriteAll(STDERR_FILENO, error + Help());
  return kUsage;
}

template <class Options>
std::string Refusal(const Options& options) {
  return "spark-verify: " + options.error().message + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return Usage("spark-verify: wanted facts, write or nccl, found nothing\n");
  const std::vector<std::string> flags(words.begin() + 1, words.end());
  if (words.front() == "--help") {
    WriteAll(STDOUT_FILENO, Help());
    return 0;
  }
  if (words == std::vector<std::string>{"facts"}) {
    alarm(kFactsLimitS);
    WriteAll(STDOUT_FILENO, FactsLine());
    return 0;
  }
  if (words.front() == "write") {
    const auto options = ParseWriteOptions(flags);
    return options ? RunWrite(*options) : Usage(Refusal(options));
  }
  if (words.front() == "nccl") {
    const auto options = ParseNcclOptions(flags);
    if (!options) return Usage(Refusal(options));
    RunNccl(*options);
  }
  return Usage("spark-verify: wanted facts, write or nccl, found '" + words.front() + "'\n");
}
