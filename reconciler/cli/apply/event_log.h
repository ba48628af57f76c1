#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "reconciler/base/result.h"
#include "reconciler/node/events.h"

namespace reconciler::cli {

// Where an apply's progress goes: a log line each on stderr, and one JSON object per line to a file
// when `--events FILE` is given ("-" is stdout). Every line has "time" (UTC, RFC 3339) and
// "event"; "node", "subject" and "detail" where they say something. Safe from several threads.
class EventLog {
 public:
  static Result<std::unique_ptr<EventLog>> Open(const std::string& events_file);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void Write(const Event& event);

 private:
  explicit EventLog(std::FILE* file) : file_(file) {}

  std::mutex mutex_;
  std::FILE* file_;  // null: no --events
};

}  // namespace reconciler::cli
