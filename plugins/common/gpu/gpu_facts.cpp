#include "plugins/common/gpu/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/gpu/gpu_facts.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

constexpr std::string_view kGpuFolder = "/proc/driver/nvidia/gpus/";
constexpr const char* kKernelId = "gpudirect.kernel";
constexpr const char* kModulePrefix = "gpudirect.module.";

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

Observed<std::string> ParseModule(std::string_view answer) {
  if (answer == "loaded" || answer == "built in") return std::string(answer);
  if (answer.starts_with("would insmod ")) return "available";
  if (answer.starts_with("would ")) {
    return Unknown{fmt::format("modprobe.d has its own way to load it: {}",
                               MakePrintable(answer.substr(std::string_view("would ").size())))};
  }
  // "modprobe: FATAL: Module x not found in directory /lib/modules/6.17.0".
  if (answer.find(" not found in directory ") != std::string_view::npos) return Absent{};
  const std::string_view said = Trim(answer.substr(std::min(answer.size(), answer.find(' '))));
  return Unknown{said.empty() ? "modprobe failed without a word" : MakePrintable(said)};
}

void StoreKernel(const CommandReply& reply, NodeFacts& facts) {
  std::vector<std::string> settings;
  facts.values[kPeerSymbolKey] = Unknown{"the kernel shows no symbols"};
  for (const std::string& line : SplitLines(reply.out)) {
    const std::string_view text = line;
    constexpr std::string_view kSymbol = "symbol ";
    constexpr std::string_view kModule = "module ";
    if (text.starts_with(kSymbol)) {
      facts.values[kPeerSymbolKey] = std::string(text.substr(kSymbol.size()));
    } else if (text.starts_with(kModule)) {
      const std::string_view rest = text.substr(kModule.size());
      const std::size_t blank = std::min(rest.size(), rest.find(' '));
      facts.values[kModulePrefix + std::string(rest.substr(0, blank))] =
          ParseModule(Trim(rest.substr(blank)));
    } else if (text.starts_with("CONFIG_")) {
      settings.emplace_back(text.substr(0, text.find('=')));
    }
  }
  const auto has = [&](std::string_view setting) {
    return std::find(settings.begin(), settings.end(), setting) != settings.end();
  };
  for (const auto& [key, setting] : {std::pair(kKernelDmabufKey, "CONFIG_DMA_SHARED_BUFFER"),
                                     std::pair(kKernelP2pKey, "CONFIG_PCI_P2PDMA")}) {
    facts.values[key] = has("CONFIG_64BIT")
                            ? Observed<std::string>(has(setting) ? "yes" : "no")
                            : Unknown{"neither /boot nor /proc holds the kernel's settings"};
  }
}

// "driver: open 580.142": a fact in a list of them.
std::string FormatFact(std::string_view what, const Observed<std::string>& fact) {
  const auto* text = Known(fact);
  const bool none = std::holds_alternative<Absent>(fact);
  return fmt::format("{}: {}", what, text != nullptr ? *text : none ? "none" : "unknown");
}

std::string FormatFact(std::string_view what, const NodeFacts& facts, const char* key) {
  const auto found = facts.values.find(key);
  return FormatFact(
      what, found == facts.values.end() ? Observed<std::string>("not asked") : found->second);
}

}  // namespace

std::vector<Read> ListGpuReads(const std::optional<GpuSection>& section) {
  // The kernel writes ten megabytes of symbols to be looked through (45 ms): for a GB10, which has
  // no use for them, only where the manifest asks for what needs them.
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
  if (driver == reply.values.end() || kernel == reply.commands.end()) return;  // not asked for
  facts.values[kGpuDriverKey] = ParseNvidiaDriver(driver->second);
  facts.values[kGpuModelKey] = ParseModel(reply);
  StoreKernel(kernel->second, facts);
}

Observed<std::string> FindModule(const NodeFacts& facts, const std::string& module) {
  const auto found = facts.values.find(kModulePrefix + module);
  if (found == facts.values.end()) return Unknown{"modprobe was not asked about it"};
  return found->second;
}

bool IsModuleThere(const NodeFacts& facts, const std::string& module) {
  const Observed<std::string> observed = FindModule(facts, module);
  const auto* state = Known(observed);
  return state != nullptr && (*state == "loaded" || *state == "built in");
}

std::string FindKnownText(const NodeFacts& facts, const std::string& key) {
  const auto found = facts.values.find(key);
  const auto* text = found == facts.values.end() ? nullptr : Known(found->second);
  return text == nullptr ? "" : *text;
}

std::string FormatGpuEvidence(const NodeFacts& facts) {
  return Join({FormatFact("driver", facts, kGpuDriverKey), FormatFact("GPU", facts, kGpuModelKey),
               FormatFact("ib_register_peer_memory_client in the kernel", facts, kPeerSymbolKey),
               FormatFact(kPeermemModule, FindModule(facts, std::string(kPeermemModule))),
               FormatFact("CONFIG_DMA_SHARED_BUFFER", facts, kKernelDmabufKey),
               FormatFact("CONFIG_PCI_P2PDMA", facts, kKernelP2pKey),
               FormatFact("CUDA attribute 116", facts, kCudaRdmaKey),
               FormatFact("CUDA attribute 124", facts, kCudaDmabufKey),
               FormatFact("dma-buf of the adapter", facts, kNicDmabufKey)},
              ", ");
}

}  // namespace reconciler::plugins
