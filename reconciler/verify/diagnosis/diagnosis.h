#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/diagnosis/pattern.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What is known, and which finding explains which check.
class Diagnosis {
 public:
  Diagnosis(const ClusterSpec& the_cluster, const Fabric& the_fabric, const ClusterFacts& the_facts,
            const std::vector<Check>& the_checks)
      : cluster(the_cluster),
        fabric(the_fabric),
        facts(the_facts),
        checks(the_checks),
        explained_(the_checks.size()) {}

  const ClusterSpec& cluster;
  const Fabric& fabric;
  const ClusterFacts& facts;
  const std::vector<Check>& checks;

  std::size_t AddFinding(Finding finding);
  Finding& At(std::size_t finding) { return findings_[finding]; }
  // The first explanation of a check stays.
  void Explain(std::size_t check, std::size_t finding);
  bool IsOpen(std::size_t check) const;  // not passed or skipped, and not explained yet
  std::optional<std::size_t> FindExplanation(std::size_t check) const { return explained_[check]; }

  // Open checks with that symptom, grouped by a text made from each; checks in order.
  template <class Key>  // std::string(const Check&)
  std::map<std::string, std::vector<std::size_t>> GroupOpenChecks(Symptom symptom, Key key) const {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (IsOpen(i) && checks[i].symptom == symptom) groups[key(checks[i])].push_back(i);
    }
    return groups;
  }
  // The arrows of one level: passed ones and open ones with that symptom, which are the bad ones.
  std::vector<Arrow> ListArrows(VerifyLevel level, Symptom symptom) const;
  // A finding about those checks: level, outcome, rails, expected, measured and evidence from them.
  Finding DraftFinding(std::string code, std::vector<NodeName> nodes,
                       const std::vector<std::size_t>& about) const;

  // By level, then in the order they were opened.
  std::vector<Finding> SortFindings() const;

  // What the facts found wrong with a port, for the levels above.
  std::map<std::pair<NodeName, int>, std::vector<std::pair<Symptom, std::size_t>>> port_faults = {};

 private:
  std::vector<Finding> findings_;
  std::vector<std::optional<std::size_t>> explained_;
};

// The steps of Diagnose, in the order in which they must run.
void ExplainByNodes(Diagnosis& diagnosis, const std::vector<NodeName>& order,
                    const std::map<NodeName, std::string>& unreachable);
void ExplainByFacts(Diagnosis& diagnosis);
void ExplainByDevices(Diagnosis& diagnosis);
void ExplainHealth(Diagnosis& diagnosis);
void ExplainPings(Diagnosis& diagnosis);
void ExplainLogins(Diagnosis& diagnosis);

std::string FormatRails(const std::set<int>& rails);  // "rail0, rail1"

}  // namespace reconciler
