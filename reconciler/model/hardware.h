#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// One PCIe function of a cage. The functions of a cage are twins: they share its cable.
struct Twin {
  std::string netdev;
  std::string hca;
  std::string pci;  // "0000:01:00.1"

  // "0000:01:00": functions of one device share its PCIe link.
  std::string PciDevice() const;
  bool operator==(const Twin&) const = default;
};

struct Cage {
  std::string name;         // what the driver says in phys_port_name: "p0", "p1"
  std::vector<Twin> twins;  // by PCI domain; at least one
  bool operator==(const Cage&) const = default;
};

// What the kernel of one kind of machine calls its fast ports, and what they can carry.
struct Hardware {
  std::string name;
  int cage_gbps = 200;      // line rate of a cage, Gb/s
  int pcie_generation = 5;  // of each PCIe device, 1 to 6
  int pcie_lanes = 4;       // of each PCIe device
  std::vector<Cage> cages;

  const Cage* FindCage(std::string_view cage) const;
  bool operator==(const Hardware&) const = default;
};

// The profiles that need no entry in the manifest.
const std::vector<Hardware>& GetBuiltInHardware();
inline constexpr std::string_view kDefaultHardware = "dgx-spark";
const Hardware& GetDgxSpark();

}  // namespace reconciler
