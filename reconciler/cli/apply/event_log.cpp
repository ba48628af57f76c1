#include "reconciler/cli/apply/event_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reconciler/base/json/json_reader.h"
#include "reconciler/cli/files.h"

namespace reconciler::cli {

Result<std::unique_ptr<EventLog>> EventLog::Open(const std::string& events_file) {
  int fd = -1;
  if (!events_file.empty() && events_file != "-") {
    fd = open(events_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return Fail(MakeWriteError(events_file, errno));
  }
  return std::unique_ptr<EventLog>(new EventLog(events_file, fd));
}

EventLog::~EventLog() { std::ignore = Close(); }

Result<void> EventLog::Close() {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return {};
  int failed = file_.Flush();
  if (close(fd_) != 0 && failed == 0) failed = errno;
  fd_ = -1;
  if (failed == 0) return {};
  Error error = MakeWriteError(name_, failed);
  error.hint = "events are missing there; the apply went on without them";
  return Fail(std::move(error));
}

void EventLog::Write(const Event& event) {
  const std::lock_guard lock(mutex_);
  const bool to_stdout = name_ == "-";
  if (!to_stdout && fd_ < 0) return;
  const auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  nlohmann::ordered_json line = {{"time", fmt::format("{:%FT%TZ}", now)},
                                 {"event", ToString(event.type)}};
  if (!event.node.empty()) line["node"] = EncodeText(event.node);
  if (!event.subject.empty()) line["subject"] = EncodeText(event.subject);
  if (!event.detail.empty()) line["detail"] = EncodeText(event.detail);
  std::ostream out(to_stdout ? std::cout.rdbuf() : &file_);
  out << line.dump() << '\n' << std::flush;
}

}  // namespace reconciler::cli
