#include "tests/fakes/nccl_log.h"

#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <mutex>

#include "tests/fakes/settings.h"

namespace fakes {
namespace {

std::mutex mutex;
std::string last_message;

enum Level { kOff, kVersion, kWarn, kInfo };

Level DebugLevel() {
  const char* text = std::getenv("NCCL_DEBUG");
  if (text == nullptr) return kOff;
  if (strcasecmp(text, "INFO") == 0 || strcasecmp(text, "TRACE") == 0) return kInfo;
  if (strcasecmp(text, "WARN") == 0) return kWarn;
  return strcasecmp(text, "VERSION") == 0 ? kVersion : kOff;
}

bool Shown(const std::string& subsystem) {
  const char* list = std::getenv("NCCL_DEBUG_SUBSYS");
  if (list == nullptr) return subsystem == "INIT" || subsystem == "ENV" || subsystem == "BOOTSTRAP";
  return ("," + std::string(list) + ",").find("," + subsystem + ",") != std::string::npos;
}

std::string Prefix() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return std::string(host) + ":" + std::to_string(getpid()) + ":" +
         std::to_string(syscall(SYS_gettid)) + " [0] ";
}

std::FILE* Where() {
  static std::FILE* file = [] {
    const char* path = std::getenv("NCCL_DEBUG_FILE");
    std::FILE* opened = path != nullptr && *path != '\0' ? std::fopen(path, "w") : nullptr;
    return opened != nullptr ? opened : stdout;
  }();
  return file;
}

void Print(const std::string& line) {
  const std::lock_guard lock(mutex);
  std::fputs((line + "\n").c_str(), Where());
  std::fflush(Where());
}

}  // namespace

int NcclVersion() { return static_cast<int>(Number("FAKE_NCCL_VERSION", 22809)); }

std::string FormatNcclVersionNumber() {
  const int version = NcclVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

void Info(const std::string& subsystem, const std::string& text) {
  if (DebugLevel() == kInfo && Shown(subsystem)) Print(Prefix() + "NCCL INFO " + text);
}

// An empty line first; the time since 2.26.
void Warn(const std::string& place, const std::string& text) {
  {
    const std::lock_guard lock(mutex);
    last_message = text;
  }
  if (DebugLevel() < kWarn) return;
  char time[32] = {};
  const std::time_t now = std::time(nullptr);
  std::strftime(time, sizeof time, "[%Y-%m-%d %H:%M:%S] ", std::localtime(&now));
  Print("\n" + std::string(NcclVersion() >= 22600 ? time : "") + Prefix() + place + " NCCL WARN " +
        text);
}

void VersionLine() {
  if (DebugLevel() >= kVersion) Print("NCCL version " + FormatNcclVersionNumber() + "+cuda13.0");
}

std::string LastWarning() {
  const std::lock_guard lock(mutex);
  return last_message;
}

}  // namespace fakes
