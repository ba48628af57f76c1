#pragma once

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "reconciler/transport/local_transport.h"
#include "tests/support/limits.h"

namespace reconciler {

// Runs the scripts for nodes in a real shell on this machine, with programs of the test's own in
// front of the system's.
class ShellNodes : public testing::Test {
 protected:
  ShellNodes() {
    char path[] = "/tmp/spark-verify-XXXXXX";
    directory_ = mkdtemp(path);
    std::filesystem::create_directory(directory_ + "/bin");
    std::filesystem::create_directory(directory_ + "/tmp");
    user_ = getpwuid(geteuid())->pw_name;
  }
  ~ShellNodes() override { std::filesystem::remove_all(directory_); }

  // $D is the test's directory in every fake program.
  void Program(const std::string& name, const std::string& body) {
    const std::string path = directory_ + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\nD='" << directory_ << "'\n" << body;
    chmod(path.c_str(), 0755);
  }

  std::string Get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ + "/" + name).rdbuf();
    return text.str();
  }

  // The script with the test's programs first in PATH; only them when `alone`.
  ScriptReply Run(std::string script, bool alone = false) const {
    const std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";
    const std::size_t at = script.find(path);
    EXPECT_NE(at, std::string::npos) << "the preamble sets another PATH";
    if (at == std::string::npos) return {};
    const std::string system = alone ? "" : ":" + path.substr(5, path.size() - 6);
    script.replace(at, path.size(),
                   "PATH=" + directory_ + "/bin" + system + "\nTMPDIR=" + directory_ +
                       "/tmp\nexport TMPDIR\n");
    NodeSpec node;
    node.access.become = Become::kNone;
    auto transport = DialLocal(node);
    EXPECT_TRUE(transport);
    auto reply = RunScript(**transport, script, test::ScaleLimit(std::chrono::seconds(60)));
    EXPECT_TRUE(reply) << FormatError(reply.error());
    return reply ? *reply : ScriptReply{};
  }

  std::string directory_;
  std::string user_;
};

}  // namespace reconciler
