#pragma once

#include <memory>
#include <mutex>
#include <ostream>
#include <string>

#include "reconciler/base/result.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/progress/events.h"

namespace reconciler::cli {

// The events of an apply as one JSON object per line, in the file of `--events` ("-" is stdout;
// empty: nowhere). Every line has "time" (UTC, RFC 3339) and
// "event"; "node", "subject" and "detail" where they say something. Safe from several threads.
class EventLog {
 public:
  static Result<std::unique_ptr<EventLog>> Open(const std::string& events_file);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Events that cannot be written to the file are left out: an apply does not end because of them.
  void Write(const Event& event);
  // Closes the file. An error: some events are missing in it. What is missing on stdout is said by
  // the program when it ends.
  Result<void> Close();

 private:
  // `fd` is owned; -1: none.
  EventLog(std::string name, int fd) : name_(std::move(name)), fd_(fd), file_(fd) {}

  std::mutex mutex_ = {};
  std::string name_;  // as the user gave it; empty: no --events
  int fd_;
  FileOutput file_;
};

}  // namespace reconciler::cli
