#include "reconciler/verify/report/report_nccl.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "reconciler/model/fabric.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

const char* NamePath(NcclPath path) {
  switch (path) {
    case NcclPath::kUnknown:
      return "unknown";
    case NcclPath::kRdma:
      return "rdma";
    case NcclPath::kSocket:
      return "socket";
    case NcclPath::kOther:
      return "other";
  }
  return "";
}

Json RankToJson(const NcclRankFacts& rank, const RankPath& path) {
  Json rails = Json::array();
  for (const RailUse& rail : path.rails) {
    rails.push_back({{"hca", rail.hca},
                     {"rail", FormatRailName(rail.rail)},
                     {"sent", rail.sent},
                     {"received", rail.received}});
  }
  return {{"node", rank.node},        {"version", rank.version},     {"library", rank.library},
          {"gpu", rank.gpu},          {"path", NamePath(path.path)}, {"counted", path.counted},
          {"rails", std::move(rails)}};
}

// JSON has no word for what a broken clock makes.
double MakeFinite(double value) { return std::isfinite(value) ? value : 0; }

Json FigureToJson(const NcclFigure& figure) {
  return {{"collective", ToString(figure.collective)},
          {"bytes", figure.bytes},
          {"type", ToString(figure.type)},
          {"in_place", figure.in_place},
          {"iterations", figure.iterations},
          {"time_us", MakeFinite(figure.time_us)},
          {"p50_us", MakeFinite(figure.p50_us)},
          {"p95_us", MakeFinite(figure.p95_us)},
          {"algbw", MakeFinite(figure.algbw)},
          {"busbw", MakeFinite(figure.busbw)},
          {"wrong", figure.wrong}};
}

}  // namespace

Json NcclToJson(const NcclSummary& summary) {
  Json json = {{"root", summary.root}, {"seconds", summary.seconds}};
  if (summary.roofline) {
    json["roofline"] = {{"ring", summary.roofline->ring}, {"most", summary.roofline->most}};
  }
  json["ranks"] = Json::array();
  for (std::size_t i = 0; i < summary.ranks.size(); ++i) {
    json["ranks"].push_back(RankToJson(summary.ranks[i], summary.paths.at(i)));
  }
  json["tests"] = Json::array();
  for (const NcclFigure& figure : summary.figures) json["tests"].push_back(FigureToJson(figure));
  json["pairs"] = Json::array();
  for (const PairVerdict& pair : summary.pairs) {
    json["pairs"].push_back(
        {{"a", pair.a}, {"b", pair.b}, {"good", pair.good}, {"seen", pair.seen}});
  }
  return json;
}

}  // namespace reconciler
