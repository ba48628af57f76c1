#include <unistd.h>

#include <string>
#include <vector>

#include "reconciler/spark_verify/facts/facts.h"
#include "reconciler/spark_verify/io/line_reader.h"
#include "reconciler/spark_verify/nccl/nccl.h"
#include "reconciler/spark_verify/write/write.h"

namespace {

using reconciler::spark_verify::FormatFactsLine;
using reconciler::spark_verify::FormatNcclUsage;
using reconciler::spark_verify::FormatWriteUsage;
using reconciler::spark_verify::ParseNcclOptions;
using reconciler::spark_verify::ParseWriteOptions;
using reconciler::spark_verify::RunNccl;
using reconciler::spark_verify::RunWrite;
using reconciler::spark_verify::WriteAll;

constexpr int kUsage = 2;
// A driver that does not answer must not keep it on the node.
constexpr unsigned kFactsLimitS = 25;

std::string FormatHelp() { return "spark-verify facts\n" + FormatWriteUsage() + FormatNcclUsage(); }

int PrintUsage(const std::string& error) {
  WriteAll(STDERR_FILENO, error + FormatHelp());
  return kUsage;
}

template <class Options>
std::string FindRefusal(const Options& options) {
  return "spark-verify: " + options.error().message + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty())
    return PrintUsage("spark-verify: wanted facts, write or nccl, found nothing\n");
  if (arguments.front() == "--help") {
    WriteAll(STDOUT_FILENO, FormatHelp());
    return 0;
  }
  if (arguments == std::vector<std::string>{"facts"}) {
    alarm(kFactsLimitS);
    WriteAll(STDOUT_FILENO, FormatFactsLine());
    return 0;
  }
  if (arguments.size() > 2) {
    return PrintUsage("spark-verify: wanted one JSON object after '" + arguments.front() +
                      "', found more\n");
  }
  const std::string text = arguments.size() == 2 ? arguments.back() : "{}";
  if (arguments.front() == "write") {
    const auto options = ParseWriteOptions(text);
    return options ? RunWrite(*options) : PrintUsage(FindRefusal(options));
  }
  if (arguments.front() == "nccl") {
    const auto options = ParseNcclOptions(text);
    if (!options) return PrintUsage(FindRefusal(options));
    RunNccl(*options);
  }
  return PrintUsage("spark-verify: wanted facts, write or nccl, found '" + arguments.front() +
                    "'\n");
}
