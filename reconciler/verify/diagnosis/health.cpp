#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/diagnosis/diagnosis.h"

namespace reconciler {
namespace {

struct HealthText {
  Symptom symptom;
  std::string_view cause;  // {0}: the node
  std::string_view next;   // {0}: the node, {1}: what the check is about
};

constexpr HealthText kHealthTexts[] = {
    {Symptom::kUfwDrops,
     "ufw drops connections of another node without an answer, so that NCCL and other programs "
     "wait for each other",
     "run `ufw allow from {1}` on {0}"},
    {Symptom::kPcieError,
     "the kernel's log has an error of PCIe that was not corrected: the device behind it may be "
     "lost until the next restart",
     "check `ip link` on {0} for its ports, and restart it; if it comes again, take its power away "
     "for a minute and update the firmware"},
    {Symptom::kGpuError, "NVIDIA's driver reports an error of the GPU (Xid)",
     "look the number up at https://docs.nvidia.com/deploy/xid-errors/, and restart {0}"},
    {Symptom::kGpuMemory,
     "NVIDIA's driver got no memory: GPU and processors share it, and a Spark that runs out of it "
     "can freeze",
     "end programs on {0}, or give the next run less memory; without a desktop more is left"},
    {Symptom::kOutOfMemory, "the kernel ended a program because memory ran out",
     "check on {0} which program it was; a rank of NCCL among them takes the others down with it"},
    {Symptom::kLockup, "a processor did not come back from the kernel for seconds",
     "restart {0}; if it comes again, update kernel and firmware"},
    {Symptom::kHcaUnwell, "mlx5 reports that its device is not well",
     "restart {0}; if it comes again, take its power away for a minute and update the firmware"},
    {Symptom::kLinkFlaps,
     "the link goes down and comes up again: its cable or a plug, another FEC at the other end, or "
     "a program that sets the port up again",
     "reseat the cable of {0} at both ends, and check the log of NetworkManager or networkd"},
    {Symptom::kUverbsMissing,
     "there is no file by which programs use the RDMA devices: the module ib_uverbs is not loaded",
     "run `modprobe ib_uverbs` on {0}, and install rdma-core, which loads it at boot"},
    {Symptom::kUverbsDenied,
     "the user may not use the RDMA devices, so that NCCL uses TCP sockets for this user",
     "look on {0} for a rule of udev that takes the mode 0666 from /dev/infiniband/uverbs*, or add "
     "the user to the group of these files"},
    {Symptom::kBootstrapWifi,
     "the ranks of NCCL meet on the network of this session, which is a wireless one: each time it "
     "is lost, a run ends",
     "reach {0} over its wired port, or write nccl.bootstrap: fabric, or NCCL_SOCKET_IFNAME into "
     "nccl.env"},
    {Symptom::kTooHot, "a part of the node is near the temperature at which it slows down",
     "let {0} cool down: check that air gets in and out, and that nothing hot stands on it"},
    {Symptom::kThrottled, "the kernel slows the processors down because the node is too hot",
     "let {0} cool down: check that air gets in and out, and that nothing hot stands on it"},
    {Symptom::kGpuThrottled,
     "the hardware slows the GPU down: it is too hot, or gets too little power",
     "use the power supply that came with {0}, plugged in directly, and let the node cool down"},
    {Symptom::kMemoryPressure,
     "little memory is left and part of it is in swap: GPU and processors share it, and a Spark "
     "that runs out of it can freeze",
     "end programs on {0} before the next run"},
    {Symptom::kContainerNoRdma,
     "the container is configured for NCCL and has no RDMA device, so that NCCL in it uses TCP "
     "sockets",
     "start container {1} of {0} with `--device /dev/infiniband` or `--privileged`"},
    {Symptom::kContainerMemlock,
     "programs in the container may lock too little memory for RDMA: NCCL in it fails or uses TCP "
     "sockets",
     "start container {1} of {0} with `--ulimit memlock=-1`"},
    {Symptom::kContainerNcclOld,
     "programs in the container have loaded an older NCCL than the cables need, or than programs "
     "on "
     "the node load: what verify measures does not hold for them",
     "start container {1} of {0} from a newer image, or mount the node's libnccl.so.2 into it and "
     "name it in LD_PRELOAD"},
    {Symptom::kContainerNcclDiffers,
     "programs in containers have loaded different versions of NCCL on the nodes: the ranks of one "
     "job need the same",
     "start the containers of a job from one image, by its digest, on all nodes"},
    {Symptom::kImageNotStarted,
     "docker starts no container of the image with the flags that `spark-reconcile env {0} "
     "--format "
     "docker` prints, or it did not end in time",
     "start a container of {1} by hand on {0} with these flags: what docker says names the cause"},
    {Symptom::kImageNoInfiniband,
     "a container of the image cannot use the RDMA devices of the node, so that NCCL in it uses "
     "TCP sockets: the image's user may not open them, or Docker runs without root",
     "look at `ls -l /dev/infiniband` and `docker info` on {0}, and start {1} as root "
     "(`--user 0`)"},
    {Symptom::kImageMemlock,
     "programs in a container of the image may lock too little memory for RDMA, whatever its flags "
     "say: the limit of Docker itself is lower",
     "write `LimitMEMLOCK=infinity` into a drop-in of the service that runs Docker on {0}, and "
     "restart that"},
    {Symptom::kImageNcclOld,
     "programs in the image load an older NCCL than the cables need, or than programs on the node: "
     "what verify measures does not hold for them",
     "use a newer image than {1}, or mount the libnccl.so.2 of {0} into its containers and name it "
     "in LD_PRELOAD"},
    {Symptom::kImageNcclDiffers,
     "the image's name stands for different images on the nodes, so that the ranks of one job load "
     "different versions of NCCL",
     "run `docker pull {1}` on all nodes, or name the image by its digest"},
    {Symptom::kClocksDiffer,
     "the clocks of the nodes differ, so that logs cannot be compared and certificates seem too "
     "young or too old",
     "check `timedatectl` on {0}"},
    {Symptom::kKnownBad, "this version is known to spoil RDMA or NCCL on this kind of machine",
     "install the version that is wanted on {0} (`fwupdmgr update`, `apt full-upgrade`), and "
     "restart it"},
    {Symptom::kDefaultRoute,
     "packets to other networks leave over the fabric, where no router is: the node loses the "
     "Internet",
     "remove the gateway from the port's configuration on {0}: no `gateway4`, no `routes` to "
     "default, `dhcp4: false`"},
    {Symptom::kLease,
     "a DHCP client configures a port of the fabric: it brings a second address, often a default "
     "route, and renumbers the GIDs whenever it tries again",
     "run `spark-reconcile plan`; a profile or file with `dhcp4: true` for the port is named "
     "there"},
    {Symptom::kAddressExtra,
     "the port has an IPv4 address that the manifest does not have: it has GIDs of its own on the "
     "HCA, and a program that chooses an address or GID by its place may take it",
     "run `spark-reconcile plan`: it names the address, which an apply removes, or what else "
     "configures the port of {0}"},
    {Symptom::kPortInBond,
     "the port belongs to another interface: RDMA passes a bond by, and in RoCE LAG several ports "
     "have one HCA",
     "run `spark-reconcile plan`, which names the bond or bridge of {0} and how to dissolve it"},
    {Symptom::kSubnetTwice,
     "two interfaces of the node are in one subnet: Linux answers for both on either of them, so "
     "that data takes the wrong port",
     "give one of them on {0} another subnet, or change `fabric.subnets` of the manifest"},
    {Symptom::kInfiniBand, "the firmware of the port speaks InfiniBand and not Ethernet",
     "set LINK_TYPE of the port to ETH in the firmware of {0} (mlxconfig), and restart it"},
    {Symptom::kNotKept,
     "nothing on the node sets the address when it starts, so that a restart loses it",
     "run `spark-reconcile apply`, which writes the file, or write one by hand on {0}"},
    {Symptom::kPathSilent,
     "a machine that the manifest's `checks` name answers no ping, so that nothing is known of the "
     "path to it",
     "run `ping {1}` on {0}; where the machine answers no pings at all, remove its entry from "
     "`checks`"},
    {Symptom::kPathMtuLow,
     "small packets reach the machine and those of the promised size do not: the interface of {0} "
     "that leads to it, a switch between them or the machine itself has a smaller MTU",
     "compare the MTU of the interface that `ip route get {1}` names on {0} with the switch's and "
     "that machine's"},
    {Symptom::kPathLoses,
     "packets of the promised size reach the machine, and some of them are lost: a cable, a switch "
     "that is overloaded, or pings that the machine limits",
     "run `ping -i 0.2 -c 100 {1}` on {0}, and look at the error counters of the interface that "
     "`ip "
     "route get {1}` names and of the switch's port"},
    {Symptom::kNeighbourOtherPort,
     "another port of the peer answers ARP for an address of the fabric, since both are in one "
     "network: RDMA by that address goes to the wrong port",
     "write `arp: manage` under `fabric`, which is the default, and apply: each port then answers "
     "for its own address alone"},
    {Symptom::kNeighbourWrong,
     "a port of another machine answers for an address of the fabric: that machine has the same "
     "address",
     "find the port with that MAC (`ip -br link` on the nodes, the table of the switch), and take "
     "the address away from it"},
    {Symptom::kHostNameWrong,
     "a name of the fabric leads elsewhere on the node, or nowhere: another line of /etc/hosts has "
     "it, or a name server, or our lines are not there",
     "run `spark-reconcile plan`, which names other lines of /etc/hosts, and `apply`, which writes "
     "ours; `getent ahostsv4 NAME` on {0} shows what a name leads to"},
};

NodeName GetNode(const Check& check) { return check.from; }

// What to do about each thing that the checks of one node are about; the same advice stands once.
std::string ListSteps(const HealthText& text, const Diagnosis& diagnosis,
                      const std::vector<std::size_t>& checks) {
  std::vector<std::string> steps;
  for (const std::size_t i : checks) {
    const Check& check = diagnosis.checks[i];
    std::string step = fmt::format(fmt::runtime(text.next), check.from, check.subject);
    if (std::find(steps.begin(), steps.end(), step) == steps.end())
      steps.push_back(std::move(step));
  }
  return Join(steps, "; ");
}

// A limit that the manifest does not manage.
void ExplainMemlockDefault(Diagnosis& diagnosis) {
  for (const auto& [node, checks] : diagnosis.GroupOpenChecks(Symptom::kMemlockDefault, GetNode)) {
    Finding finding = diagnosis.DraftFinding("memlock-low", {node}, checks);
    finding.cause =
        "the user that logs in may lock too little memory: RDMA cannot register its buffers, and "
        "NCCL fails or falls back to sockets";
    finding.next_step = "write `memlock: unlimited` into the manifest and apply it";
    const std::size_t id = diagnosis.AddFinding(std::move(finding));
    for (const std::size_t i : checks) diagnosis.Explain(i, id);
  }
}

}  // namespace

void ExplainHealth(Diagnosis& diagnosis) {
  for (const HealthText& text : kHealthTexts) {
    for (const auto& [node, checks] : diagnosis.GroupOpenChecks(text.symptom, GetNode)) {
      Finding finding = diagnosis.DraftFinding(std::string(ToString(text.symptom)), {node}, checks);
      finding.cause = fmt::format(fmt::runtime(text.cause), node);
      finding.next_step = ListSteps(text, diagnosis, checks);
      const std::size_t id = diagnosis.AddFinding(std::move(finding));
      for (const std::size_t i : checks) diagnosis.Explain(i, id);
    }
  }
  ExplainMemlockDefault(diagnosis);
}

}  // namespace reconciler
