#include "reconciler/model/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reconciler/base/text.h"

namespace reconciler {

bool IsPlainValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_=^,.:;/%@+-").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string FormatShell(const Environment& environment) {
  std::string text;
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("# {}\nexport {}={}\n", why, name, QuoteForShell(value));
  }
  return text;
}

std::string FormatEnvironmentFile(const Environment& environment) {
  std::string text;
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("# {}\n{}={}\n", why, name, value);
  }
  return text;
}

std::string FormatDockerFlags(const Environment& environment) {
  // A container has its own network, its own devices and the daemon's memory lock limit: each of
  // them alone makes NCCL fall back to sockets or fail to register memory. Its own 64 MiB of shared
  // memory and the stack limit are too small for PyTorch and TensorRT-LLM.
  std::string text =
      "--gpus=all\n--network=host\n--ipc=host\n--device=/dev/infiniband\n--cap-add=IPC_LOCK\n"
      "--ulimit=memlock=-1:-1\n--ulimit=stack=67108864\n";
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("--env={}={}\n", name, value);
  }
  return text;
}

}  // namespace reconciler
