#include "plugins/facts/rdma/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "plugins/common/commands/in_place.h"
#include "plugins/facts/rdma/devices.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::rdma {
namespace {

constexpr std::string_view kFolder = "/sys/class/infiniband/";
constexpr const char* kTables = "rdma.tables";

// 0: the kernel has no number there.
int ParseCount(std::string_view text) { return std::max(ParseNumber<int>(text).value_or(0), 0); }

// "200 Gb/sec (4X HDR)", "2.5 GT/s PCIe": thousandths of the number that it begins with.
int ParseThousandths(std::string_view text) {
  const double number = ConsumeNumber<double>(text).value_or(0);
  constexpr double kMost = 1e6;
  return number > 0 && number < kMost ? static_cast<int>(std::lround(number * 1000)) : 0;
}

// "4: ACTIVE"
std::string ReadAfterColon(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

struct Field {
  std::string_view path;  // below the device's folder
  void (*set)(HcaFact&, const std::string&);
};

constexpr Field kFields[] = {
    {"fw_ver", [](HcaFact& hca, const std::string& text) { hca.firmware = text; }},
    {"board_id", [](HcaFact& hca, const std::string& text) { hca.board_id = text; }},
    {"hca_type", [](HcaFact& hca, const std::string& text) { hca.model = text; }},
    {"node_guid", [](HcaFact& hca, const std::string& text) { hca.node_guid = text; }},
    {"sys_image_guid", [](HcaFact& hca, const std::string& text) { hca.system_guid = text; }},
    {"ports/1/state",
     [](HcaFact& hca, const std::string& text) { hca.state = ReadAfterColon(text); }},
    {"ports/1/phys_state",
     [](HcaFact& hca, const std::string& text) { hca.physical_state = ReadAfterColon(text); }},
    {"ports/1/rate",
     [](HcaFact& hca, const std::string& text) { hca.rate_mbps = ParseThousandths(text); }},
    {"ports/1/link_layer", [](HcaFact& hca, const std::string& text) { hca.link_layer = text; }},
    {"device/iommu_group/type", [](HcaFact& hca, const std::string& text) { hca.iommu = text; }},
    // A soft device's own name for its interface.
    {"parent", [](HcaFact& hca, const std::string& text) { hca.netdev = text; }},
};

struct PcieField {
  std::string_view path;  // below the device's or the bridge's folder
  void (*set)(PcieEnd&, const std::string&);
};

constexpr PcieField kPcieFields[] = {
    {"current_link_speed",
     [](PcieEnd& end, const std::string& text) { end.mts = ParseThousandths(text); }},
    {"current_link_width",
     [](PcieEnd& end, const std::string& text) { end.lanes = ParseCount(text); }},
    {"max_link_speed",
     [](PcieEnd& end, const std::string& text) { end.max_mts = ParseThousandths(text); }},
    {"max_link_width",
     [](PcieEnd& end, const std::string& text) { end.max_lanes = ParseCount(text); }},
};

constexpr std::string_view kDevice = "device/";
constexpr std::string_view kUpstream = "device/../";
constexpr std::string_view kCounterFolders[] = {"ports/1/hw_counters/", "ports/1/counters/"};

void SetPcie(HcaFact& hca, std::string_view path, const std::string& text) {
  const bool above = path.starts_with(kUpstream);
  path.remove_prefix(above ? kUpstream.size() : kDevice.size());
  for (const PcieField& field : kPcieFields) {
    if (field.path == path) field.set(above ? hca.upstream : hca.device, text);
  }
}

void SetCounter(HcaFact& hca, std::string_view path, const std::string& text) {
  for (const std::string_view folder : kCounterFolders) {
    if (!path.starts_with(folder)) continue;
    const std::string name(path.substr(folder.size()));
    const auto value = ParseNumber<std::int64_t>(text);
    // lifespan is how long the kernel keeps the others, in ms.
    if (value && *value >= 0 && name != "lifespan") hca.counters[name] = *value;
  }
}

GidFact& FindOrAddGid(HcaFact& hca, int index) {
  const auto found = std::find_if(hca.gids.begin(), hca.gids.end(),
                                  [index](const GidFact& gid) { return gid.index >= index; });
  if (found != hca.gids.end() && found->index == index) return *found;
  return *hca.gids.insert(found, {.index = index});
}

// "ports/1/gid_attrs/types/3" and its text.
void SetGid(HcaFact& hca, std::string_view path, const std::string& text) {
  constexpr std::string_view kPort = "ports/1/";
  if (!path.starts_with(kPort)) return;
  const std::size_t slash = path.rfind('/');
  const std::string_view table = path.substr(kPort.size(), slash - kPort.size());
  const int index = ParseCount(path.substr(slash + 1));
  if (table == "gids") FindOrAddGid(hca, index).gid = text;
  if (table == "gid_attrs/types") FindOrAddGid(hca, index).type = text;
  if (table == "gid_attrs/ndevs") FindOrAddGid(hca, index).netdev = text;
}

// Splits "NAME/rest" below kFolder; nullopt for anything else.
std::optional<std::pair<std::string, std::string_view>> SplitPath(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(path.substr(0, slash)), path.substr(slash + 1));
}

void StoreValues(const ProbeReply& reply, NodeFacts& facts) {
  for (const auto& [path, value] : reply.values) {
    if (!path.starts_with(kFolder)) continue;
    const auto at = SplitPath(std::string_view(path).substr(kFolder.size()));
    const std::string* known = Known(value);
    if (!at || known == nullptr) continue;
    const std::string text(Trim(*known));
    HcaFact& hca = facts.hcas[at->first];
    for (const Field& field : kFields) {
      if (field.path == at->second) field.set(hca, text);
    }
    if (at->second.starts_with(kDevice)) SetPcie(hca, at->second, text);
    SetCounter(hca, at->second, text);
  }
}

void StoreLine(const std::string& line, NodeFacts& facts) {
  const auto at = SplitPath(line);
  if (!at) return;
  constexpr std::string_view kNet = "device/net/";
  if (at->second.starts_with(kNet)) {
    facts.hcas[at->first].netdev = std::string(at->second.substr(kNet.size()));
    return;
  }
  const std::size_t colon = at->second.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view path = at->second.substr(0, colon);
  const std::string text(at->second.substr(colon + 1));
  HcaFact& hca = facts.hcas[at->first];
  constexpr std::string_view kSlot = "PCI_SLOT_NAME=";
  if (path.ends_with("uevent") && text.starts_with(kSlot)) {
    (path.starts_with(kUpstream) ? hca.upstream : hca.device).slot = text.substr(kSlot.size());
    return;
  }
  SetGid(hca, path, text);
}

}  // namespace

