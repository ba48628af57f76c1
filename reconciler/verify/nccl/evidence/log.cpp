#include "reconciler/verify/nccl/evidence/log.h"

#include <algorithm>
#include <optional>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostWarnings = 20;
constexpr std::size_t kMostVariables = 200;

// The text behind `marker`, or nothing where it is not in the line.
std::optional<std::string_view> ReadAfter(std::string_view line, std::string_view marker) {
  const std::size_t at = line.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + marker.size());
}

std::string_view ReadFirstWord(std::string_view text) {
  text = Trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

std::optional<int> ReadLeadingNumber(std::string_view text) { return ConsumeNumber<int>(text); }

// "[0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; OOB enP7s7:10.0.0.1<0>". With no device at all
// the line is there too, with nothing but "[RO]".
void ReadDevices(std::string_view list, NcclLog& log) {
  list = list.substr(0, list.find(';'));
  for (const std::string& word : Split(list, ' ')) {
    if (word.empty() || word.front() != '[') continue;
    const auto index = ReadLeadingNumber(std::string_view(word).substr(1));
    const std::size_t close = word.find(']');
    if (!index || close == std::string::npos) continue;
    const std::string rest = word.substr(close + 1);
    log.devices[*index] = rest.substr(0, rest.find(':'));
  }
}

// "Made virtual device [4] name=rocep1s0f0+rocep1s0f1 speed=400000 ndevs=2"
void ReadFusedDevice(std::string_view text, NcclLog& log) {
  const auto index = ReadLeadingNumber(text);
  const auto name = ReadAfter(text, "name=");
  if (index && name) log.devices.try_emplace(*index, ReadFirstWord(*name));
}

// "IB/0(2)/GDRDMA(PCI)/Shared"
void ReadChannel(std::string_view text, NcclLog& log) {
  text = ReadFirstWord(text);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return;
  const auto device = ReadLeadingNumber(text.substr(slash + 1));
  if (!device) return;
  ++log.channels[{.network = std::string(text.substr(0, slash)),
                  .device = *device,
                  .gdr = text.find("/GDRDMA") != std::string_view::npos}];
}

// "HOST:PID:TID [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.": a number ends in a stop.
// Some are "set to". Whether it was one.
bool ReadVariable(std::string_view line, NcclLog& log) {
  for (const std::string_view marker : {" set by environment to ", " set to "}) {
    const std::size_t at = line.find(marker);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    const std::string_view name = before.substr(before.rfind(' ') + 1);  // npos + 1: all of it
    if (!name.starts_with("NCCL_")) return false;
    std::string_view value = Trim(line.substr(at + marker.size()));
    if (value.ends_with('.')) value.remove_suffix(1);
    if (log.variables.size() < kMostVariables) {
      log.variables.try_emplace(MakePrintable(name), NcclVariable{.value = MakePrintable(value),
                                                                  .during_init = !log.initialized});
    }
    return true;
  }
  return false;
}

// A warning begins with the place in NCCL's source, up to 2.25 and after.
void ReadWarning(std::string_view text, NcclLog& log) {
  if (log.warnings.size() < kMostWarnings) log.warnings.push_back(MakePrintable(Trim(text)));
}

void ReadLine(std::string_view line, NcclLog& log) {
  if (const auto text = ReadAfter(line, "NCCL WARN ")) return ReadWarning(*text, log);
  if (ReadVariable(line, log)) return;
  if (line.find("Init COMPLETE") != std::string_view::npos) {
    log.initialized = true;
  } else if (const auto text = ReadAfter(line, "NCCL version ")) {
    if (!ReadNcclVersion(ReadFirstWord(*text)).empty()) log.version = ReadFirstWord(*text);
  } else if (const auto git = ReadAfter(line, "NCCL git version ")) {
    log.branch = ReadFirstWord(*git);
  } else if (const auto virtual_device = ReadAfter(line, "Made virtual device [")) {
    ReadFusedDevice(*virtual_device, log);
  } else if (const auto devices = ReadAfter(line, "NET/IB : Using ")) {
    ReadDevices(*devices, log);
  } else if (line.find("NET/IB : No device found") != std::string_view::npos) {
    log.no_ib_device = true;
  } else if (line.find("Failed to open libibverbs") != std::string_view::npos) {
    log.no_libibverbs = true;
  } else if (const auto network = ReadAfter(line, "Using network ")) {
    log.network = ReadFirstWord(*network);
  } else if (const auto channel = ReadAfter(line, " via NET/")) {
    ReadChannel(*channel, log);
  }
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

NcclLog ParseNcclLog(std::string_view text) {
  NcclLog log;
  for (const std::string& line : SplitLines(text)) ReadLine(line, log);
  return log;
}

std::string ReadNcclVersion(std::string_view version) {
  const std::size_t end = version.find_first_not_of("0123456789.");
  const std::string number(version.substr(0, end));
  const std::vector<std::string> parts = Split(number, '.');
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), IsNumber)) return {};
  return number;
}

bool IsDevelopmentBuild(const NcclLog& log) {
  const std::string number = ReadNcclVersion(log.version);
  if (number.empty()) return false;
  const std::string_view rest = std::string_view(log.version).substr(number.size());
  if (!rest.empty() && !rest.starts_with("+cuda")) return true;
  // What NVIDIA's own packages, wheels and tags say.
  for (const std::string_view branch : {"", "HEAD", "master", "main", "stable"}) {
    if (log.branch == branch) return false;
  }
  return !log.branch.starts_with("v" + number);
}

}  // namespace reconciler
