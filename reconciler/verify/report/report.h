#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/fabric/drawing/drawing.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/verification_outcome.h"
#include "reconciler/verify/nccl/evidence/summary.h"

namespace reconciler {

// kWarn: it holds, but not as well as it should.
enum class Outcome { kPass, kWarn, kFail, kCouldNotMeasure, kSkipped };

// The levels, lowest first: what fails on one level explains failures on the levels above it.
enum class VerifyLevel { kFacts, kPing, kSsh, kRdma, kNccl };

// What a check that did not pass has seen.
enum class Symptom {
  kNone,
  kNodeUnreachable,  // we cannot reach the node, so nothing on it was read
  kNoAnswer,         // the node was reached, but this probe's answer did not arrive
  kFactUnknown,
  kProgramMissing,
  kProbeFailed,  // the program that measures refused to work
  kPortMissing,
  kPortElsewhere,  // another cage or PCI function than the hardware profile says
  kLinkDown,       // set down by configuration
  kNoCarrier,
  kAddressMissing,
  kMtuWrong,
  kSpeedLow,
  kFecWrong,
  kLanesDiffer,     // from the other ports of the same cable
  kErrorsGrew,      // bad or lost frames, or links lost, while the pings ran
  kVersionsDiffer,  // kernel, driver or firmware, between nodes of one kind
  kMemlockLow,
  kHcaMissing,
  kHcaName,  // there under another name
  kHcaDown,
  kGidMissing,
  kGidTwice,
  kPcieNarrow,
  kPcieSlow,
  kCmaWrong,
  // What may spoil a run beside ports and devices: node_health.h, port_use.h, known_bad.h.
  kMemlockDefault,  // of a login, where the manifest manages no limit
  kUfwDrops,
  kPcieError,
  kGpuError,
  kGpuMemory,
  kOutOfMemory,
  kLockup,
  kHcaUnwell,
  kLinkFlaps,
  kUverbsMissing,
  kUverbsDenied,
  kBootstrapWifi,
  kTooHot,
  kThrottled,
  kGpuThrottled,
  kMemoryPressure,
  kContainerNoRdma,
  kContainerMemlock,
  kContainerNcclOld,
  kContainerNcclDiffers,
  // What a container of an image of the manifest's `checks` has.
  kImageNotStarted,
  kImageNoInfiniband,
  kImageMemlock,
  kImageNcclOld,
  kImageNcclDiffers,
  kClocksDiffer,
  kKnownBad,
  kDefaultRoute,
  kLease,
  kAddressExtra,
  kPortInBond,
  kSubnetTwice,
  kInfiniBand,
  kNotKept,
  // A path of the manifest's `checks`, to a machine outside the fabric.
  kPathSilent,
  kPathMtuLow,
  kPathLoses,  // some packets of the promised size
  kHostNameWrong,
  kNeighbourOtherPort,  // another port of the peer answers for its address
  kNeighbourWrong,      // another port answers for a peer's address
  kNothingBack,         // not even a small ping
  kTooLongForSender,    // the sender's own kernel refuses the size
  kJumboLost,           // small pings come back, full-size ones do not
  kSomeLost,
  kSshDenied,
  kSshKeyUnprotected,  // others may read the sender's key file, so that ssh does not use it
  kSshHostKeyChanged,
  kSshHostKeyUnknown,
  kSshNameUnknown,
  kSshRefused,
  kSshNoConnection,  // no answer from port 22 within the limit
  kSshDropped,       // the connection was made and closed before the login
  kSshFailed,
  kInvalidFigure,  // it cannot be true
};

struct Check {
  VerifyLevel level = VerifyLevel::kFacts;
  std::string what = {};  // "mtu", "jumbo-ping": unique with from, to, rail, subject
  NodeName from = {};
  NodeName to = {};  // empty: the check is about `from` alone
  std::optional<int> rail = std::nullopt;
  std::string subject = {};  // which of several tests: "all_reduce 1 GiB float"
  Outcome outcome = Outcome::kPass;
  Symptom symptom = Symptom::kNone;
  std::string expected = {};
  std::string measured = {};
  std::optional<double> gbps = std::nullopt;  // Gb/s of payload, where a speed was measured
  std::optional<double> roofline_gbps = std::nullopt;  // of it, where the link reports its speed
  std::optional<double> latency_us = std::nullopt;     // one way, where it was measured
  std::string why = {};                    // not empty when it could not be measured or was skipped
  std::vector<std::string> evidence = {};  // the node's own text, one line each, printable
  bool operator==(const Check&) const = default;
};

// One cause, however many checks it made fail.
struct Finding {
  std::string code = {};                    // stable slug: "path-mtu"
  Outcome outcome = Outcome::kFail;         // kWarn, kFail or kCouldNotMeasure
  VerifyLevel level = VerifyLevel::kFacts;  // where it was first seen
  std::vector<NodeName> nodes = {};         // those at fault, or those that the fault lies between
  std::set<int> rails = {};                 // empty: not about a rail
  std::string expected = {};
  std::string measured = {};
  std::vector<std::string> evidence = {};
  std::string cause = {};
  std::string next_step = {};
  std::size_t explains = 0;  // number of checks
  bool operator==(const Finding&) const = default;
};

// Level auto: the first level that was left out, and what kept it from being run.
struct NotMeasured {
  VerifyLevel level = VerifyLevel::kRdma;
  std::string why = {};
  bool operator==(const NotMeasured&) const = default;
};

// When verify ran, and which program that was.
struct ReportRun {
  std::string began = {};    // UTC: "2026-11-24T03:12:05Z"
  double seconds = 0;        // that it took
  std::string program = {};  // version of spark-reconcile
  bool operator==(const ReportRun&) const = default;
};

// Versions and settings of one node by name: "kernel", "rate of enp1s0f1np1".
using ReportedFacts = std::map<std::string, std::string>;

struct Report {
  std::string cluster = {};
  VerifyLevel level = VerifyLevel::kSsh;  // the highest that was requested; with auto, that was run
  std::vector<Check> checks = {};         // by level, then node order of the manifest
  std::vector<Finding> findings = {};     // by level
  std::map<NodeName, std::string> unreachable = {};  // and why
  std::optional<NcclSummary> nccl = std::nullopt;    // when NCCL was run
  std::optional<NotMeasured> not_measured = std::nullopt;
  // Reports of older programs have none of these.
  std::optional<ReportRun> run = std::nullopt;
  std::map<NodeName, ReportedFacts> facts = {};
  std::optional<Drawing> fabric = std::nullopt;
  bool operator==(const Report&) const = default;

