#include "reconciler/cli/apply/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reconciler/base/json/json_reader.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/files.h"

namespace reconciler::cli {

Result<std::unique_ptr<EventLog>> EventLog::Open(const std::string& events_file) {
  if (events_file.empty()) return std::unique_ptr<EventLog>(new EventLog("", -1));
  const bool to_stdout = events_file == "-";
  const std::string name = to_stdout ? "stdout" : events_file;
  const int fd = to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                           : open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Fail(MakeWriteError(name, errno));
  if ((fcntl(fd, F_GETFL) & O_PATH) != 0) {  // stdout was closed: see main()
    close(fd);
    return Fail(MakeWriteError(name, EBADF));
  }
  std::unique_ptr<EventLog> log(new EventLog(name, fd));
  log->PrepareEnd();
  return log;
}

EventLog::~EventLog() {
  if (DropPreparedEnd()) {
    std::ignore = Close();
  } else {
    LeaveToInterrupt();
  }
}

Result<void> EventLog::Close() {
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
  if (apply_id_ != event.apply_id) {
    apply_id_ = event.apply_id;
    PrepareEnd();
  }
  nlohmann::ordered_json fields = {{"event", ToString(event.type)}};
  if (!event.node.empty()) fields["node"] = EncodeText(event.node);
  if (!event.plugin.empty()) fields["plugin"] = event.plugin;
  if (!event.kind.empty()) {
    fields["resource"] = {{"kind", event.kind}, {"name", EncodeText(event.name)}};
  }
  if (!event.plugins.empty()) fields["plugins"] = event.plugins;
  if (!event.subject.empty()) fields["subject"] = EncodeText(event.subject);
  if (!event.detail.empty()) fields["detail"] = EncodeText(event.detail);
  WriteLine(fields);
}

Result<void> EventLog::End(int exit_code) {
  const std::lock_guard lock(mutex_);
  if (!DropPreparedEnd()) {
    LeaveToInterrupt();
    return {};
  }
  WriteLine({{"event", "ended"}, {"exit_code", exit_code}});
  return Close();
}

// Its handler may still read the line and write to the file, and then ends the program.
void EventLog::LeaveToInterrupt() {
  for (auto& line : prepared_) std::ignore = line.release();
  prepared_.clear();
  fd_ = -1;
}

void EventLog::PrepareEnd() {
  if (fd_ < 0) return;
  nlohmann::ordered_json line = MakeLine({{"event", "ended"}, {"exit_code", 0}});
  line["time"] = "";
  const std::string text = line.dump();
  constexpr std::string_view kTime = "\"time\":\"";
  constexpr std::string_view kCode = "0}";
  const std::size_t time = text.find(kTime) + kTime.size();
  const std::size_t code = text.size() - kCode.size();
  auto ended = std::make_unique<EndedLine>(
      EndedLine{fd_, text.substr(0, time), text.substr(time, code - time), "}\n"});
  const EndedLine* before = prepared_.empty() ? nullptr : prepared_.back().get();
  if (SetEndedLine(before, ended.get())) prepared_.push_back(std::move(ended));
}

bool EventLog::DropPreparedEnd() {
  if (prepared_.empty()) return true;
  if (!SetEndedLine(prepared_.back().get(), nullptr)) return false;
  prepared_.clear();
  return true;
}

nlohmann::ordered_json EventLog::MakeLine(const nlohmann::ordered_json& fields) const {
  nlohmann::ordered_json line = BeginLine("spark-reconcile/event/1");
  if (!apply_id_.empty()) line["apply"] = apply_id_;
  line.update(fields);
  return line;
}

void EventLog::WriteLine(const nlohmann::ordered_json& fields) {
  if (fd_ < 0) return;
  std::ostream out(&file_);
  out << MakeLine(fields).dump() << '\n' << std::flush;
}

}  // namespace reconciler::cli
