#include "reconciler/spark_verify/facts/facts.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/facts/gpu_facts.h"
#include "reconciler/spark_verify/io/read_counters.h"
#include "reconciler/spark_verify/write/verbs.h"

namespace reconciler::spark_verify {
namespace {

using Json = nlohmann::ordered_json;

std::string ReadFirstLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The PCI function below the device; "" for one made of software.
std::string FindPci(const std::string& hca) {
  std::error_code error;
  const auto target =
      std::filesystem::read_symlink("/sys/class/infiniband/" + hca + "/device", error);
  return error ? "" : target.filename().string();
}

std::string NamePortState(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_NOP:
      return "NOP";
    case IBV_PORT_DOWN:
      return "DOWN";
    case IBV_PORT_INIT:
      return "INIT";
    case IBV_PORT_ARMED:
      return "ARMED";
    case IBV_PORT_ACTIVE:
      return "ACTIVE";
    case IBV_PORT_ACTIVE_DEFER:
      return "ACTIVE_DEFER";
  }
  return fmt::format("{}", static_cast<int>(state));
}

// The numbers are InfiniBand's; sysfs uses the same names.
std::string NamePhysicalState(int state) {
  constexpr const char* kNames[] = {"",
                                    "Sleep",
                                    "Polling",
                                    "Disabled",
                                    "PortConfigurationTraining",
                                    "LinkUp",
                                    "LinkErrorRecovery",
                                    "Phy Test"};
  return state >= 1 && state <= 7 ? kNames[state] : fmt::format("{}", state);
}

// Gb/s of the data, by InfiniBand's codes for lanes and speed per lane; 0: a code not known here.
double ComputeRateGbps(std::uint8_t width, std::uint8_t speed) {
  const int lanes = width == 1    ? 1
                    : width == 2  ? 4
                    : width == 4  ? 8
                    : width == 8  ? 12
                    : width == 16 ? 2
                                  : 0;
  const double lane = speed == 1     ? 2.5
                      : speed == 2   ? 5
                      : speed == 4   ? 10
                      : speed == 8   ? 10
                      : speed == 16  ? 14
                      : speed == 32  ? 25
                      : speed == 64  ? 50
                      : speed == 128 ? 100
                                     : 0;
  return lanes * lane;
}

// A file descriptor that is none: EBADF shows that the driver would have taken a good one.
std::string FindDmabuf(const Verbs& verbs, ibv_context* device) {
  if (verbs.reg_dmabuf_mr == nullptr) return "unknown: libibverbs has no ibv_reg_dmabuf_mr";
  ibv_pd* domain = verbs.alloc_pd(device);
  if (domain == nullptr) return fmt::format("unknown: {}", strerror(errno));
  errno = 0;
  ibv_mr* region = verbs.reg_dmabuf_mr(domain, 0, 0, 0, -1, 0);
  const int why = errno;
  if (region != nullptr) verbs.dereg_mr(region);
  verbs.dealloc_pd(domain);
  if (why == EBADF) return "supported";
  if (why == EOPNOTSUPP || why == EPROTONOSUPPORT) return "unsupported";
  return fmt::format("unknown: {}", strerror(why));
}

Json ReadPortJson(const Verbs& verbs, ibv_context* device, const std::string& hca, int number) {
  Json json = {{"port", number}};
  ibv_port_attr port = {};
  const int error = QueryPort(verbs, device, number, port);
  if (error != 0) {
    json["error"] = strerror(error);
    return json;
  }
  json["state"] = NamePortState(port.state);
  json["physical_state"] = NamePhysicalState(port.phys_state);
  json["link_layer"] = port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
  json["active_mtu"] = ConvertMtuToBytes(port.active_mtu);
  json["max_mtu"] = ConvertMtuToBytes(port.max_mtu);
  json["rate_gbps"] = ComputeRateGbps(port.active_width, port.active_speed);
  const auto table = ReadGidTable(verbs, device, hca);
  if (!table) {
    json["gids_error"] = table.error().message;
    return json;
  }
  json["gids"] = Json::array();
  for (const GidEntry& entry : *table) {
    Json gid = {
        {"index", entry.index}, {"gid", ToString(entry.gid)}, {"type", ToString(entry.type)}};
    if (const std::string ipv4 = FormatIpv4(entry.gid); !ipv4.empty()) gid["ipv4"] = ipv4;
    gid["netdev"] = entry.netdev;
    json["gids"].push_back(std::move(gid));
  }
  return json;
}

Json ReadDeviceJson(const Verbs& verbs, ibv_device* device) {
  const std::string hca = verbs.get_device_name(device);
  Json json = {{"hca", hca}, {"pci", FindPci(hca)}};
  json["netdev"] = ReadFirstLine("/sys/class/infiniband/" + hca + "/ports/1/gid_attrs/ndevs/0");
  const std::unique_ptr<ibv_context, int (*)(ibv_context*)> context(verbs.open_device(device),
                                                                    verbs.close_device);
  if (context == nullptr) {
    json["error"] = MakeVerbError("to open " + hca, errno).message;
    return json;
  }
  ibv_device_attr attributes = {};
  if (const int error = verbs.query_device(context.get(), &attributes); error != 0) {
    json["error"] = strerror(error);
    return json;
  }
  const std::string at = "/sys/class/infiniband/" + hca + "/";
  json["firmware"] = attributes.fw_ver;
  json["board_id"] = ReadFirstLine(at + "board_id");
  json["node_guid"] = ReadFirstLine(at + "node_guid");
  json["sys_image_guid"] = ReadFirstLine(at + "sys_image_guid");
  json["vendor_id"] = attributes.vendor_id;
  json["vendor_part_id"] = attributes.vendor_part_id;
  json["max_qp"] = attributes.max_qp;
  json["dmabuf"] = FindDmabuf(verbs, context.get());
  const Limits limits = ReadLimits("", hca);
  json["link_mbps"] = limits.link_mbps;
  json["pcie_width"] = limits.pcie_width;
  json["pcie_max_width"] = limits.pcie_max_width;
  json["pcie_gts"] = limits.pcie_gts;
  json["ports"] = Json::array();
  for (int port = 1; port <= attributes.phys_port_cnt; ++port) {
    json["ports"].push_back(ReadPortJson(verbs, context.get(), hca, port));
  }
  return json;
}

void AddDevices(Json& json) {
  json["devices"] = Json::array();
  const auto verbs = LoadVerbs();
  if (!verbs) {
    json["error"] = verbs.error().message;
    json["hint"] = verbs.error().hint;
    return;
  }
  int count = 0;
  errno = 0;
  ibv_device** list = verbs->get_device_list(&count);
  if (list == nullptr || (count == 0 && errno == ENOSYS)) {
    json["error"] = "wanted RDMA devices, found no RDMA in the kernel (module ib_uverbs)";
    json["hint"] = "modprobe ib_uverbs";
  }
  for (int i = 0; list != nullptr && i < count; ++i) {
    json["devices"].push_back(ReadDeviceJson(*verbs, list[i]));
  }
  if (list != nullptr) verbs->free_device_list(list);
}

}  // namespace

std::string FormatFactsLine() {
  Json json;
  AddDevices(json);
  json["gpu"] = ReadGpuFacts();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace reconciler::spark_verify
