#include "reconciler/cabling/observe/observe_cabling.h"

#include <functional>
#include <mutex>

#include "reconciler/cabling/observe/cabling_script.h"

namespace reconciler {
namespace {

constexpr Milliseconds kLimit{30000};
constexpr std::chrono::seconds kLifetime{60};  // three requests to the slowest node of a round

// One request to every node that has answered so far.
class CablingObserver {
 public:
  CablingObserver(const ClusterSpec& cluster, const std::vector<const NodeSpec*>& nodes,
                  NodePool& pool)
      : cluster_(cluster), pool_(pool), nodes_(nodes) {
    for (const NodeSpec* node : nodes) views_[node->name];
  }

  void RunScripts(const std::function<std::string(const std::vector<CagePort>&)>& script,
                  const std::function<void(const std::string& out, CablingView& view)>& read) {
    NodeErrors thrown = ForEachNode(nodes_, pool_.at_once(), [&](const NodeSpec& node) {
      const auto reply = pool_.Run(node, script(ListCagePorts(cluster_, node)), kLimit);
      const std::lock_guard lock(mutex_);
      if (reply) {
        read(reply->out, views_[node.name]);
      } else {
        views_[node.name].failure = reply.error();
      }
    });
    for (auto& [name, error] : thrown) views_[name].failure = std::move(error);
    std::erase_if(nodes_,
                  [&](const NodeSpec* node) { return views_[node->name].failure.has_value(); });
  }

  CablingViews TakeViews() { return std::move(views_); }

 private:
  const ClusterSpec& cluster_;
  NodePool& pool_;
  std::vector<const NodeSpec*> nodes_;
  std::mutex mutex_ = {};  // of the views
  CablingViews views_ = {};
};

}  // namespace

CablingViews ObserveCabling(const ClusterSpec& cluster, const std::vector<const NodeSpec*>& nodes,
                            NodePool& pool) {
  CablingObserver observer(cluster, nodes, pool);
  const auto keep = [](const std::string& out, CablingView& view) { ReadLines(out, view); };
  const auto lifetime = kLifetime * CountRounds(nodes.size(), pool.at_once());
  observer.RunScripts([&](const auto& ports) { return BuildAddAddressesScript(ports, lifetime); },
                      keep);
  observer.RunScripts(BuildDiscoverScript, keep);
  observer.RunScripts(
      [](const auto& ports) { return BuildRemoveAddressesScript(ports) + BuildLldpScript(); },
      [](const std::string& out, CablingView& view) { view.lldp = ParseLldp(out); });
  return observer.TakeViews();
}

}  // namespace reconciler
