#include "reconciler/model/hardware.h"

namespace reconciler {
namespace {

// p0 is next to the RJ45 port, p1 the outer one. Each cage has a function in PCI domain 0000 and
// its twin in domain 0002; each domain is one Gen5 x4 link that both cages share.
Hardware MakeDgxSpark() {
  return {.name = "dgx-spark",
          .cage_gbps = 200,
          .pcie_generation = 5,
          .pcie_lanes = 4,
          .cages = {{"p0",
                     {{"enp1s0f0np0", "rocep1s0f0", "0000:01:00.0"},
                      {"enP2p1s0f0np0", "roceP2p1s0f0", "0002:01:00.0"}}},
                    {"p1",
                     {{"enp1s0f1np1", "rocep1s0f1", "0000:01:00.1"},
                      {"enP2p1s0f1np1", "roceP2p1s0f1", "0002:01:00.1"}}}}};
}

// One function per cage, both on one Gen4 x16 link. The names depend on the slot and on the rdma
// naming rules of the system: most workstations need a profile of their own in the manifest.
Hardware MakeConnectX5() {
  return {.name = "connectx5-workstation",
          .cage_gbps = 100,
          .pcie_generation = 4,
          .pcie_lanes = 16,
          .cages = {{"p0", {{"enp1s0f0np0", "mlx5_0", "0000:01:00.0"}}},
                    {"p1", {{"enp1s0f1np1", "mlx5_1", "0000:01:00.1"}}}}};
}

}  // namespace

std::string Twin::PciDevice() const { return pci.substr(0, pci.rfind('.')); }

const Cage* Hardware::FindCage(std::string_view cage) const {
  for (const Cage& candidate : cages) {
    if (candidate.name == cage) return &candidate;
  }
  return nullptr;
}

const std::vector<Hardware>& GetBuiltInHardware() {
  static const std::vector<Hardware> kProfiles = {MakeDgxSpark(), MakeConnectX5()};
  return kProfiles;
}

const Hardware& GetDgxSpark() { return GetBuiltInHardware().front(); }

}  // namespace reconciler
