#pragma once

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/node_helper.h"
#include "reconciler/transport/local_transport.h"
#include "tests/support/limits.h"

namespace reconciler {

// A temporary directory and a real shell on this machine.
class ShellTest : public testing::Test {
 protected:
  ShellTest() {
    char path[] = "/tmp/spark-shell-XXXXXX";
    directory_ = mkdtemp(path);
    user_ = getpwuid(geteuid())->pw_name;
    node_.name = "here";
    node_.access.transport = TransportKind::kLocal;
    node_.access.become = Become::kNone;
  }
  ~ShellTest() override { RemoveDirectory(); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  void Put(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << content;
  }

  static std::string Get(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  ScriptReply Run(const std::string& script) {
    auto transport = DialLocal(node_);
    EXPECT_TRUE(transport);
    auto reply = RunScript(**transport, script, test::ScaleLimit(std::chrono::seconds(20)));
    EXPECT_TRUE(reply) << FormatError(reply.error());
    return reply ? *reply : ScriptReply{};
  }

  // The same behind BuildNodeHelper, as a session runs it. Nothing of the test goes to the log, and
  // tests that run at the same time hold their files apart: the folder of held files is removed
  // with the last of them.
  ScriptReply RunRequest(const std::string& request, const std::string& nonce) {
    return Run(BuildScriptPreamble(nonce) + BuildNodeHelper() + "note() { :; }\nHOLD=/run" +
               directory_.substr(directory_.rfind('/')) +
               "/held\nD=" + QuoteForShell(Path("state")) + "\n(\n" + request + "\n)\n");
  }

  // A process that a test has ended may write its last file meanwhile.
  void RemoveDirectory() {
    const auto deadline =
        std::chrono::steady_clock::now() + test::ScaleLimit(std::chrono::seconds(5));
    std::error_code error;
    do {
      std::filesystem::remove_all(directory_, error);
    } while (error && std::chrono::steady_clock::now() < deadline);
    EXPECT_FALSE(error) << directory_ << ": " << error.message();
  }

  std::string directory_;
  std::string user_;
  NodeSpec node_;
};

}  // namespace reconciler
