#include <gtest/gtest.h>

#include "plugins/netplan/reads/rdma_users.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kNdev0 = "/sys/class/infiniband/rocep1s0f1/ports/1/gid_attrs/ndevs/0";

ProbeReply Reply(const std::string& json, int exit_code = 0) {
  ProbeReply reply;
  reply.values[std::string(kNdev0)] = std::string("enp1s0f1np1");
  reply.commands["netplan.rdma_users"] = {exit_code, json, "error: no such object\n"};
  return reply;
}

std::string Pair(const std::string& type, const std::string& program, int pid) {
  return R"({"ifindex":1,"ifname":"rocep1s0f1","port":1,"lqpn":17,"type":")" + type +
         R"(","state":"RTS","pid":)" + std::to_string(pid) + R"(,"comm":")" + program + "\"}";
}

std::string ListUsers(const ProbeReply& reply) {
  const Observed<std::vector<RdmaUser>> users = ParseRdmaUsers(reply);
  if (const auto* unknown = std::get_if<Unknown>(&users)) return "unknown: " + unknown->why;
  if (Known(users) == nullptr) return "absent";
  std::string text;
  for (const RdmaUser& user : *Known(users)) {
    text += user.hca + " " + user.netdev + " " + user.program + " " + std::to_string(user.pid);
  }
  return text;
}

TEST(RdmaUsers, AConnectionNamesItsProgramAndItsPort) {
  EXPECT_EQ(ListUsers(Reply("[" + Pair("RC", "ib_write_bw", 812) + "]")),
            "rocep1s0f1 enp1s0f1np1 ib_write_bw 812");
}

TEST(RdmaUsers, OtherFilesOfTheDeviceAreNotItsPort) {
  ProbeReply reply = Reply("[" + Pair("RC", "ib_write_bw", 812) + "]");
  reply.values["/sys/class/infiniband/rocep1s0f1/sys_image_guid"] = "5054:00ff:fe00:0104";
  reply.values["/sys/class/infiniband/rocep1s0f1/board_id"] = "";
  EXPECT_EQ(ListUsers(reply), "rocep1s0f1 enp1s0f1np1 ib_write_bw 812");
}

TEST(RdmaUsers, WhatTheKernelKeepsOnEveryPortIsNoUser) {
  EXPECT_EQ(ListUsers(Reply("[" + Pair("GSI", "ib_core", 0) + "," + Pair("SMI", "x", 0) + "]")),
            "absent");
}

TEST(RdmaUsers, ManyConnectionsOfOneProgramAreOneUser) {
  EXPECT_EQ(ListUsers(Reply("[" + Pair("RC", "python3", 7) + "," + Pair("RC", "python3", 7) + "]")),
            "rocep1s0f1 enp1s0f1np1 python3 7");
}

TEST(RdmaUsers, AProgramsNameCannotMakeWordsOfItsOwn) {
  EXPECT_EQ(ListUsers(Reply("[" + Pair("RC", "a b\\n", 7) + "]")), "rocep1s0f1 enp1s0f1np1 a_b_ 7");
}

TEST(RdmaUsers, WithoutDevicesThereIsNothingToEnd) {
  ProbeReply reply = Reply("", 127);
  reply.values.clear();
  EXPECT_EQ(ListUsers(reply), "absent");
}

TEST(RdmaUsers, DevicesWhoseUsersCannotBeReadAreUnknown) {
  EXPECT_EQ(ListUsers(Reply("", 127)), "unknown: rdma is not installed");
  EXPECT_EQ(ListUsers(Reply("", 124)), "unknown: rdma gave no answer in 5 s");
  EXPECT_EQ(ListUsers(Reply("{}", 1)), "unknown: rdma resource failed: error: no such object");
}

TEST(RdmaUsers, OnlyThePortsThatChangeCount) {
  NodeFacts facts;
  facts.rdma.users = std::vector<RdmaUser>{{"rocep1s0f1", "enp1s0f1np1", "ib_write_bw", 812},
                                           {"rocep1s0f0", "enp1s0f0np0", "other", 9},
                                           {"rocep9", "", "x", 3},
                                           {"rocep10", "", "", 0}};
  EXPECT_EQ(ListCutOff(facts, {{.netdev = "enp1s0f1np1", .hca = "rocep1s0f1"}}),
            "the RDMA connections of ib_write_bw (pid 812) on rocep1s0f1");
  EXPECT_EQ(ListCutOff(facts, {{.netdev = "eth9", .hca = "rocep9"}}),
            "the RDMA connections of x (pid 3) on rocep9");
  EXPECT_EQ(ListCutOff(facts, {{.netdev = "eth8", .hca = "rocep8"}}), "");
}

}  // namespace
}  // namespace reconciler::plugins::netplan
