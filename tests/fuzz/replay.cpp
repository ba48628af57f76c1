// Runs a target over files, so that a compiler without libFuzzer can: `replay FILE|FOLDER…`.
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

// Static: a signal's handler may use nothing else.
char g_input[4096] = {};

void NameInput(int number) {
  static_cast<void>(!write(STDERR_FILENO, g_input, std::strlen(g_input)));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

std::vector<fs::path> ListInputs(const fs::path& from) {
  if (!fs::is_directory(from)) return {from};
  std::vector<fs::path> inputs;
  for (const auto& entry : fs::directory_iterator(from)) inputs.push_back(entry.path());
  return inputs;
}

bool RunFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string name = "in " + path.string() + "\n";
  std::strncpy(g_input, name.c_str(), sizeof g_input - 1);
  if (!file) {
    std::cerr << "cannot be read: " << name;
    return false;
  }
  try {
    reconciler::fuzz::Run(bytes.str());
    return true;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << " " << name;
    return false;
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) std::signal(number, NameInput);
  std::size_t inputs = 0;
  bool good = true;
  for (int i = 1; i < count; ++i) {
    for (const fs::path& path : ListInputs(arguments[i])) {
      good &= RunFile(path);
      ++inputs;
    }
  }
  std::cout << inputs << " inputs\n";
  return good && inputs > 0 ? 0 : 1;  // no input: nothing was shown
}