  std::size_t Count(Outcome outcome) const;
};

// Why a level was skipped, when all its checks were and for the same reason.
std::optional<std::string> FindCommonSkip(const Report& report, VerifyLevel level);

// "jumbo-ping spark-1 to spark-2 on rail0"
std::string FormatCheck(const Check& check);

// "spark-1, spark-2 on rail0": where a finding is.
std::string FormatPlace(const Finding& finding);

// "2026-11-24 03:12 UTC"; "an unknown time" for a report without one.
std::string FormatTime(const Report& report);

// "NCCL not run: no GPU on spark-2"; empty where level auto left nothing out.
std::string FormatNotMeasured(const Report& report);

// Not measured: nothing failed, but a node could not be read or something could not be measured.
VerificationOutcome FindVerificationOutcome(const Report& report);

// 6: something failed; 3: nothing failed, but a node could not be read; 7: something could not be
// measured; 0: everything passed, perhaps with a warning, or was skipped.
int FindExitCode(const Report& report);

std::string_view ToString(Outcome outcome);    // "could-not-measure"
std::string_view ToString(VerifyLevel level);  // "facts", "ping", "ssh", "rdma", "nccl"
std::string_view ToString(Symptom symptom);    // "jumbo-lost"; empty for kNone

inline constexpr Outcome kOutcomes[] = {Outcome::kPass, Outcome::kWarn, Outcome::kFail,
                                        Outcome::kCouldNotMeasure, Outcome::kSkipped};
inline constexpr Outcome kOutcomesOfFindings[] = {Outcome::kWarn, Outcome::kFail,
                                                  Outcome::kCouldNotMeasure};
inline constexpr VerifyLevel kVerifyLevels[] = {VerifyLevel::kFacts, VerifyLevel::kPing,
                                                VerifyLevel::kSsh, VerifyLevel::kRdma,
                                                VerifyLevel::kNccl};

// A document valid against schema/report.schema.json.
nlohmann::ordered_json ToJson(const Report& report);

// What ToJson wrote. Whatever the text is, the report can be drawn: its texts are printable, and
// its parts fit each other. Errors are kInput and name the place in the document.
Result<Report> ParseReport(std::string_view text);

}  // namespace reconciler
