#include "reconciler/spark_verify/protocol/nccl_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/json_line.h"

namespace reconciler::spark_verify {
namespace {

using Json = nlohmann::ordered_json;

constexpr NcclEvent kEvents[] = {NcclEvent::kHello,     NcclEvent::kUniqueId, NcclEvent::kInitDone,
                                 NcclEvent::kConnected, NcclEvent::kResult,   NcclEvent::kLog,
                                 NcclEvent::kFailed,    NcclEvent::kAborted,  NcclEvent::kEnd};
constexpr NcclCommand kCommands[] = {NcclCommand::kId, NcclCommand::kGo, NcclCommand::kAbort};

std::string_view ToString(NcclCommand command) {
  switch (command) {
    case NcclCommand::kId:
      return "id";
    case NcclCommand::kGo:
      return "go";
    case NcclCommand::kAbort:
      return "abort";
  }
  return {};
}

Json MakeHead(NcclEvent event) { return {{"event", ToString(event)}}; }

std::string FormatSeconds(NcclEvent event, double seconds) {
  Json json = MakeHead(event);
  json["seconds"] = seconds;
  return ToLine(json);
}

template <class Enum, std::size_t N>
Enum Find(const Enum (&all)[N], const std::string& name, const char* what) {
  const auto* found =
      std::find_if(std::begin(all), std::end(all), [&](Enum one) { return ToString(one) == name; });
  if (found == std::end(all)) {
    throw std::invalid_argument(fmt::format("no {} is called '{}'", what, name));
  }
  return *found;
}

NcclHello ReadHello(const Json& json) {
  NcclHello hello{.rank = json.at("rank"),
                  .pid = json.at("pid"),
                  .host = json.at("host"),
                  .library = json.at("library"),
                  .nccl_version = json.at("nccl_version"),
                  .cuda_driver = json.at("cuda_driver"),
                  .gpu = json.at("gpu"),
                  .pci = json.at("pci"),
                  .compute = json.at("compute"),
                  .integrated = json.at("integrated"),
                  .gpu_direct_rdma = json.at("gpu_direct_rdma"),
                  .dma_buf = json.at("dma_buf"),
                  .gpu_free = json.at("gpu_free"),
                  .gpu_total = json.at("gpu_total"),
                  .mem_available = json.at("mem_available"),
                  .swap_used = json.at("swap_used"),
                  .max_bytes = json.at("max_bytes"),
                  .busy_source = json.at("busy_source"),
                  .env = json.at("env").get<std::map<std::string, std::string>>()};
  for (const Json& one : json.at("busy")) {
    hello.busy.push_back({.pid = one.at("pid"), .name = one.at("name"), .bytes = one.at("bytes")});
  }
  return hello;
}

NcclResult ReadResult(const Json& json) {
  constexpr DataType kTypes[] = {DataType::kFloat, DataType::kBfloat16};
  return {.collective = Find(kCollectives, json.at("collective"), "collective"),
          .bytes = json.at("bytes"),
          .type = Find(kTypes, json.at("type"), "type"),
          .in_place = json.at("in_place"),
          .iterations = json.at("iterations"),
          .time_us = json.at("time_us"),
          .p50_us = json.at("p50_us"),
          .p95_us = json.at("p95_us"),
          .wall_us = json.at("wall_us"),
          .algbw = json.at("algbw"),
          .busbw = json.at("busbw"),
          .wrong = json.at("wrong"),
          .counters = json.at("counters").get<Counters>()};
}

NcclFailure ReadFailure(const Json& json) {
  return {.code = json.at("code"),
          .phase = json.at("phase"),
          .call = json.at("call"),
          .result = json.at("result"),
          .async = json.at("async"),
          .last_error = json.at("last_error"),
          .text = json.at("text"),
          .hint = json.at("hint")};
}

NcclMessage ReadNccl(const Json& json) {
  NcclMessage message{.event = Find(kEvents, json.at("event"), "event")};
  switch (message.event) {
    case NcclEvent::kHello:
      message.hello = ReadHello(json);
      break;
    case NcclEvent::kUniqueId:
      message.unique_id = json.at("id");
      break;
    case NcclEvent::kInitDone:
    case NcclEvent::kConnected:
    case NcclEvent::kAborted:
      message.seconds = json.at("seconds");
      break;
    case NcclEvent::kResult:
      message.result = ReadResult(json);
      break;
    case NcclEvent::kLog:
      message.log = json.at("text");
      break;
    case NcclEvent::kFailed:
      message.failure = ReadFailure(json);
      break;
    case NcclEvent::kEnd:
      message.counters = json.at("counters").get<Counters>();
      break;
  }
  return message;
}

std::string FormatOrder(NcclCommand command) { return ToLine({{"command", ToString(command)}}); }

tl::unexpected<Error> FailUnexpected(std::string_view wanted, std::string_view line,
                                     const char* why) {
  return Fail({.kind = ErrorKind::kProbe,
               .message = fmt::format("wanted {}, found '{}'", wanted, line.substr(0, 120)),
               .hint = why});
}

}  // namespace

std::string_view ToString(NcclEvent event) {
  switch (event) {
    case NcclEvent::kHello:
      return "hello";
    case NcclEvent::kUniqueId:
      return "unique-id";
    case NcclEvent::kInitDone:
      return "init-done";
    case NcclEvent::kConnected:
      return "connected";
    case NcclEvent::kResult:
      return "result";
    case NcclEvent::kLog:
      return "log";
    case NcclEvent::kFailed:
      return "failed";
    case NcclEvent::kAborted:
      return "aborted";
    case NcclEvent::kEnd:
      return "end";
  }
  return {};
}

std::string FormatHello(const NcclHello& hello) {
  Json json = MakeHead(NcclEvent::kHello);
  json["rank"] = hello.rank;
  json["pid"] = hello.pid;
  json["host"] = hello.host;
  json["library"] = hello.library;
  json["nccl_version"] = hello.nccl_version;
  json["cuda_driver"] = hello.cuda_driver;
  json["gpu"] = hello.gpu;
  json["pci"] = hello.pci;
  json["compute"] = hello.compute;
  json["integrated"] = hello.integrated;
  json["gpu_direct_rdma"] = hello.gpu_direct_rdma;
  json["dma_buf"] = hello.dma_buf;
  json["gpu_free"] = hello.gpu_free;
  json["gpu_total"] = hello.gpu_total;
  json["mem_available"] = hello.mem_available;
  json["swap_used"] = hello.swap_used;
  json["max_bytes"] = hello.max_bytes;
  json["busy_source"] = hello.busy_source;
  json["busy"] = Json::array();
  for (const BusyProcess& one : hello.busy) {
    json["busy"].push_back({{"pid", one.pid}, {"name", one.name}, {"bytes", one.bytes}});
  }
  json["env"] = hello.env;
  return ToLine(json);
}

std::string FormatUniqueId(std::string_view hex) {
  Json json = MakeHead(NcclEvent::kUniqueId);
  json["id"] = hex;
  return ToLine(json);
}

std::string FormatInitDone(double seconds) { return FormatSeconds(NcclEvent::kInitDone, seconds); }
std::string FormatNcclConnected(double seconds) {
  return FormatSeconds(NcclEvent::kConnected, seconds);
}
std::string FormatAborted(double seconds) { return FormatSeconds(NcclEvent::kAborted, seconds); }

std::string FormatResult(const NcclResult& result) {
  Json json = MakeHead(NcclEvent::kResult);
  json["collective"] = ToString(result.collective);
  json["bytes"] = result.bytes;
  json["type"] = ToString(result.type);
  json["in_place"] = result.in_place;
  json["iterations"] = result.iterations;
  json["time_us"] = result.time_us;
  json["p50_us"] = result.p50_us;
  json["p95_us"] = result.p95_us;
  json["wall_us"] = result.wall_us;
  json["algbw"] = result.algbw;
  json["busbw"] = result.busbw;
  json["wrong"] = result.wrong;
  json["counters"] = result.counters;
  return ToLine(json);
}

std::string FormatLog(std::string_view text) {
  Json json = MakeHead(NcclEvent::kLog);
  json["text"] = text;
  return ToLine(json);
}

std::string FormatFailed(const NcclFailure& failure) {
  Json json = MakeHead(NcclEvent::kFailed);
  json["code"] = failure.code;
  json["phase"] = failure.phase;
  json["call"] = failure.call;
  json["result"] = failure.result;
  json["async"] = failure.async;
  json["last_error"] = failure.last_error;
  json["text"] = failure.text;
  json["hint"] = failure.hint;
  return ToLine(json);
}

std::string FormatNcclEnd(const Counters& counters) {
  Json json = MakeHead(NcclEvent::kEnd);
  json["counters"] = counters;
  return ToLine(json);
}

Result<NcclMessage> ParseNcclMessage(std::string_view line) {
  try {
    return ReadNccl(ParseLine(line));
  } catch (const std::exception& error) {
    return FailUnexpected("one of spark-verify's lines", line, error.what());
  }
}

std::string FormatIdOrder(std::string_view hex) {
  return ToLine({{"command", ToString(NcclCommand::kId)}, {"id", hex}});
}
std::string FormatGoOrder() { return FormatOrder(NcclCommand::kGo); }
std::string FormatAbortOrder() { return FormatOrder(NcclCommand::kAbort); }

Result<NcclOrder> ParseNcclOrder(std::string_view line) {
  try {
    const Json json = ParseLine(line);
    NcclOrder order{.command = Find(kCommands, json.at("command"), "command")};
    if (order.command == NcclCommand::kId) order.unique_id = json.at("id");
    return order;
  } catch (const std::exception& error) {
    return FailUnexpected("an order", line, error.what());
  }
}

}  // namespace reconciler::spark_verify
