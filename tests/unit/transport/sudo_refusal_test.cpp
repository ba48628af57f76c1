#include <gtest/gtest.h>

#include "reconciler/transport/transport.h"

namespace reconciler {
namespace {

NodeSpec Node() {
  NodeSpec node{.name = "spark-2"};
  node.access.user = "nvidia";
  return node;
}

std::string Refusal(const NodeSpec& node, int exit_code, const std::string& err) {
  const auto error = FindSudoRefusal(node, {.exit_code = exit_code, .err = err});
  return error ? FormatError(*error) : "";
}

constexpr const char* kPassword =
    "spark-2: sudo wants a password for user 'nvidia'\n"
    "  hint: give --prompt-sudo-password, or put 'nvidia ALL=(ALL) NOPASSWD: ALL' into "
    "/etc/sudoers.d/spark-reconcile on spark-2 (with visudo -f)\n";
constexpr const char* kNotAllowed =
    "spark-2: sudo is not allowed for user 'nvidia'\n"
    "  hint: put 'nvidia ALL=(ALL) NOPASSWD: ALL' into /etc/sudoers.d/spark-reconcile on spark-2 "
    "(with visudo -f)\n";
constexpr const char* kNotInstalled =
    "spark-2: no sudo is installed for user 'nvidia'\n"
    "  hint: install sudo there, or log in as root with `become: none` in `access`\n";

TEST(FindSudoRefusal, PasswordIsNamedWithItsRemedy) {
  EXPECT_EQ(Refusal(Node(), 1, "sudo: a password is required\n"), kPassword);
  EXPECT_EQ(Refusal(Node(), 1, "sudo: interactive authentication is required\n"), kPassword);
  EXPECT_EQ(Refusal(Node(), 1,
                    "sudo: a terminal is required to read the password; either use the -S option "
                    "to read from standard input or configure an askpass helper\n"),
            kPassword);
}

TEST(FindSudoRefusal, MissingRightIsNamedWithItsRemedy) {
  EXPECT_EQ(Refusal(Node(), 1, "nvidia is not in the sudoers file.\n"), kNotAllowed);
  EXPECT_EQ(Refusal(Node(), 1,
                    "Sorry, user nvidia is not allowed to execute '/usr/bin/sh -s --' as root on "
                    "spark-2.\n"),
            kNotAllowed);
}

TEST(FindSudoRefusal, MissingSudoIsNamedWithItsRemedy) {
  EXPECT_EQ(Refusal(Node(), 127, "bash: line 1: sudo: command not found\n"), kNotInstalled);
  EXPECT_EQ(Refusal(Node(), 127, "sh: 1: exec: sudo: not found\n"), kNotInstalled);
  EXPECT_EQ(Refusal(Node(), 127, "env: 'sudo': No such file or directory\n"), kNotInstalled);
}

TEST(FindSudoRefusal, RequiredTerminalIsNamedWithItsRemedy) {
  EXPECT_EQ(Refusal(Node(), 1, "sudo: sorry, you must have a tty to run sudo\n"),
            "spark-2: sudo wants a terminal for user 'nvidia'\n"
            "  hint: remove 'Defaults requiretty' from the sudoers of spark-2\n");
}

TEST(FindSudoRefusal, UnknownUserIsAPlaceholder) {
  NodeSpec node = Node();
  node.access.user.clear();
  EXPECT_EQ(Refusal(node, 1, "sudo: a password is required\n"),
            "spark-2: sudo wants a password for the login user\n"
            "  hint: give --prompt-sudo-password, or put 'USER ALL=(ALL) NOPASSWD: ALL' into "
            "/etc/sudoers.d/spark-reconcile on spark-2 (with visudo -f)\n");
}

TEST(FindSudoRefusal, WrongPasswordIsNamed) {
  EXPECT_EQ(Refusal(Node(), 1,
                    "Sorry, try again.\nsudo: no password was provided\n"
                    "sudo: 1 incorrect password attempt\n"),
            "spark-2: sudo refused the password for user 'nvidia'\n"
            "  hint: type it with care; one password is used on all nodes\n");
}

TEST(FindSudoRefusal, WhatStartupFilesPrintedDoesNotHideIt) {
  const auto refusal = FindSudoRefusal(
      Node(), {.exit_code = 1, .out = "hello\n", .err = "sudo: a password is required\n"});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(FormatError(*refusal), kPassword);
}

TEST(FindSudoRefusal, AnythingElseIsTheScriptsOwnAnswer) {
  EXPECT_EQ(Refusal(Node(), 1, "sudo: unable to resolve host spark-2\n"), "");
  EXPECT_EQ(Refusal(Node(), 0, "sudo: a password is required\n"), "");
  EXPECT_EQ(Refusal(Node(), 127, "sh: 3: netplan: not found\n"), "");
  NodeSpec none = Node();
  none.access.become = Become::kNone;
  EXPECT_EQ(Refusal(none, 1, "sudo: a password is required\n"), "");
}

}  // namespace
}  // namespace reconciler
