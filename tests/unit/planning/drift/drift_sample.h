#pragma once

#include "reconciler/model/plan.h"

namespace reconciler::test {

// spark-1 differs, spark-2 does not, spark-3 was not read; what they said is hostile.
inline Plan MakeDriftedPlan() {
  Plan plan{.cluster = "home\"lab"};
  plan.nodes = {{.name = "spark-1"},
                {.name = "spark-2"},
                {.name = "spark-3", .unreachable = "no <route>\033"}};
  plan.stages = {
      {.changes = {{.change = ChangeKind::kModify,
                    .kind = "link",
                    .name = "enp1s0f1np1",
                    .node = "spark-1",
                    .detail = "mtu 1500 → 9000",
                    .cause = {CauseKind::kDrifted}}}},
      {.changes = {{.change = ChangeKind::kBlocked,
                    .kind = "file",
                    .name = "/etc/hosts",
                    .node = "spark-1",
                    .detail = "edited & \033kept"},
                   {.change = ChangeKind::kAdd, .kind = "file", .name = "/x", .node = "spark-1"}}}};
  plan.diagnostics = {
      {.severity = Severity::kBlocks,
       .code = "edited-file",
       .message = "edited",
       .change = "file//etc/hosts",
       .nodes = {"spark-1"}},
      {.severity = Severity::kWarns,
       .code = "foreign-line",
       .message = "a line wins",
       .nodes = {"spark-1"}},
      {.severity = Severity::kInforms,
       .code = "a-note",
       .message = "what was decided",
       .nodes = {"spark-2"}},
      {.severity = Severity::kWarns, .code = "of-cluster", .message = "of the cluster"}};
  return plan;
}

}  // namespace reconciler::test
