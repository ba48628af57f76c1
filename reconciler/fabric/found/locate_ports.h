#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/hardware.h"

namespace reconciler {

// By what a port of a hardware profile was found on a node, in the order in which it is tried.
enum class FoundBy { kName, kPciAddress, kPortName };

struct LocatedPort {
  std::string cage = {};
  Twin profile = {};  // as the hardware profile has it
  Twin found = {};    // as the node has it; by name: as the profile has it
  FoundBy by = FoundBy::kName;
};

// Ports of one cage that only their driver and port name could find, and of which these do not show
// which interface is which port.
struct UnclearPorts {
  std::string cage = {};
  std::vector<Twin> missing = {};     // as the profile has them
  std::vector<Twin> candidates = {};  // as the node has them, by PCI address
};

struct NodePorts {
  std::vector<LocatedPort> located = {};
  std::vector<UnclearPorts> unclear = {};  // by cage; a port in neither list is not on the node
};

// Which interfaces of the node are the ports of the profile. Each is found by its name; else by its
// PCI address; else by its driver (mlx5_core) and the port's name (phys_port_name), where the node
// has as many of them as the profile for each cage, and all can be functions of one card. It never
// guesses.
NodePorts LocatePorts(const Hardware& hardware, const NodeFacts& facts);

// Whether any of them was found by something else than its name.
bool AreElsewhere(const NodePorts& ports);

// A cluster by the names that its ports have on the nodes that were read. Where all are those of
// the profiles, it is the cluster that it was made from, which must outlive it in any case.
class LocatedCluster {
 public:
  LocatedCluster(const ClusterSpec& spec, const Fabric& fabric, const ClusterFacts& facts);

  const ClusterSpec& spec() const { return own_ ? own_->spec : *spec_; }
  const Fabric& fabric() const { return own_ ? own_->fabric : *fabric_; }
  bool differs() const { return own_.has_value(); }  // from what it was made from

 private:
  struct Own {
    ClusterSpec spec = {};
    Fabric fabric = {};
  };

  const ClusterSpec* spec_;
  const Fabric* fabric_;
  std::optional<Own> own_ = std::nullopt;
};

// One for each node that has ports of the fabric under other names than its profile. `spec` and
// `fabric` are those of the manifest.
std::vector<Diagnostic> DiagnoseLocated(const ClusterSpec& spec, const Fabric& fabric,
                                        const ClusterFacts& facts);

}  // namespace reconciler
