#include "plugins/common/gpu/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/gpu/gpu_facts.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

constexpr std::string_view kGpuFolder = "/proc/driver/nvidia/gpus/";
constexpr const char* kKernelId = "gpudirect.kernel";

// All GPUs of a machine are of one kind.
Observed<std::string> ParseModel(const ProbeReply& reply) {
  for (const auto& [path, line] : reply.values) {
    if (!path.starts_with(kGpuFolder)) continue;
    const auto* text = Known(line);
    if (text == nullptr) return line;
    return MakePrintable(Trim(text->substr(text->find(':') + 1)));
  }
  return Absent{};
}

Observed<ModuleState> ParseModule(std::string_view answer) {
  if (answer == "loaded") return ModuleState::kLoaded;
  if (answer == "built in") return ModuleState::kBuiltIn;
  if (answer.starts_with("would insmod ")) return ModuleState::kAvailable;
  if (answer.starts_with("would ")) {
    return Unknown{fmt::format("modprobe.d has its own way to load it: {}",
                               MakePrintable(answer.substr(std::string_view("would ").size())))};
  }
  // "modprobe: FATAL: Module x not found in directory /lib/modules/6.17.0".
  if (answer.find(" not found in directory ") != std::string_view::npos) return Absent{};
  const std::string_view said = Trim(answer.substr(std::min(answer.size(), answer.find(' '))));
  return Unknown{said.empty() ? "modprobe failed without a message" : MakePrintable(said)};
}

// nullopt: the node was not to look, as it takes long.
Fact<bool> ParseSymbol(std::string_view answer) {
  if (answer == "not read") return std::nullopt;
  if (answer == "yes") return true;
  if (answer == "no") return false;
  return Unknown{
      fmt::format("not an answer about the kernel's symbols: '{}'", MakePrintable(answer))};
}

void StoreKernel(const CommandReply& reply, NodeFacts& facts) {
  std::vector<std::string> settings;
  GpuFacts& gpu = facts.gpudirect;
  gpu.symbol = Unknown{"the kernel shows no symbols"};
  for (const std::string& line : SplitLines(reply.out)) {
    const std::string_view text = line;
    constexpr std::string_view kSymbol = "symbol ";
    constexpr std::string_view kModule = "module ";
    if (text.starts_with(kSymbol)) {
      gpu.symbol = ParseSymbol(text.substr(kSymbol.size()));
    } else if (text.starts_with(kModule)) {
      const std::string_view rest = text.substr(kModule.size());
      const std::size_t blank = std::min(rest.size(), rest.find(' '));
      gpu.modules[std::string(rest.substr(0, blank))] = ParseModule(Trim(rest.substr(blank)));
    } else if (text.starts_with("CONFIG_")) {
      settings.emplace_back(text.substr(0, text.find('=')));
    }
  }
  const auto has = [&](std::string_view setting) {
    return std::find(settings.begin(), settings.end(), setting) != settings.end();
  };
  for (const auto& [fact, setting] : {std::pair(&gpu.dmabuf, "CONFIG_DMA_SHARED_BUFFER"),
                                      std::pair(&gpu.p2pdma, "CONFIG_PCI_P2PDMA")}) {
    *fact = has("CONFIG_64BIT") ? Observed<bool>(has(setting))
                                : Unknown{"neither /boot nor /proc holds the kernel's settings"};
  }
}

std::string_view FormatYes(bool value) { return value ? "yes" : "no"; }
std::string_view FormatAttribute(bool value) { return value ? "1" : "0"; }
std::string_view FormatSupport(bool value) { return value ? "supported" : "unsupported"; }
std::string FormatText(const std::string& text) { return text; }

std::string FormatDriver(const NvidiaDriver& driver) {
  return fmt::format("{} {}", driver.open ? "open" : "proprietary", driver.version);
}

std::string_view FormatModule(ModuleState state) {
  return ListEnumNames(&state)[static_cast<std::size_t>(state)];
}

// "driver: open 580.142": a fact in a list of them.
template <class T, class Function>
std::string FormatFact(std::string_view what, const Fact<T>& fact, Function format) {
  if (!fact) return fmt::format("{}: not read", what);
  const T* known = Known(fact);
  if (known != nullptr) return fmt::format("{}: {}", what, format(*known));
  return fmt::format("{}: {}", what, std::holds_alternative<Absent>(*fact) ? "none" : "unknown");
}

}  // namespace

std::vector<Read> ListGpuReads(const std::optional<GpuSection>& section) {
  // The kernel writes ten megabytes of symbols to be looked through (45 ms): for a GB10, which has
  // no use for them, only where the manifest requires what needs them.
  const bool always = section && section->Loads(kPeermemModule);
  RunProbe kernel{.id = kKernelId,
                  .argv = {"sh", "-c", std::string(kGpuFactsSh), "sh", always ? "always" : "mostly",
                           std::string(kPeermemModule)}};
  for (const GpuModule& module : section ? section->Modules() : std::vector<GpuModule>()) {
    if (module.name != kPeermemModule) kernel.argv.push_back(module.name);
  }
  return {ReadValue{kDriverFile}, ReadValues{std::string(kGpuFolder) + "*/information"},
          std::move(kernel)};
}

void StoreGpuFacts(const ProbeReply& reply, NodeFacts& facts) {
  const auto driver = reply.values.find(kDriverFile);
  const auto kernel = reply.commands.find(kKernelId);
  if (driver == reply.values.end() || kernel == reply.commands.end()) return;  // not requested
  facts.gpudirect.driver = ParseNvidiaDriver(driver->second);
  facts.gpudirect.gpu = ParseModel(reply);
  StoreKernel(kernel->second, facts);
}

Observed<ModuleState> FindModule(const NodeFacts& facts, const std::string& module) {
  const auto found = facts.gpudirect.modules.find(module);
  if (found == facts.gpudirect.modules.end()) return Unknown{"modprobe was not run for it"};
  return found->second;
}

bool IsModuleThere(const NodeFacts& facts, const std::string& module) {
  const Observed<ModuleState> observed = FindModule(facts, module);
  const auto* state = Known(observed);
  return state != nullptr && (*state == ModuleState::kLoaded || *state == ModuleState::kBuiltIn);
}

bool IsKnownNo(const Fact<bool>& fact) {
  const bool* known = Known(fact);
  return known != nullptr && !*known;
}

std::string FormatGpuEvidence(const NodeFacts& facts) {
  const GpuFacts& gpu = facts.gpudirect;
  const Fact<ModuleState> peermem = FindModule(facts, std::string(kPeermemModule));
  return Join(
      {FormatFact("driver", gpu.driver, FormatDriver), FormatFact("GPU", gpu.gpu, FormatText),
       FormatFact("ib_register_peer_memory_client in the kernel", gpu.symbol, FormatYes),
       FormatFact(kPeermemModule, peermem, FormatModule),
       FormatFact("CONFIG_DMA_SHARED_BUFFER", gpu.dmabuf, FormatYes),
       FormatFact("CONFIG_PCI_P2PDMA", gpu.p2pdma, FormatYes),
       FormatFact("CUDA attribute 116", gpu.cuda_rdma, FormatAttribute),
       FormatFact("CUDA attribute 124", gpu.cuda_dmabuf, FormatAttribute),
       FormatFact("dma-buf of the HCA", gpu.hca_dmabuf, FormatSupport)},
      ", ");
}

}  // namespace reconciler::plugins
