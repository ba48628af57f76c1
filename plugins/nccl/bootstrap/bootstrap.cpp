#include "plugins/nccl/bootstrap/bootstrap.h"

#include <fmt/format.h>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

std::string DescribeWireless(const BootstrapChoice& choice) {
  const std::string netdev = MakePrintable(choice.netdev);
  const std::string wireless = MakePrintable(choice.wireless);
  if (choice.wireless.empty()) {
    return fmt::format(
        "bootstrap: the management network of {} is wireless: the ranks of all nodes meet on the "
        "fabric instead, here on {}",
        choice.on_wifi, netdev);
  }
  if (choice.netdev != choice.wireless) {
    return fmt::format(
        "bootstrap: {} has the management address and is wireless: the ranks meet on {} instead",
        wireless, netdev);
  }
  return fmt::format(
      "bootstrap: {} is wireless, and no wired network is there for the ranks to meet on: each "
      "loss of it ends a run",
      wireless);
}

}  // namespace

Errors CheckBootstrap(const ClusterSpec& cluster, const Fabric& fabric) {
  const Value* of_cluster = cluster.settings.At({"nccl", "bootstrap"});
  for (const NodeSpec& node : cluster.nodes) {
    const Member* section = cluster.FindSection(node.name, "nccl");
    const Value* own = section != nullptr ? section->value.Find("bootstrap") : nullptr;
    if (own == nullptr || (of_cluster != nullptr && own->position == of_cluster->position))
      continue;
    return {MakeManifestError(
        "nccl-bootstrap-impossible", cluster.Mark(own->position),
        fmt::format("nccl.bootstrap: wanted one network for all nodes, found one for {} alone",
                    node.name),
        "write it in the cluster's nccl")};
  }
  if (ReadBootstrap(cluster) == Bootstrap::kManagement) return {};
  if (FindBootstrapRail(cluster, fabric) != nullptr) return {};
  return {MakeManifestError(
      "nccl-bootstrap-impossible",
      cluster.Mark(cluster.settings.At({"nccl", "bootstrap"})->position),
      fmt::format("nccl.bootstrap: wanted a rail that reaches every node, found none: {}",
                  ExplainNoBootstrapRail(cluster, fabric)),
      "write management, or remove it")};
}

std::vector<Diagnostic> FindWirelessBootstrap(const PluginInput& input,
                                              const BootstrapChoice& choice,
                                              const SourceMark& where) {
  if (choice.wireless.empty() && choice.on_wifi.empty()) return {};
  const bool has_rail = FindBootstrapRail(input.cluster, input.fabric) != nullptr;
  const std::string& node = choice.wireless.empty() ? choice.on_wifi : input.node.name;
  return {{.severity = Severity::kWarns,
           .code = "nccl-bootstrap-wifi",
           .message = DescribeWireless(choice),
           .next_step =
               has_rail ? fmt::format("write the address of a wired port as the address of {}, or "
                                      "nccl.bootstrap: fabric",
                                      node)
                        : fmt::format("connect a wired port of {}, and write its address as the "
                                      "node's address",
                                      node),
           .where = where,
           .subject = "bootstrap"}};
}

Diagnostic MakeStaysNote(const BootstrapChoice& choice, const SourceMark& where) {
  return {.severity = Severity::kInforms,
          .code = "nccl-bootstrap-stays",
          .message = fmt::format(
              "bootstrap: the ranks of this node still meet on {}: a node that was not read may "
              "have no wired management network",
              MakePrintable(choice.if_on_wifi)),
          .next_step = "plan all nodes at once, which decides it for all",
          .where = where,
          .subject = "bootstrap"};
}

}  // namespace reconciler::plugins::nccl
