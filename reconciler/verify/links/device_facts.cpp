#include "reconciler/verify/links/device_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/fabric/roofline.h"
#include "reconciler/verify/links/check_outcome.h"

namespace reconciler {
namespace {

Check MakeDeviceCheck(const RailPort& port, std::string what, std::string expected) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = port.node,
          .rail = port.rail,
          .expected = std::move(expected)};
}

std::string FormatPcie(int mts, int lanes) {
  return fmt::format("{} GT/s x{}", mts / 1000.0, lanes);
}

std::vector<Check> ListChecks(const RailPort& port, const Hardware* hardware) {
  const int mts = hardware != nullptr
                      ? static_cast<int>(ComputeGigaTransfers(hardware->pcie_generation) * 1000)
                      : 0;
  return {MakeDeviceCheck(port, "hca", fmt::format("{} on {}", port.hca, port.netdev)),
          MakeDeviceCheck(port, "rdma-port", "ACTIVE, LinkUp"),
          MakeDeviceCheck(port, "gid",
                          fmt::format("one {} of {}", kRoceV2,
                                      HasAddress(port) ? ToString(port.address.address)
                                                       : "a link-local address")),
          MakeDeviceCheck(port, "pcie",
                          hardware != nullptr ? FormatPcie(mts, hardware->pcie_lanes) : "")};
}

void JudgeName(Check& check, const RailPort& port, const std::string& name) {
  check.measured = MakePrintable(name);
  if (name == port.hca) return;
  // All that is measured or written goes by the name that the node gives.
  check.outcome = Outcome::kWarn;
  check.symptom = Symptom::kHcaName;
}

void JudgePort(Check& check, const HcaFact& hca, const LinkFact* link) {
  if (link == nullptr || !link->admin_up || !link->carrier) {
    return SetSkipped(check, "the port has no carrier");
  }
  check.measured = fmt::format("{}, {}", hca.state, hca.physical_state);
  // Both: a port can be DOWN with its link up.
  if (hca.state != "ACTIVE" || hca.physical_state != "LinkUp") {
    SetFailed(check, Symptom::kHcaDown, MakePrintable(check.measured));
  }
}

std::string FormatGids(const std::vector<GidFact>& gids) {
  std::vector<std::string> texts;
  for (const GidFact& gid : gids) {
    texts.push_back(fmt::format("{} {} {} {}", gid.index, gid.gid, gid.type, gid.netdev));
  }
  return texts.empty() ? "an empty table" : Join(texts, "; ");
}

void JudgeGid(Check& check, const RailPort& port, const HcaFact& hca, const LinkFact* link) {
  if (link == nullptr ||
      std::find(link->ipv4.begin(), link->ipv4.end(), port.address) == link->ipv4.end()) {
    return SetSkipped(check, "the rail's address is not on the port");
  }
  const std::string wanted = MakeMappedGid(port.address.address);
  std::vector<GidFact> fits;
  std::copy_if(hca.gids.begin(), hca.gids.end(), std::back_inserter(fits),
               [&](const GidFact& gid) { return gid.gid == wanted && gid.type == kRoceV2; });
  if (fits.empty())
    return SetFailed(check, Symptom::kGidMissing, MakePrintable(FormatGids(hca.gids)));
  if (fits.size() > 1) return SetFailed(check, Symptom::kGidTwice, MakePrintable(FormatGids(fits)));
  check.measured = fmt::format("index {}", fits.front().index);
}

void AddEnd(Check& check, const PcieEnd& end, std::string_view which) {
  if (end.max_lanes == 0) return;
  check.evidence.push_back(MakePrintable(
      fmt::format("{} {} can {}", which, end.slot, FormatPcie(end.max_mts, end.max_lanes))));
}

void JudgePcie(Check& check, const HcaFact& hca, const Hardware* hardware) {
  if (hca.device.slot.empty()) return SetSkipped(check, "the device is made of software");
  if (hardware == nullptr) return SetSkipped(check, "the manifest describes no PCIe link");
  const PcieEnd& end = hca.device;
  if (end.mts == 0 || end.lanes == 0) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kFactUnknown;
    check.why = "the kernel reports no speed for the PCIe link";
    return;
  }
  check.measured = FormatPcie(end.mts, end.lanes);
  const double wanted = ComputeGigaTransfers(hardware->pcie_generation) * 1000;
  if (end.mts >= wanted && end.lanes >= hardware->pcie_lanes) return;
  SetFailed(check, end.lanes < hardware->pcie_lanes ? Symptom::kPcieNarrow : Symptom::kPcieSlow,
            check.measured);
  AddEnd(check, hca.device, "the HCA");
  AddEnd(check, hca.upstream, "the port above it");
}

void JudgeDevice(std::vector<Check>& checks, const RailPort& port, const Hardware* hardware,
                 const NodeFacts& facts) {
  const auto link = facts.links.find(port.netdev);
  const LinkFact* own = link == facts.links.end() ? nullptr : &link->second;
  const auto* hca = FindHca(facts, port.netdev);
  if (hca == nullptr) {
    if (own == nullptr) {
      SetSkipped(checks[0], "there is no such port");
    } else {
      SetFailed(checks[0], Symptom::kHcaMissing, fmt::format("no RDMA device on {}", port.netdev));
    }
    for (std::size_t i = 1; i < checks.size(); ++i)
      SetSkipped(checks[i], "there is no RDMA device");
    return;
  }
  JudgeName(checks[0], port, hca->first);
  JudgePort(checks[1], hca->second, own);
  JudgeGid(checks[2], port, hca->second, own);
  JudgePcie(checks[3], hca->second, hardware);
}

void AddCma(std::vector<Check>& checks, const NodeFacts& facts) {
  const CmaMemory* cma = Known(facts.rdma.cma);
  if (cma == nullptr) return;
  Check check{.level = VerifyLevel::kFacts,
              .what = "cma",
              .from = facts.node,
              .expected = "no more free than there is",
              .measured = fmt::format("total {} kB, free {} kB", cma->total_kib, cma->free_kib)};
  if (cma->free_kib > cma->total_kib) SetFailed(check, Symptom::kCmaWrong, check.measured);
  checks.push_back(std::move(check));
}

}  // namespace

const std::pair<const std::string, HcaFact>* FindHca(const NodeFacts& facts,
                                                     const std::string& netdev) {
  const auto found = std::find_if(facts.hcas.begin(), facts.hcas.end(),
                                  [&](const auto& hca) { return hca.second.netdev == netdev; });
  return found == facts.hcas.end() ? nullptr : &*found;
}

std::vector<Check> CheckDevices(const Hardware* hardware, const std::vector<RailPort>& ports,
                                const NodeFacts& facts, bool wanted) {
  const Observed<int> count = Answer(facts.rdma.hcas);
  const auto* unknown = std::get_if<Unknown>(&count);
  if (!wanted && (unknown != nullptr || facts.hcas.empty())) return {};
  std::vector<Check> checks;
  for (const RailPort& port : ports) {
    std::vector<Check> port_checks = ListChecks(port, hardware);
    if (unknown == nullptr) JudgeDevice(port_checks, port, hardware, facts);
    for (Check& check : port_checks) {
      if (unknown != nullptr) {
        check.outcome = Outcome::kCouldNotMeasure;
        check.symptom = Symptom::kFactUnknown;
        check.why = MakePrintable(unknown->why);
      }
      checks.push_back(std::move(check));
    }
  }
  AddCma(checks, facts);
  return checks;
}

}  // namespace reconciler
