#include "reconciler/spark_verify/protocol/messages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/json_line.h"

namespace reconciler::spark_verify {
namespace {

using Json = nlohmann::ordered_json;

Json MakeHead(Event event) { return {{"event", ToString(event)}}; }

RailReady ReadRailReady(const Json& json) {
  RailReady rail{.hca = json.at("hca"),
                 .ipv4 = json.at("ipv4"),
                 .gid_index = json.at("gid_index"),
                 .active_mtu = json.at("active_mtu"),
                 .address = json.at("address"),
                 .mailbox = json.at("mailbox"),
                 .key = json.at("key"),
                 .limits = {.hardware = json.at("hardware"),
                            .link_mbps = json.at("link_mbps"),
                            .pcie_width = json.at("pcie_width"),
                            .pcie_max_width = json.at("pcie_max_width"),
                            .pcie_gts = json.at("pcie_gts")}};
  const auto gid = ParseGid(json.at("gid").get<std::string>());
  if (!gid) throw std::invalid_argument(gid.error().message);
  rail.gid = *gid;
  for (const Json& pair : json.at("queue_pairs")) {
    rail.queue_pairs.push_back({.number = pair.at(0), .first_packet = pair.at(1)});
  }
  return rail;
}

Ready ReadReady(const Json& json) {
  Ready ready{.size = json.at("size"), .latency = json.at("latency"), .send = json.at("send")};
  for (const Json& rail : json.at("rails")) ready.rails.push_back(ReadRailReady(rail));
  return ready;
}

std::vector<RailSent> ReadSent(const Json& json) {
  std::vector<RailSent> rails;
  for (const Json& rail : json.at("rails")) {
    rails.push_back({.hca = rail.at("hca"),
                     .bytes = rail.at("bytes"),
                     .total_bytes = rail.at("total_bytes"),
                     .seconds = rail.at("seconds"),
                     .path_mtu = rail.at("path_mtu"),
                     .latency_us = rail.at("latency_us"),
                     .final_seed = rail.at("final_seed")});
  }
  return rails;
}

Message Read(const Json& json) {
  const std::string name = json.at("event");
  for (const Event event : {Event::kReady, Event::kConnected, Event::kSent, Event::kChecked,
                            Event::kEnd, Event::kError}) {
    if (ToString(event) != name) continue;
    Message message{.event = event};
    switch (event) {
      case Event::kReady:
        message.ready = ReadReady(json);
        break;
      case Event::kSent:
        message.sent = ReadSent(json);
        break;
      case Event::kChecked:
        message.checked_bytes = json.at("bytes");
        break;
      case Event::kEnd:
        message.counters = json.at("counters").get<Counters>();
        break;
      case Event::kError:
        message.run_error = {.code = json.at("code"),
                             .hca = json.at("hca"),
                             .text = json.at("text"),
                             .hint = json.at("hint")};
        break;
      case Event::kConnected:
        break;
    }
    return message;
  }
  throw std::invalid_argument(fmt::format("no event is called '{}'", name));
}

}  // namespace

std::string_view ToString(Event event) {
  switch (event) {
    case Event::kReady:
      return "ready";
    case Event::kConnected:
      return "connected";
    case Event::kSent:
      return "sent";
    case Event::kChecked:
      return "checked";
    case Event::kEnd:
      return "end";
    case Event::kError:
      return "error";
  }
  return {};
}

std::string FormatReady(const Ready& ready) {
  Json json = MakeHead(Event::kReady);
  json["size"] = ready.size;
  json["latency"] = ready.latency;
  json["send"] = ready.send;
  json["rails"] = Json::array();
  for (const RailReady& rail : ready.rails) {
    Json pairs = Json::array();
    for (const QueuePairAddress& pair : rail.queue_pairs) {
      pairs.push_back({pair.number, pair.first_packet});
    }
    json["rails"].push_back({{"hca", rail.hca},
                             {"ipv4", rail.ipv4},
                             {"gid", ToString(rail.gid)},
                             {"gid_index", rail.gid_index},
                             {"active_mtu", rail.active_mtu},
                             {"address", rail.address},
                             {"mailbox", rail.mailbox},
                             {"key", rail.key},
                             {"hardware", rail.limits.hardware},
                             {"link_mbps", rail.limits.link_mbps},
                             {"pcie_width", rail.limits.pcie_width},
                             {"pcie_max_width", rail.limits.pcie_max_width},
                             {"pcie_gts", rail.limits.pcie_gts},
                             {"queue_pairs", std::move(pairs)}});
  }
  return ToLine(json);
}

std::string FormatConnected() { return ToLine(MakeHead(Event::kConnected)); }

std::string FormatSent(const std::vector<RailSent>& rails) {
  Json json = MakeHead(Event::kSent);
  json["rails"] = Json::array();
  for (const RailSent& rail : rails) {
    json["rails"].push_back({{"hca", rail.hca},
                             {"gbps", rail.Gbps()},
                             {"bytes", rail.bytes},
                             {"total_bytes", rail.total_bytes},
                             {"seconds", rail.seconds},
                             {"path_mtu", rail.path_mtu},
                             {"latency_us", rail.latency_us},
                             {"final_seed", rail.final_seed}});
  }
  return ToLine(json);
}

std::string FormatChecked(std::uint64_t bytes) {
  Json json = MakeHead(Event::kChecked);
  json["bytes"] = bytes;
  return ToLine(json);
}

std::string FormatEnd(const Counters& counters) {
  Json json = MakeHead(Event::kEnd);
  json["counters"] = counters;
  return ToLine(json);
}

std::string FormatErrorLine(const RunError& run_error) {
  Json json = MakeHead(Event::kError);
  json["code"] = run_error.code;
  json["hca"] = run_error.hca;
  json["text"] = run_error.text;
  json["hint"] = run_error.hint;
  return ToLine(json);
}

Result<Message> ParseMessage(std::string_view line) {
  try {
    return Read(ParseLine(line));
  } catch (const std::exception& error) {
    return Fail({.kind = ErrorKind::kProbe,
                 .message = fmt::format("wanted one of spark-verify's lines, found '{}'",
                                        line.substr(0, 120)),
                 .hint = error.what()});
  }
}

}  // namespace reconciler::spark_verify
