#include "reconciler/verify/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

std::size_t Report::Count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(),
                    [outcome](const Check& check) { return check.outcome == outcome; }));
}

std::optional<std::string> FindCommonSkip(const Report& report, VerifyLevel level) {
  std::optional<std::string> why;
  for (const Check& check : report.checks) {
    if (check.level != level) continue;
    if (check.outcome != Outcome::kSkipped || (why && *why != check.why)) return std::nullopt;
    why = check.why;
  }
  return why;
}

std::string FormatCheck(const Check& check) {
  std::string name = check.what + " " + check.from;
  if (!check.to.empty()) name += " to " + check.to;
  if (check.rail) name += " on " + FormatRailName(*check.rail);
  if (!check.subject.empty()) name += ", " + check.subject;
  return name;
}

std::string FormatPlace(const Finding& finding) {
  std::vector<std::string> rails;
  for (const int rail : finding.rails) rails.push_back(FormatRailName(rail));
  return Join(finding.nodes, ", ") + (rails.empty() ? "" : " on " + Join(rails, ", "));
}

std::string FormatTime(const Report& report) {
  if (!report.run || report.run->began.empty()) return "an unknown time";
  const std::string& began = report.run->began;
  constexpr std::size_t kLength = std::string_view("2026-11-24T03:12:05Z").size();
  if (began.size() != kLength || began[10] != 'T' || !began.ends_with('Z')) return began;
  return began.substr(0, 10) + " " + began.substr(11, 5) + " UTC";
}

std::string FormatNotMeasured(const Report& report) {
  if (!report.not_measured) return "";
  return fmt::format(
      "{}: {}",
      report.not_measured->level == VerifyLevel::kNccl ? "NCCL not run" : "bandwidth not measured",
      MakePrintable(report.not_measured->why));
}

VerificationOutcome FindVerificationOutcome(const Report& report) {
  if (report.Count(Outcome::kFail) > 0) return VerificationOutcome::kFailed;
  const bool is_whole = report.unreachable.empty() && report.Count(Outcome::kCouldNotMeasure) == 0;
  return is_whole ? VerificationOutcome::kPassed : VerificationOutcome::kNotMeasured;
}

int FindExitCode(const Report& report) {
  switch (FindVerificationOutcome(report)) {
    case VerificationOutcome::kPassed:
      return 0;
    case VerificationOutcome::kFailed:
      return 6;
    case VerificationOutcome::kNotMeasured:
      return report.unreachable.empty() ? 7 : 3;
  }
  return 0;
}

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kFail:
      return "fail";
    case Outcome::kCouldNotMeasure:
      return "could-not-measure";
    case Outcome::kSkipped:
      return "skipped";
  }
  return {};
}

std::string_view ToString(VerifyLevel level) {
  switch (level) {
    case VerifyLevel::kFacts:
      return "facts";
    case VerifyLevel::kPing:
      return "ping";
    case VerifyLevel::kSsh:
      return "ssh";
    case VerifyLevel::kRdma:
      return "rdma";
    case VerifyLevel::kNccl:
      return "nccl";
  }
  return {};
}

