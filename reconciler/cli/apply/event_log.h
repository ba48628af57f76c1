#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/cli/apply/interrupt.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/progress/events.h"

namespace reconciler::cli {

// The events of an apply as one JSON object per line, by schema/event.schema.json, in the file of
// `--events` ("-" is stdout; empty: nowhere). Safe from several threads.
class EventLog {
 public:
  static Result<std::unique_ptr<EventLog>> Open(const std::string& events_file);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Events that cannot be written are left out: an apply does not end because of them.
  void Write(const Event& event);
  // Writes the last event, with the exit code, and closes the file. An error: some events are
  // missing in it. An interrupt that ends the program before writes that event too.
  Result<void> End(int exit_code);

 private:
  // `fd` is owned; -1: none.
  EventLog(std::string name, int fd) : name_(std::move(name)), fd_(fd), file_(fd) {}

  nlohmann::ordered_json MakeLine(const nlohmann::ordered_json& fields) const;
  void WriteLine(const nlohmann::ordered_json& fields);
  // What an interrupt writes: it has the id, so that a new id wants a new one.
  void PrepareEnd();
  // False: an interrupt writes the last event.
  bool DropPreparedEnd();
  void LeaveToInterrupt();
  Result<void> Close();

  std::mutex mutex_ = {};
  std::string name_;
  int fd_;
  FileOutput file_;
  std::string apply_id_ = {};  // of the last event; empty: there was none
  std::vector<std::unique_ptr<EndedLine>> prepared_ = {};  // the last one is in use
};

}  // namespace reconciler::cli
