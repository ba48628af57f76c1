#include "reconciler/fabric/flow.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>

namespace reconciler {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

}  // namespace

std::size_t FlowNetwork::FindOrAddPoint(const std::string& name) {
  return points_.emplace(name, points_.size()).first->second;
}

void FlowNetwork::Join(std::size_t a, std::size_t b, std::int64_t capacity) {
  lines_.push_back({a, b, capacity});
}

std::int64_t FlowNetwork::ComputeMaxFlow(std::size_t from, std::size_t to) const {
  FlowGraph graph(points_.size());
  const auto capacity = boost::get(boost::edge_capacity, graph);
  const auto reverse = boost::get(boost::edge_reverse, graph);
  for (const Line& line : lines_) {
    // Each way is the other's reverse: what flows one way may be canceled the other way.
    const auto there = boost::add_edge(line.a, line.b, graph).first;
    const auto back = boost::add_edge(line.b, line.a, graph).first;
    capacity[there] = capacity[back] = line.capacity;
    reverse[there] = back;
    reverse[back] = there;
  }
  return boost::edmonds_karp_max_flow(graph, from, to);
}

}  // namespace reconciler
