#include "reconciler/spark_verify/nccl/gpu_users.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <thread>

#include "reconciler/base/number.h"
#include "reconciler/spark_verify/nccl/library.h"
#include "reconciler/spark_verify/protocol/nccl_options.h"

namespace reconciler::spark_verify {
namespace {

namespace fs = std::filesystem;

// nvml.h: nvmlProcessInfo_v2_t.
struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;  // all ones: not reported
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);
using NvmlDevice = struct NvmlDeviceOpaque*;
constexpr unsigned kMostProcesses = 256;

std::string ReadContents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Words of a command line end with a zero byte each.
bool IsInRun(const fs::path& process, const std::string& run) {
  std::istringstream words(ReadContents(process / "cmdline"));
  for (std::string word; std::getline(words, word, '\0');) {
    if (IsOfRun(word, run)) return true;
  }
  return false;
}

std::string ReadProcessName(const fs::path& process) {
  std::string name;
  std::ifstream file(process / "comm");
  std::getline(file, name);
  return name;
}

std::optional<std::vector<BusyProcess>> ReadNvml(const std::string& pci) {
  const auto library = Library::Open("libnvidia-ml.so.1");
  int (*init)() = nullptr;
  int (*by_bus)(const char*, NvmlDevice*) = nullptr;
  int (*processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
  if (!library || !library->Find("nvmlInit_v2", init) ||
      !library->Find("nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
      !library->Find("nvmlDeviceGetComputeRunningProcesses_v3", processes)) {
    return std::nullopt;
  }
  NvmlDevice device = nullptr;
  std::vector<NvmlProcess> raw(kMostProcesses);
  unsigned count = kMostProcesses;
  if (init() != 0 || by_bus(pci.c_str(), &device) != 0 ||
      processes(device, &count, raw.data()) != 0) {
    return std::nullopt;
  }
  std::vector<BusyProcess> found;
  for (unsigned i = 0; i < count; ++i) {
    const bool known = raw[i].bytes != ~0ull;
    found.push_back({.pid = static_cast<int>(raw[i].pid), .bytes = known ? raw[i].bytes : 0});
  }
  return found;
}

bool HasComputeOpen(const fs::path& process) {
  std::error_code error;
  for (const auto& file : fs::directory_iterator(process / "fd", error)) {
    std::error_code gone;
    if (fs::read_symlink(file.path(), gone) == "/dev/nvidia-uvm") return true;
  }
  return false;
}

std::vector<BusyProcess> ReadProc(const fs::path& proc) {
  std::vector<BusyProcess> found;
  std::error_code error;
  for (const auto& process : fs::directory_iterator(proc, error)) {
    const std::string name = process.path().filename();
    const auto pid = ParseNumber<int>(name);
    if (pid && HasComputeOpen(process.path())) found.push_back({.pid = *pid});
  }
  return found;
}

// A process that has just ended is listed until the driver has freed its memory. One that
// stays and is not to be seen lives in another container.
std::optional<std::vector<BusyProcess>> ReadNvmlAtRest(const std::string& pci,
                                                       const fs::path& proc) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kBetween(100);
  for (int i = 0;; ++i) {
    auto found = ReadNvml(pci);
    const bool ending = found && std::any_of(found->begin(), found->end(), [&](const auto& one) {
                          return !fs::exists(proc / std::to_string(one.pid));
                        });
    if (!ending || i == kTries) return found;
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace

GpuUsers FindGpuUsers(const std::string& pci, const std::string& run, const std::string& root) {
  GpuUsers users;
  const fs::path proc = root + "/proc";
  auto found = root.empty() ? ReadNvmlAtRest(pci, proc) : std::nullopt;
  users.source = found ? "nvml" : "proc";
  if (!found) found = ReadProc(proc);
  for (BusyProcess& one : *found) {
    const fs::path process = proc / std::to_string(one.pid);
    if (one.pid == getpid() || IsInRun(process, run)) continue;
    one.name = ReadProcessName(process);
    users.processes.push_back(std::move(one));
  }
  return users;
}

}  // namespace reconciler::spark_verify
