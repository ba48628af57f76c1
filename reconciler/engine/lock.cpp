#include "reconciler/engine/lock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>

namespace reconciler {

std::string WhoAmI() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const char* user = std::getenv("USER");
  return fmt::format("{}@{} pid {}", user == nullptr ? "root" : user, host.data(), getpid());
}

std::string TimeNow() {
  return fmt::format("{:%FT%TZ}", std::chrono::time_point_cast<std::chrono::seconds>(
                                      std::chrono::system_clock::now()));
}

std::string LeaseText() { return WhoAmI() + " since " + TimeNow(); }

}  // namespace reconciler