std::string_view ToString(Symptom symptom) {
  switch (symptom) {
    case Symptom::kNone:
      return "";
    case Symptom::kNodeUnreachable:
      return "node-unreachable";
    case Symptom::kNoAnswer:
      return "no-answer";
    case Symptom::kFactUnknown:
      return "fact-unknown";
    case Symptom::kProgramMissing:
      return "program-missing";
    case Symptom::kProbeFailed:
      return "probe-failed";
    case Symptom::kPortMissing:
      return "port-missing";
    case Symptom::kPortElsewhere:
      return "port-elsewhere";
    case Symptom::kLinkDown:
      return "link-down";
    case Symptom::kNoCarrier:
      return "no-carrier";
    case Symptom::kAddressMissing:
      return "address-missing";
    case Symptom::kMtuWrong:
      return "mtu-wrong";
    case Symptom::kSpeedLow:
      return "speed-low";
    case Symptom::kFecWrong:
      return "fec-wrong";
    case Symptom::kLanesDiffer:
      return "cable-lanes-differ";
    case Symptom::kErrorsGrew:
      return "errors-grew";
    case Symptom::kVersionsDiffer:
      return "versions-differ";
    case Symptom::kMemlockLow:
      return "memlock-low";
    case Symptom::kHcaMissing:
      return "hca-missing";
    case Symptom::kHcaName:
      return "hca-name";
    case Symptom::kHcaDown:
      return "hca-down";
    case Symptom::kGidMissing:
      return "gid-missing";
    case Symptom::kGidTwice:
      return "gid-twice";
    case Symptom::kPcieNarrow:
      return "pcie-width";
    case Symptom::kPcieSlow:
      return "pcie-speed";
    case Symptom::kCmaWrong:
      return "cma-wrong";
    case Symptom::kMemlockDefault:
      return "memlock-default";
    case Symptom::kUfwDrops:
      return "ufw-drops";
    case Symptom::kPcieError:
      return "pcie-error";
    case Symptom::kGpuError:
      return "gpu-error";
    case Symptom::kGpuMemory:
      return "gpu-memory-refused";
    case Symptom::kOutOfMemory:
      return "out-of-memory";
    case Symptom::kLockup:
      return "processor-hung";
    case Symptom::kHcaUnwell:
      return "hca-unwell";
    case Symptom::kLinkFlaps:
      return "link-flaps";
    case Symptom::kUverbsMissing:
      return "uverbs-missing";
    case Symptom::kUverbsDenied:
      return "uverbs-denied";
    case Symptom::kBootstrapWifi:
      return "bootstrap-wifi";
    case Symptom::kTooHot:
      return "too-hot";
    case Symptom::kThrottled:
      return "throttled";
    case Symptom::kGpuThrottled:
      return "gpu-throttled";
    case Symptom::kMemoryPressure:
      return "memory-pressure";
    case Symptom::kContainerNoRdma:
      return "container-no-rdma";
    case Symptom::kContainerMemlock:
      return "container-memlock";
    case Symptom::kContainerNcclOld:
      return "container-nccl-old";
    case Symptom::kContainerNcclDiffers:
      return "container-nccl-differs";
    case Symptom::kImageNotStarted:
      return "image-not-started";
    case Symptom::kImageNoInfiniband:
      return "image-no-infiniband";
    case Symptom::kImageMemlock:
      return "image-memlock-low";
    case Symptom::kImageNcclOld:
      return "image-nccl-old";
    case Symptom::kImageNcclDiffers:
      return "image-nccl-differs";
    case Symptom::kClocksDiffer:
      return "clocks-differ";
    case Symptom::kKnownBad:
      return "known-bad-version";
    case Symptom::kDefaultRoute:
      return "default-route-on-fabric";
    case Symptom::kLease:
      return "dhcp-on-fabric";
    case Symptom::kAddressExtra:
      return "address-extra";
    case Symptom::kPortInBond:
      return "port-in-bond";
    case Symptom::kSubnetTwice:
      return "subnet-twice";
    case Symptom::kInfiniBand:
      return "infiniband-link";
    case Symptom::kNotKept:
      return "address-not-kept";
    case Symptom::kPathSilent:
      return "path-silent";
    case Symptom::kPathMtuLow:
      return "path-mtu-low";
    case Symptom::kPathLoses:
      return "path-loses-packets";
    case Symptom::kNeighbourOtherPort:
      return "neighbour-other-port";
    case Symptom::kNeighbourWrong:
      return "neighbour-wrong";
    case Symptom::kHostNameWrong:
      return "host-name-wrong";
    case Symptom::kNothingBack:
      return "nothing-back";
    case Symptom::kTooLongForSender:
      return "too-long-for-sender";
    case Symptom::kJumboLost:
      return "jumbo-lost";
    case Symptom::kSomeLost:
      return "some-lost";
    case Symptom::kSshDenied:
      return "ssh-denied";
    case Symptom::kSshKeyUnprotected:
      return "ssh-key-unprotected";
    case Symptom::kSshHostKeyChanged:
      return "ssh-host-key-changed";
    case Symptom::kSshHostKeyUnknown:
      return "ssh-host-key-unknown";
    case Symptom::kSshNameUnknown:
      return "ssh-name-unknown";
    case Symptom::kSshRefused:
      return "ssh-refused";
    case Symptom::kSshNoConnection:
      return "ssh-no-connection";
    case Symptom::kSshDropped:
      return "ssh-dropped";
    case Symptom::kInvalidFigure:
      return "measurement-invalid";
    case Symptom::kSshFailed:
      return "ssh-failed";
  }
  return {};
}

}  // namespace reconciler
