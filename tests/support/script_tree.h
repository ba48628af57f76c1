#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/run_here.h"

namespace reconciler::test {

// A folder in which the scripts of probes find the files and the programs that they name, instead
// of this machine's.
class ScriptTree : public testing::Test {
 protected:
  ScriptTree() {
    std::string name = (std::filesystem::temp_directory_path() / "script_tree.XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~ScriptTree() override { std::filesystem::remove_all(root_); }

  // "/etc/x" → where the script finds it.
  std::filesystem::path Place(const std::string& path) const { return root_ + path; }

  void Put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(Place(path).parent_path());
    std::ofstream(Place(path), std::ios::binary) << content;
  }
  void PutFolder(const std::string& path) const {
    std::filesystem::create_directories(Place(path));
  }
  // `target` is a path of the tree.
  void PutLink(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories(Place(path).parent_path());
    std::filesystem::create_symlink(Place(target), Place(path));
  }
  // Stands before the machine's program of that name.
  void PutProgram(const std::string& name, const std::string& script) const {
    Put("/bin/" + name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(Place("/bin/" + name), std::filesystem::perms(0755));
  }

  // Runs {"sh", "-c", SCRIPT, …} with the tree's files; `before` is shell that comes first. Both
  // streams are in `out`, with paths as they are on a node and without NUL: "|" stands for it.
  CommandReply Run(std::vector<std::string> argv, const std::string& before = {}) const {
    static const std::regex kPath(
        R"((^|[\s"])/(boot|dev/infiniband|etc|opt|proc|root|run|sys|usr)\b)");
    argv.at(2) = "PATH=" + root_ + "/bin:$PATH\n" + before + "\n" +
                 std::regex_replace(argv.at(2), kPath, "$1" + root_ + "/$2");
    CommandReply reply = RunHere(argv);
    reply.exit_code = WIFEXITED(reply.exit_code) ? WEXITSTATUS(reply.exit_code) : 128;
    std::replace(reply.out.begin(), reply.out.end(), '\0', '|');
    for (std::size_t at = 0; (at = reply.out.find(root_, at)) != std::string::npos;) {
      reply.out.erase(at, root_.size());
    }
    return reply;
  }

 private:
  std::string root_;
};

}  // namespace reconciler::test
