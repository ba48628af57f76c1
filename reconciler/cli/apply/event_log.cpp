#include "reconciler/cli/apply/event_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/text.h"

namespace reconciler::cli {
namespace {

bool IsFailure(EventType type) {
  switch (type) {
    case EventType::kChangeFailed:
    case EventType::kChangeUnknown:
    case EventType::kTriggerFailed:
    case EventType::kReverting:
      return true;
    case EventType::kStageStarted:
    case EventType::kChangeDone:
    case EventType::kTriggerDone:
    case EventType::kArmed:
    case EventType::kReady:
    case EventType::kPass:
    case EventType::kConverged:
    case EventType::kReverted:
      return false;
  }
  return false;
}

std::string FormatSentence(const Event& event) {
  std::string text = event.node.empty() ? "" : MakePrintable(event.node) + ": ";
  text += ToString(event.type);
  if (!event.subject.empty()) text += " " + MakePrintable(event.subject);
  if (!event.detail.empty()) text += ": " + MakePrintable(event.detail);
  return text;
}

}  // namespace

Result<std::unique_ptr<EventLog>> EventLog::Open(const std::string& events_file) {
  if (spdlog::get("spark-reconcile") == nullptr) {
    auto logger = spdlog::stderr_color_mt("spark-reconcile");
    logger->set_pattern("%^%H:%M:%S %v%$");
    spdlog::set_default_logger(std::move(logger));
  }
  if (events_file.empty()) return std::unique_ptr<EventLog>(new EventLog(nullptr));
  if (events_file == "-") return std::unique_ptr<EventLog>(new EventLog(stdout));
  std::FILE* file = std::fopen(events_file.c_str(), "we");
  if (file == nullptr) {
    return Fail(
        {.kind = ErrorKind::kUsage,
         .message = fmt::format("{}: cannot be written: {}", events_file, std::strerror(errno))});
  }
  return std::unique_ptr<EventLog>(new EventLog(file));
}

EventLog::~EventLog() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

void EventLog::Write(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (IsFailure(event.type)) {
    spdlog::error("{}", FormatSentence(event));
  } else {
    spdlog::info("{}", FormatSentence(event));
  }
  if (file_ == nullptr) return;
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  nlohmann::ordered_json line = {{"time", fmt::format("{:%FT%TZ}", now)},
                                 {"event", ToString(event.type)}};
  if (!event.node.empty()) line["node"] = EncodeText(event.node);
  if (!event.subject.empty()) line["subject"] = EncodeText(event.subject);
  if (!event.detail.empty()) line["detail"] = EncodeText(event.detail);
  fmt::print(file_, "{}\n", line.dump());
  std::fflush(file_);
}

}  // namespace reconciler::cli
