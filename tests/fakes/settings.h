#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

// The settings of a fake: by the environment, or by lines NAME=VALUE of /etc/fake-gpu.conf (another
// path in FAKE_GPU_CONF), which a lab node has and a test on one machine does not.
namespace fakes {

inline std::string Setting(const std::string& name, const std::string& otherwise = "") {
  if (const char* value = std::getenv(name.c_str())) return value;
  const char* path = std::getenv("FAKE_GPU_CONF");
  std::ifstream file(path != nullptr ? path : "/etc/fake-gpu.conf");
  std::string found = otherwise;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 1, name + "=") == 0) found = line.substr(name.size() + 1);
  }
  return found;
}

inline double Number(const std::string& name, double otherwise) {
  const std::string text = Setting(name);
  return text.empty() ? otherwise : std::strtod(text.c_str(), nullptr);
}

}  // namespace fakes
