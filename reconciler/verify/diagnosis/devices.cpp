#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/verify/diagnosis/diagnosis.h"
#include "reconciler/verify/finding/cause.h"

namespace reconciler {
namespace {

struct DeviceText {
  Symptom symptom;
  std::string_view cause;
  std::string_view next;  // {}: the node; empty: it depends on the hardware
};

constexpr DeviceText kDeviceTexts[] = {
    {Symptom::kHcaMissing,
     "the port has no RDMA device: the module mlx5_ib is not loaded, or the port has no RoCE HCA",
     "check `rdma link` and `lsmod` on {}; `modprobe mlx5_ib`"},
    {Symptom::kHcaName,
     "the kernel calls the RDMA device otherwise than the hardware profile does; NCCL's variables "
     "have the node's own name, which a restart may give to another port where it only counts",
     "correct files of yours on {} that have the profile's name; for names that stay, look for a "
     "rule that overrides 60-rdma-persistent-naming.rules (a vendor's driver brings one)"},
    {Symptom::kHcaDown, "the interface has carrier and its RDMA port is not active",
     "check `rdma link` and dmesg of {}; set the port down and up again"},
    {Symptom::kGidMissing,
     "the HCA's table has no RoCE v2 GID for the rail's address, although the interface has it",
     "set the port of {} down and up again; the kernel makes the GID from the address"},
    {Symptom::kGidTwice, "the rail's address is twice in the HCA's table",
     "set the address on {} on one interface only: check for VLANs and bridges over it"},
    {Symptom::kPcieNarrow, "the HCA's PCIe link has fewer lanes than the hardware profile", ""},
    {Symptom::kPcieSlow, "the HCA's PCIe link was trained to a lower speed than the hardware's",
     "reboot {}; if it stays, take its power away for a minute, and at 2.5 GT/s update the "
     "firmware "
     "(`fwupdmgr update`): old ones of some makers stay at Gen1"},
    {Symptom::kCmaWrong,
     "the kernel counts memory as CMA that it has not (a fault of kernels 7.0 with KHO): RDMA "
     "cannot register memory",
     "boot {} with `kho=off`, or with a kernel 6.17"},
};

std::string Advise(const Diagnosis& diagnosis, const DeviceText& text, const NodeName& node) {
  if (!text.next.empty()) return fmt::format(fmt::runtime(text.next), node);
  const NodeSpec* spec = diagnosis.cluster.FindNode(node);
  return AdviseOnPcieLanes(node, spec != nullptr ? spec->hardware : std::string());
}

}  // namespace

// Pings pass with any of these.
void ExplainByDevices(Diagnosis& diagnosis) {
  for (const DeviceText& text : kDeviceTexts) {
    // One per node: each has its own measured values and its own next step.
    const auto groups = diagnosis.GroupOpenChecks(
        text.symptom, [](const Check& check) { return std::string(check.from); });
    for (const auto& [node, checks] : groups) {
      Finding finding = diagnosis.DraftFinding(std::string(ToString(text.symptom)), {node}, checks);
      finding.cause = text.cause;
      finding.next_step = Advise(diagnosis, text, node);
      const std::size_t id = diagnosis.AddFinding(std::move(finding));
      for (const std::size_t i : checks) diagnosis.Explain(i, id);
    }
  }
}

}  // namespace reconciler