std::vector<Read> ListDeviceReads() {
  std::vector<Read> reads = {MakeInPlaceProbe(kTables, kDevicesSh, {std::string(kFolder)})};
  const auto add = [&reads](std::string_view path) {
    reads.push_back(ReadValues{fmt::format("{}*/{}", kFolder, path)});
  };
  for (const Field& field : kFields) add(field.path);
  for (const PcieField& field : kPcieFields) {
    add(std::string(kDevice).append(field.path));
    add(std::string(kUpstream).append(field.path));
  }
  add("ports/1/hw_counters/*");
  // Each of the others there is a question to the firmware.
  add("ports/1/counters/port_*_data");
  return reads;
}

void StoreDevices(const ProbeReply& reply, NodeFacts& facts) {
  const auto tables = reply.commands.find(kTables);
  if (tables == reply.commands.end()) return;
  StoreValues(reply, facts);
  for (const std::string& line : SplitLines(tables->second.out)) StoreLine(line, facts);
  // What is in the table but has no address is no entry: the other two files lag behind.
  for (auto& [name, hca] : facts.hcas) {
    std::erase_if(hca.gids, [](const GidFact& gid) { return gid.gid.empty(); });
  }
  facts.rdma.hcas =
      tables->second.exit_code == 0
          ? Observed<int>(static_cast<int>(facts.hcas.size()))
          : Unknown{tables->second.exit_code == 124
                        ? "sysfs gave no answer in 5 s"
                        : fmt::format("sh ended with status {}", tables->second.exit_code)};
}

}  // namespace reconciler::plugins::rdma
